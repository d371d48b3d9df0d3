# The target frontload-train runs this (cmake -P) if there is nothing to train.
#
#   MODE    the mode of the build folder
#   FOLDER  the build folder
cmake_minimum_required(VERSION 3.25)
if(MODE STREQUAL "record")
  message(FATAL_ERROR "frontload-train: error: no target of this project says how to train it\n"
    "  frontload-train: note: add TRAIN COMMAND <command> to a call of frontload_target")
endif()
message(FATAL_ERROR "frontload-train: error: FRONTLOAD is \"${MODE}\" in this build folder, but "
  "training needs the mode \"record\"\n"
  "  frontload-train: note: cmake -DFRONTLOAD=record \"${FOLDER}\", then build frontload-train "
  "again")
