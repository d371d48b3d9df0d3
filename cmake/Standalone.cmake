# For programs that need no shared library at all: the target frontload_alone, and
# frontload_link_alone() for those that use LLVM. Without archives of the C library or of LLVM, they
# link as usual.
include(CheckCSourceCompiles)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

set(CMAKE_REQUIRED_LINK_OPTIONS -static)
if(FRONTLOAD_WITHOUT_LLVM)
  check_c_source_compiles("int main(void) { return 0; }" FRONTLOAD_CAN_BE_STATIC)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  add_library(frontload_alone INTERFACE)
  if(FRONTLOAD_CAN_BE_STATIC)
    target_link_options(frontload_alone INTERFACE -static)
  endif()
  return()
endif()
check_cxx_source_compiles("#include <string>\nint main(int n, char **v) { return std::string(v[0]).size() == n; }"
  FRONTLOAD_CAN_BE_STATIC)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# All LLVM libraries that `libraries` need, as targets. Other libraries have no targets of LLVM's.
function(frontload_llvm_closure result)
  set(open ${ARGN})
  set(closed "")
  while(open)
    list(POP_FRONT open library)
    if(library IN_LIST closed)
      continue()
    endif()
    list(APPEND closed ${library})
    get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
    foreach(each IN LISTS needed)
      if(each MATCHES "^LLVM" AND TARGET ${each})
        list(APPEND open ${each})
      endif()
    endforeach()
  endwhile()
  set(${result} ${closed} PARENT_SCOPE)
endfunction()

add_library(frontload_alone INTERFACE)
if(FRONTLOAD_CAN_BE_STATIC AND TARGET LLVMObject)
  target_link_options(frontload_alone INTERFACE -static)
  # No warning that LLVM looks up users by glibc's shared libraries, for paths with ~: we have none.
  check_linker_flag(CXX LINKER:--no-warnings FRONTLOAD_CAN_BE_QUIET)
  if(FRONTLOAD_CAN_BE_QUIET)
    target_link_options(frontload_alone INTERFACE LINKER:--no-warnings)
  endif()
else()
  message(STATUS "Recorders are linked with shared libraries: there are no archives of the C library "
    "or of LLVM. A program's LD_LIBRARY_PATH reaches them, too")
endif()

# frontload_link_alone(<target> [<library of LLVM>...]): links a program that uses LLVM with the
# LLVM archives that it needs: LLVMObject and the given ones.
function(frontload_link_alone target)
  target_link_libraries(${target} PRIVATE frontload_llvm_headers frontload_alone)
  if(NOT FRONTLOAD_CAN_BE_STATIC OR NOT TARGET LLVMObject)
    target_link_libraries(${target} PRIVATE LLVM)
    return()
  endif()
  frontload_llvm_closure(libraries LLVMObject ${ARGN})
  # By their files: LLVM's targets also name shared libraries (zlib, say).
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${libraries} -Wl,--end-group z zstd)
  target_link_options(${target} PRIVATE LINKER:--gc-sections)
endfunction()
