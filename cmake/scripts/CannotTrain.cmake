# The targets frontload-train and frontload-renew run this (cmake -P) if there is nothing to record.
#
#   VERB    train or renew
#   MODE    the mode of the build folder, and the one that is NEEDED
#   FOLDER  the build folder
cmake_minimum_required(VERSION 3.25)
if(MODE STREQUAL NEEDED)
  message(FATAL_ERROR "frontload-${VERB}: error: no target of this project says how to train it\n"
    "  frontload-${VERB}: note: add TRAIN COMMAND <command> to a call of frontload_target")
endif()
message(FATAL_ERROR "frontload-${VERB}: error: FRONTLOAD is \"${MODE}\" in this build folder, but "
  "it needs the mode \"${NEEDED}\"\n"
  "  frontload-${VERB}: note: cmake -DFRONTLOAD=${NEEDED} \"${FOLDER}\", then build "
  "frontload-${VERB} again")
