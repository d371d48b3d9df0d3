# Run (cmake -P) at the end of a training: brings the new profile to the source tree if
# it differs from the old one, by writing a file beside it and renaming that.
#
#   TRAINED  the new profile, in the build tree, where it stays
#   PROFILE  its place in the source tree
#   TARGET   the target, for messages
#   OPTION   what of frontload_target names the place (default: PROFILE <file>)
cmake_minimum_required(VERSION 3.25)

if(NOT OPTION)
  set(OPTION "PROFILE <file>")
endif()
if(EXISTS "${PROFILE}")
  file(REAL_PATH "${PROFILE}" PROFILE)  # a link stays one
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${TRAINED}" "${PROFILE}"
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(NOT differs)
    message(STATUS "frontload-train: ${PROFILE} is unchanged")
    return()
  endif()
endif()

cmake_path(GET PROFILE PARENT_PATH folder)
execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}" OUTPUT_QUIET ERROR_QUIET)
string(RANDOM LENGTH 8 suffix)
set(beside "${PROFILE}.${suffix}")
file(COPY_FILE "${TRAINED}" "${beside}" RESULT problem)
if(problem STREQUAL "0")
  file(RENAME "${beside}" "${PROFILE}" RESULT problem)
endif()
if(NOT problem STREQUAL "0")
  file(REMOVE "${beside}")
  message(FATAL_ERROR "frontload-train: error: ${PROFILE}: cannot be written: ${problem}\n"
    "  frontload-train: note: the new profile is ${TRAINED}\n"
    "  frontload-train: note: copy it there by hand, or name another place: "
    "frontload_target(${TARGET} ${OPTION})")
endif()
message(STATUS "frontload-train: wrote ${PROFILE}")
