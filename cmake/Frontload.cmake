# Common to find_package(Frontload) and add_subdirectory(frontload): the cache variable FRONTLOAD,
# and the command frontload_target.
#
# Before including this file, set these global properties to the parts of Frontload:
#   FRONTLOAD_BIN_DIR           the folder of ld.frontload and frontload
#   FRONTLOAD_GCC_DIR           the folder in which gcc finds ld.frontload under the name ld.lld
#   FRONTLOAD_PREFETCH_LIBRARY  libfrontload-prefetch.so.1
#   FRONTLOAD_RT_LIBRARY        libfrontload-rt.so
#   FRONTLOAD_PROCESSOR         the processor that the libraries are for
#   FRONTLOAD_BUILT_HERE        targets that must be built before any of them is used, if any
#
# FRONTLOAD is what this build folder does with startup profiles:
#   off     programs are built as if frontload_target had not been called
#   record  programs are linked so that they can be recorded, and frontload-train records them
#   use     programs are linked with the startup profiles that are in the source tree
#
# Compile options are the same in record and use, so one folder can switch between them, and only
# links again. PGO, BLOCKS and INSTRUMENT take other options in each mode, and compile again.
include_guard(GLOBAL)

# A project may ask for the policies of a very old CMake. Our functions use those of this version.
cmake_policy(VERSION 3.25)

# Stops the configuration: reports what is wrong with a call or a setting, and the remedy.
function(_frontload_fail problem remedy)
  message(FATAL_ERROR "${problem}\n  ${remedy}")
endfunction()

set(FRONTLOAD use CACHE STRING "What to do with startup profiles: off, record (train) or use")
set_property(CACHE FRONTLOAD PROPERTY STRINGS off record use)
if(NOT FRONTLOAD MATCHES "^(off|record|use)$")
  _frontload_fail("FRONTLOAD is \"${FRONTLOAD}\", which is not a mode."
    "Configure with -DFRONTLOAD=off, -DFRONTLOAD=record or -DFRONTLOAD=use.")
elseif(FRONTLOAD STREQUAL "record" AND CMAKE_CROSSCOMPILING)
  _frontload_fail("FRONTLOAD is \"record\" in a cross build, whose programs do not run here."
    "Train in a native build, and link with its profile here: -DFRONTLOAD=use.")
endif()

foreach(part IN ITEMS Arguments Link Sections Prefetch Training PGO Blocks Target)
  include("${CMAKE_CURRENT_LIST_DIR}/Frontload${part}.cmake")
endforeach()
