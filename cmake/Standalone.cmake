# For programs that need no shared library at all: the target frontload_alone, and
# frontload_link_alone() for those that use LLVM. Without archives of the C library or of LLVM, they
# link as usual.
include(CheckCSourceCompiles)
include(CheckCXXSourceCompiles)

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

# All archives that `libraries` need, as targets: ours, lld's and LLVM's.
function(frontload_archives_of result)
  set(open ${ARGN})
  set(known ${open})
  set(found "")
  while(open)
    list(POP_FRONT open library)
    get_target_property(kind ${library} TYPE)
    if(kind STREQUAL STATIC_LIBRARY)
      list(APPEND found ${library})
    endif()
    get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM needed REPLACE "^[$]<LINK_ONLY:(.*)>$" "\\1")
    foreach(each IN LISTS needed)
      if(each MATCHES "^(LLVM|lld|frontload_).+" AND TARGET ${each} AND NOT each IN_LIST known)
        list(APPEND open ${each})
        list(APPEND known ${each})
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# frontload_link_archives(<target> <library>...): links a program or plugin with its libraries, and
# with these of LLVM or lld, as archives.
function(frontload_link_archives target)
  get_target_property(own ${target} LINK_LIBRARIES)
  list(FILTER own INCLUDE REGEX ^frontload_)
  frontload_archives_of(libraries ${own} ${ARGN})
  # By their files: LLVM's targets also name shared libraries (zlib, say).
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${libraries} -Wl,--end-group z zstd)
  target_link_options(${target} PRIVATE LINKER:--gc-sections)
endfunction()

# Link-time optimization needs LLVM's back ends, most bytes of a static ld.frontload.
set(FRONTLOAD_LTO_TARGETS AArch64 ARM LoongArch Mips PowerPC RISCV SystemZ X86 CACHE STRING
  "With FRONTLOAD_STATIC: the processors for which ld.frontload does link-time optimization")
set(FRONTLOAD_LTO_LIBRARIES LLVMLTO LLVMDTLTO LLVMPasses LLVMOption LLVMDebugInfoDWARF)
foreach(processor IN LISTS FRONTLOAD_LTO_TARGETS)
  foreach(part CodeGen AsmParser Desc Info)
    list(APPEND FRONTLOAD_LTO_LIBRARIES LLVM${processor}${part})
  endforeach()
endforeach()

add_library(frontload_alone INTERFACE)
if(FRONTLOAD_CAN_BE_STATIC AND TARGET LLVMObject)
  target_link_options(frontload_alone INTERFACE -static)
  target_sources(frontload_alone INTERFACE ${PROJECT_SOURCE_DIR}/instrument/base/no_shared_libc.c)
elseif(FRONTLOAD_STATIC)
  message(FATAL_ERROR "FRONTLOAD_STATIC: there are no archives of the C library or of LLVM")
else()
  message(STATUS "Recorders are linked with shared libraries: there are no archives of the C library "
    "or of LLVM. A program's LD_LIBRARY_PATH reaches them, too")
endif()

# frontload_link_alone(<target> [<library of LLVM>...]): links a program that uses LLVM with the
# archives that it needs: LLVMObject and the given ones.
function(frontload_link_alone target)
  target_link_libraries(${target} PRIVATE frontload_llvm_headers frontload_alone)
  if(FRONTLOAD_CAN_BE_STATIC AND TARGET LLVMObject)
    frontload_link_archives(${target} LLVMObject ${ARGN})
  else()
    target_link_libraries(${target} PRIVATE LLVM)
  endif()
endfunction()
