# Whether the lld that was found is one that ld.frontload can hook into: all functions exist under
# the names that lld_symbols.h has, and do what it says. hook_probe.cpp tries that.

# frontload_read_hooks(<result> <folder>): the mangled names of the functions that are hooked.
function(frontload_read_hooks result folder)
  file(STRINGS ${folder}/lld_symbols.h lines REGEX "#define [A-Z0-9_]+ \"_Z")
  list(TRANSFORM lines REPLACE ".*\"(.*)\"" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# frontload_check_hooks(<folder> <symbol>...): fails with what does not fit; `folder` has the probe.
# It is tried once for each lld and each version of the probe.
function(frontload_check_hooks folder)
  get_target_property(configuration lldELF IMPORTED_CONFIGURATIONS)
  list(GET configuration 0 configuration)
  get_target_property(library lldELF IMPORTED_LOCATION_${configuration})
  file(SHA256 ${folder}/hook_probe.cpp key)
  foreach(file ${folder}/lld_symbols.h ${folder}/rest_order.h ${library})
    file(SHA256 ${file} hash)
    string(APPEND key ${hash})
  endforeach()
  if(FRONTLOAD_HOOKS_FIT STREQUAL key)
    return()
  endif()

  message(STATUS "Check that lld ${LLVM_PACKAGE_VERSION} does what ld.frontload relies on")
  list(TRANSFORM ARGN PREPEND "LINKER:--wrap=")
  set(includes "-DINCLUDE_DIRECTORIES=${folder}/..;${LLVM_INCLUDE_DIRS}") # paths with spaces, too
  set(sources ${folder}/hook_probe.cpp)
  set(options
    COMPILE_DEFINITIONS ${LLVM_DEFINITIONS} -fno-rtti
    LINK_OPTIONS ${ARGN}
    LINK_LIBRARIES lldELF lldCommon LLVM
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  # Both results are cached, and these are asked for only once.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "It cannot be run here, so only the names of its functions are checked")
    try_compile(frontload_hooks_build ${CMAKE_BINARY_DIR}/CMakeFiles/FrontloadHooks
      SOURCES ${sources} CMAKE_FLAGS "${includes}"
      ${options} OUTPUT_VARIABLE output)
    set(frontload_hooks_code 0)
    set(said "")
  else()
    try_run(frontload_hooks_code frontload_hooks_build
      ${CMAKE_BINARY_DIR}/CMakeFiles/FrontloadHooks SOURCES ${sources} CMAKE_FLAGS "${includes}"
      ${options}
      COMPILE_OUTPUT_VARIABLE output RUN_OUTPUT_VARIABLE said)
  endif()
  set(builds "${frontload_hooks_build}")
  set(code "${frontload_hooks_code}")
  unset(frontload_hooks_build CACHE)
  unset(frontload_hooks_code CACHE)
  if(NOT builds)
    # What the linker says of each name that this lld does not have; else, what the compiler says.
    string(REGEX MATCHALL "undefined (reference to|symbol:)[^\n]*" missing "${output}")
    if(NOT missing)
      string(REGEX MATCHALL "error:[^\n]*" missing "${output}")
    endif()
    list(REMOVE_DUPLICATES missing)
    if(missing)
      list(JOIN missing "\n  " output)
    endif()
    message(FATAL_ERROR "ld.frontload cannot hook into lld ${LLVM_PACKAGE_VERSION} in ${library}, "
      "for the probe of its hooks does not link:\n  ${output}\n"
      "lldplugin/lld/lld_symbols.h has the names; docs/lld-hooks.md says what each is for.")
  endif()
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "ld.frontload cannot hook into lld ${LLVM_PACKAGE_VERSION} in ${library}, "
      "which does not do what it relies on:\n${said}(exit status ${code})\n"
      "docs/lld-hooks.md says what each function is for.")
  endif()
  set(FRONTLOAD_HOOKS_FIT ${key} CACHE INTERNAL "Which lld and which hooks were found to fit")
endfunction()
