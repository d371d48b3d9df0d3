# Builds programs for AArch64 on another processor, with Debian's cross compiler. FRONTLOAD_SYSROOT
# has what Debian's packages for arm64 install (scripts/package fetches them).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT ${FRONTLOAD_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# More back ends of LLVM fill more of the GOT than the 32 KiB that Debian's libc.a reaches: then the
# link fails.
set(FRONTLOAD_LTO_TARGETS AArch64 ARM X86 CACHE STRING "")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FRONTLOAD_SYSROOT)
