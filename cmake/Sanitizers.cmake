# Builds with sanitizers: FRONTLOAD_SANITIZE, which the presets asan and tsan set.
#
# LLVM's libraries have no sanitizer. Their allocators mark memory only in code that is inlined into
# ours, so ASan must ignore these marks (allow_user_poisoning=0 in test/CMakeLists.txt).
set(FRONTLOAD_SANITIZE "" CACHE STRING
  "What the programs are built to find: address (and undefined behaviour), thread, or nothing")
set_property(CACHE FRONTLOAD_SANITIZE PROPERTY STRINGS "" address thread)

# Code without libc cannot call a sanitizer: undefined behaviour ends the program by a trap. For
# threads there is no such mode. The runtime's tests build it with ThreadSanitizer themselves
# (test_runtime_threads). Our tool for Valgrind stays plain: a program in Valgrind runs one thread
# at a time, and has no room for the shadow memory.
define_property(TARGET PROPERTY FRONTLOAD_FREESTANDING
  BRIEF_DOCS "Whether a target calls nothing but the kernel")

if(NOT FRONTLOAD_SANITIZE)
  return()
elseif(FRONTLOAD_SANITIZE STREQUAL "address")
  # vptr needs type descriptions, which LLVM is built without.
  set(options -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
    -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/test/fuzz/not-ours.txt)
  set(trapping -fsanitize=undefined -fsanitize-trap=all)
elseif(FRONTLOAD_SANITIZE STREQUAL "thread")
  set(options -fsanitize=thread)
  set(trapping "")
else()
  message(FATAL_ERROR "FRONTLOAD_SANITIZE is \"${FRONTLOAD_SANITIZE}\": want address, thread or nothing")
endif()
if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "FRONTLOAD_SANITIZE wants clang: cmake --preset asan has it")
endif()
set(is_freestanding $<BOOL:$<TARGET_PROPERTY:FRONTLOAD_FREESTANDING>>)
target_compile_options(frontload_options INTERFACE -fno-omit-frame-pointer
  "$<$<NOT:${is_freestanding}>:${options}>" "$<${is_freestanding}:${trapping}>")
target_link_options(frontload_options INTERFACE "$<$<NOT:${is_freestanding}>:${options}>")
# Sanitizers need shared libraries.
set(FRONTLOAD_CAN_BE_STATIC OFF CACHE INTERNAL "")
