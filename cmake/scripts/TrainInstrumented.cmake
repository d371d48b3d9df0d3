# Run (cmake -P) by frontload-train-<target> for targets with INSTRUMENT: configures the second
# build folder, and has the training target built there.
#
#   SOURCE, FOLDER, GENERATOR  of the second tree; FOLDER has frontload-cache.cmake
#   TARGET, CONFIG             what to build
cmake_minimum_required(VERSION 3.25)

# Several targets may train at once, and a build folder bears only one build.
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
