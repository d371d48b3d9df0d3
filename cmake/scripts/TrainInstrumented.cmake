# frontload-train-<target> runs this (cmake -P) for targets with INSTRUMENT: it configures the
# second build folder, and builds the training target there.
#
#   SOURCE, FOLDER, GENERATOR  of the second tree; FOLDER has frontload-cache.cmake
#   TARGET, CONFIG             the target to build
cmake_minimum_required(VERSION 3.25)

# Several targets may train at once, but a build folder allows only one build at a time.
file(LOCK "${FOLDER}/frontload.lock" GUARD PROCESS RESULT_VARIABLE problem)
if(NOT problem STREQUAL "0")
  message(FATAL_ERROR "frontload-train: error: ${FOLDER}: cannot be locked: ${problem}")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${FOLDER}" -G "${GENERATOR}"
    -C "${FOLDER}/frontload-cache.cmake"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}" --config "${CONFIG}" --target "${TARGET}"
  COMMAND_ERROR_IS_FATAL ANY)
