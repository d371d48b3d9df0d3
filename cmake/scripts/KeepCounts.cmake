# Run (cmake -P) at the end of a training with PGO: brings the counts of the instrumented program to
# the source tree, in the form that the compiler takes, unless they are there already.
#
#   KIND     clang: COUNTS has .profraw files, which llvm-profdata (TOOL) merges into the file PROFILE
#            gcc: COUNTS has a .gcda file for each object, below the path of the object's folder.
#            The folder PROFILE gets these, named as -fprofile-use looks for them, in place of its
#            .gcda files, and a file `contents` with their hashes, which changes if any of them does
#   FOLDER   the build folder
#   TARGET   the target, for messages
cmake_minimum_required(VERSION 3.25)

function(fail what)
  message(FATAL_ERROR "frontload-train: error: ${TARGET}: ${what}\n  frontload-train: note: ${ARGV1}")
endfunction()

set(nothing "the program has not counted anything")
set(why "it writes its counts when it ends by itself, not by _exit, by exec, or by a signal")
set(new "${COUNTS}/merged")
set(OPTION "PGO PGO_PROFILE <path>")
if(EXISTS "${PROFILE}")
  file(REAL_PATH "${PROFILE}" PROFILE)  # a link stays one
endif()

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
    fail("${TOOL}: ${message}" "is it from the clang that compiles? see FRONTLOAD_LLVM_PROFDATA")
  endif()
  set(TRAINED "${new}")
  include("${CMAKE_CURRENT_LIST_DIR}/KeepProfile.cmake")
  return()
endif()

# gcc names the folder as $PWD does, or by its real path.
set(below "${COUNTS}${FOLDER}")
file(GLOB_RECURSE found RELATIVE "${below}" "${below}/*.gcda")
if(NOT found)
  file(REAL_PATH "${FOLDER}" real)
  set(below "${COUNTS}${real}")
  file(GLOB_RECURSE found RELATIVE "${below}" "${below}/*.gcda")
endif()
if(NOT found)
  fail("${nothing}: there is no .gcda file below ${below}" "${why}")
endif()
list(SORT found)
set(contents "")
file(MAKE_DIRECTORY "${new}")
set(names "")
foreach(name IN LISTS found)
  string(REPLACE "/" "#" flat "${name}")
  list(APPEND names "${flat}")
  file(COPY_FILE "${below}/${name}" "${new}/${flat}")
  file(SHA256 "${new}/${flat}" hash)
  string(APPEND contents "${hash}  ${flat}\n")
endforeach()
file(WRITE "${new}/contents" "${contents}")
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${new}/contents" "${PROFILE}/contents"
  RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)

if(NOT differs)
  message(STATUS "frontload-train: ${PROFILE} is unchanged")
  return()
endif()
# One by one, so that there is a profile at any time. Their list comes last: if a training is
# interrupted before that, the next one does this again.
string(RANDOM LENGTH 8 suffix)
file(MAKE_DIRECTORY "${PROFILE}")
file(GLOB old RELATIVE "${PROFILE}" "${PROFILE}/*.gcda")
foreach(name IN LISTS names ITEMS contents)
  set(copy "${PROFILE}/${name}.${suffix}")
  file(COPY_FILE "${new}/${name}" "${copy}" RESULT problem)
  if(NOT problem)
    file(RENAME "${copy}" "${PROFILE}/${name}" RESULT problem)
  endif()
  if(problem)
    file(REMOVE "${copy}")
    fail("${PROFILE}: cannot be written: ${problem}"
      "name another place: frontload_target(${TARGET} ${OPTION})")
  endif()
endforeach()
list(REMOVE_ITEM old ${names})
foreach(name IN LISTS old)
  file(REMOVE "${PROFILE}/${name}")
endforeach()
message(STATUS "frontload-train: wrote ${PROFILE}")
