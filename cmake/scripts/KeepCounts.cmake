# Run (cmake -P) at the end of a training with PGO: brings what the instrumented program has counted to
# the source tree, in the form that the compiler takes, and only if it is not there already.
#
#   KIND     clang: COUNTS has .profraw files, which llvm-profdata (TOOL) merges into the file PROFILE
#            gcc: COUNTS has a .gcda file for each object, below the path of the object's folder.
#            PROFILE becomes a folder with these, named as -fprofile-use looks for them, and a file
#            `contents` with their hashes, which changes if any of them does
#   FOLDER   the build folder
#   TARGET   the target, for messages
cmake_minimum_required(VERSION 3.25)

function(fail what)
  message(FATAL_ERROR "frontload-train: error: ${TARGET}: ${what}\n  frontload-train: note: ${ARGV1}")
endfunction()

set(nothing "the program has not counted anything")
set(why "it counts when it ends by itself: not by _exit, by exec, or by a signal")
set(new "${COUNTS}/merged")
string(RANDOM LENGTH 8 suffix)
cmake_path(GET PROFILE PARENT_PATH parent)
file(MAKE_DIRECTORY "${parent}")

if(KIND STREQUAL "clang")
  file(GLOB raw "${COUNTS}/*.profraw")
  if(NOT raw)
    fail("${nothing}" "${why}")
  endif()
  list(JOIN raw "\n" list)
  file(WRITE "${COUNTS}/list" "${list}\n")
  execute_process(COMMAND "${TOOL}" merge --input-files "${COUNTS}/list" -o "${new}"
    RESULT_VARIABLE problem ERROR_VARIABLE message)
  if(problem)
    fail("${TOOL}: ${message}" "is it of the clang that compiles? see FRONTLOAD_LLVM_PROFDATA")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${new}" "${PROFILE}"
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(differs)
    file(COPY_FILE "${new}" "${PROFILE}.${suffix}" RESULT problem)
  endif()
else()
  set(below "${COUNTS}${FOLDER}")
  file(GLOB_RECURSE found RELATIVE "${below}" "${below}/*.gcda")
  if(NOT found)
    fail("${nothing}" "${why}")
  endif()
  list(SORT found)
  set(contents "")
  file(MAKE_DIRECTORY "${new}")
  foreach(name IN LISTS found)
    string(REPLACE "/" "#" flat "${name}")
    file(COPY_FILE "${below}/${name}" "${new}/${flat}")
    file(SHA256 "${new}/${flat}" hash)
    string(APPEND contents "${hash}  ${flat}\n")
  endforeach()
  file(WRITE "${new}/contents" "${contents}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${new}/contents" "${PROFILE}/contents"
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(differs)
    if(EXISTS "${PROFILE}" AND NOT EXISTS "${PROFILE}/contents")
      fail("${PROFILE}: is there, and no PGO profile of frontload-train's" "move it away, or name \
another place: frontload_target(${TARGET} PGO PGO_PROFILE <folder>)")
    endif()
    file(COPY "${new}/" DESTINATION "${PROFILE}.${suffix}")
    # A folder is not renamed over another.
    file(REMOVE_RECURSE "${PROFILE}")
  endif()
endif()

if(NOT differs)
  message(STATUS "frontload-train: ${PROFILE} is as it was")
  return()
endif()
file(RENAME "${PROFILE}.${suffix}" "${PROFILE}" RESULT problem)
if(NOT problem STREQUAL "0")
  file(REMOVE_RECURSE "${PROFILE}.${suffix}")
  fail("${PROFILE}: cannot be written: ${problem}"
    "name another place: frontload_target(${TARGET} PGO PGO_PROFILE <path>)")
endif()
message(STATUS "frontload-train: wrote ${PROFILE}")
