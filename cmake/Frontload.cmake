# Common to find_package(Frontload) and add_subdirectory(frontload): the cache variable FRONTLOAD,
# and the commands frontload_target and check_frontload_supported.
#
# Before including this file, set these global properties to the parts of Frontload:
#   FRONTLOAD_BIN_DIR           the folder of ld.frontload and frontload
#   FRONTLOAD_GCC_DIR           the folder in which gcc finds ld.frontload under the name ld.lld
#   FRONTLOAD_PREFETCH_LIBRARY  libfrontload-prefetch.so.1
#   FRONTLOAD_PROCESSOR         the processor that the libraries are for
#   FRONTLOAD_BUILT_HERE        targets that must be built before any of them is used, if any
include_guard(GLOBAL)

# A project may ask for the policies of a very old CMake. Our functions use those of this version.
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/FrontloadMode.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadArguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadLink.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadSections.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadPrefetch.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadTraining.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadInstrumented.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadPGO.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadBlocks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/FrontloadTarget.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CheckFrontloadSupported.cmake")
