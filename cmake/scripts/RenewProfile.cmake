# Run (cmake -P) at the end of a renewal: keeps the old profile as long as it is right, and
# otherwise brings a renewed one to the source tree. A profile is right if enough of its names are
# in the program, and if today's starts touch hardly anything outside the front that it has made.
#
#   TRAINED     the profile of today's runs alone
#   PROFILE     the profile in the source tree; it need not be there
#   PROGRAM     the program linked with it
#   MIN_MATCH   the percentage of its names that is enough, or empty
#   COVERAGE    the percentage of touches that has to lie in the front
#   GENERATION  the label of today's runs: the renewed profile then also has older runs
#   ASIDE       write PROFILE.new in place of PROFILE, and fail
#   FRONTLOAD   the command
#   TARGET      the target, for messages
cmake_minimum_required(VERSION 3.25)
set(TOOL frontload-renew)

# Sets `verdict` to whether the program has what a profile needs; stops if that is unknown.
function(ask verdict profile)
  execute_process(COMMAND "${FRONTLOAD}" check "${PROGRAM}" --profile "${profile}" ${ARGN}
    RESULT_VARIABLE status)
  if(status STREQUAL "0")
    set(${verdict} ON PARENT_SCOPE)
  elseif(status STREQUAL "1")
    set(${verdict} OFF PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${TOOL}: error: ${TARGET}: frontload check ended with status ${status}")
  endif()
endfunction()

set(renewed "${TRAINED}")
set(aside "${PROFILE}.new")
if(EXISTS "${PROFILE}")
  if(MIN_MATCH STREQUAL "")
    set(MIN_MATCH 80)
  endif()
  ask(is_found "${PROFILE}" --min-match "${MIN_MATCH}" --min-coverage 0)
  ask(is_covered "${TRAINED}" --min-match 0 --min-coverage "${COVERAGE}")
  if(is_found AND is_covered)
    if(ASIDE)
      file(REMOVE "${aside}")
    endif()
    message(STATUS "${TOOL}: ${PROFILE} is still right")
    return()
  endif()
  if(NOT GENERATION STREQUAL "")
    string(REGEX REPLACE "\\.startup$" ".renewed.startup" renewed "${TRAINED}")
    execute_process(COMMAND "${FRONTLOAD}" profile "${PROFILE}" "${TRAINED}" -o "${renewed}"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()

set(TRAINED "${renewed}")
if(ASIDE)
  set(old "${PROFILE}")
  set(PROFILE "${aside}")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/KeepProfile.cmake")
if(ASIDE)
  set(problem "is old")
  if(NOT EXISTS "${old}")
    set(problem "is not there yet")
  endif()
  message(FATAL_ERROR "${TOOL}: error: ${old}: ${problem}\n"
    "  ${TOOL}: note: look at ${aside}, move it to ${old}, and build again")
endif()
