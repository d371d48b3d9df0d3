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

# Renames a file that was copied beside its place, or stops; `problem` is the copy's error, if any.
function(keep copy place)
  if(NOT problem)
    file(RENAME "${copy}" "${place}" RESULT problem)
  endif()
  if(problem)
    file(REMOVE "${copy}")
    fail("${PROFILE}: cannot be written: ${problem}"
      "name another place: frontload_target(${TARGET} PGO PGO_PROFILE <path>)")
  endif()
endfunction()

set(nothing "the program has not counted anything")
set(why "it writes its counts when it ends by itself, not by _exit, by exec, or by a signal")
set(new "${COUNTS}/merged")
string(RANDOM LENGTH 8 suffix)
if(EXISTS "${PROFILE}")
  file(REAL_PATH "${PROFILE}" PROFILE)  # a link stays one
endif()
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
    fail("${TOOL}: ${message}" "is it from the clang that compiles? see FRONTLOAD_LLVM_PROFDATA")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${new}" "${PROFILE}"
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(differs)
    file(COPY_FILE "${new}" "${PROFILE}.${suffix}" RESULT problem)
  endif()
else()
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
endif()

if(NOT differs)
  message(STATUS "frontload-train: ${PROFILE} is unchanged")
  return()
endif()
if(KIND STREQUAL "clang")
  keep("${PROFILE}.${suffix}" "${PROFILE}")
else()
  # One by one, so that there is a profile at any time. Their list comes last: if a training is
  # interrupted before that, the next one does this again.
  file(MAKE_DIRECTORY "${PROFILE}")
  file(GLOB old RELATIVE "${PROFILE}" "${PROFILE}/*.gcda")
  foreach(name IN LISTS names ITEMS contents)
    file(COPY_FILE "${new}/${name}" "${PROFILE}/${name}.${suffix}" RESULT problem)
    keep("${PROFILE}/${name}.${suffix}" "${PROFILE}/${name}")
  endforeach()
  list(REMOVE_ITEM old ${names})
  foreach(name IN LISTS old)
    file(REMOVE "${PROFILE}/${name}")
  endforeach()
endif()
message(STATUS "frontload-train: wrote ${PROFILE}")
