# check_frontload_supported([RESULT <variable>] [OUTPUT <variable>] [LANGUAGES <language>...])
#
# Checks whether programs of this build can be linked with a front: compiles a program in each
# language, and links it with a profile. If no language is named, these are the enabled ones of C,
# C++, Objective-C, Objective-C++ and Fortran. RESULT becomes TRUE or FALSE; if FALSE, OUTPUT
# becomes the error. Without RESULT, the configuration stops instead. The command works like
# check_ipo_supported.

function(check_frontload_supported)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RESULT;OUTPUT" "LANGUAGES")
  if(DEFINED arg_UNPARSED_ARGUMENTS OR DEFINED arg_KEYWORDS_MISSING_VALUES)
    _frontload_fail("check_frontload_supported: wrong arguments: ${ARGV}"
      "check_frontload_supported([RESULT <variable>] [OUTPUT <variable>] \
[LANGUAGES <language>...])")
  endif()
  if(NOT arg_LANGUAGES)
    get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
    foreach(language IN LISTS enabled)
      if(language MATCHES "^(C|CXX|OBJC|OBJCXX|Fortran)$")
        list(APPEND arg_LANGUAGES ${language})
      endif()
    endforeach()
  endif()

  set(problem "")
  if(NOT arg_LANGUAGES)
    set(problem "no language that Frontload knows is enabled: C, CXX, OBJC, OBJCXX, Fortran")
  endif()
  foreach(language IN LISTS arg_LANGUAGES)
    if(NOT problem)
      _frontload_try_language(problem ${language})
    endif()
  endforeach()

  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${problem}" PARENT_SCOPE)
  endif()
  if(arg_RESULT)
    if(problem)
      set(${arg_RESULT} FALSE PARENT_SCOPE)
    else()
      set(${arg_RESULT} TRUE PARENT_SCOPE)
    endif()
  elseif(problem)
    _frontload_fail("Frontload cannot link programs of this build: ${problem}"
      "Ask first: check_frontload_supported(RESULT <variable>), or configure with -DFRONTLOAD=off.")
  endif()
endfunction()

# Sets `result` to the obstacle to a front of a program in `language`, or to nothing.
function(_frontload_try_language result language)
  set(text "int main(void) { return 0; }\n")
  if(language STREQUAL "C")
    set(suffix c)
  elseif(language STREQUAL "CXX")
    set(suffix cpp)
    set(text "int main() { return 0; }\n")
  elseif(language STREQUAL "OBJC")
    set(suffix m)
  elseif(language STREQUAL "OBJCXX")
    set(suffix mm)
    set(text "int main() { return 0; }\n")
  elseif(language STREQUAL "Fortran")
    set(suffix f90)
    set(text "program main\nend program main\n")
  else()
    set(${result} "Frontload does not know the language ${language}" PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_${language}_COMPILER_LOADED)
    set(${result} "the language ${language} is not enabled" PARENT_SCOPE)
    return()
  endif()
  set(compiler "${CMAKE_${language}_COMPILER_ID}")
  if(NOT compiler MATCHES "^(GNU|Clang|IntelLLVM|LLVMFlang)$")
    set(${result} "${CMAKE_${language}_COMPILER} is ${compiler}, and Frontload knows gcc and clang"
      PARENT_SCOPE)
    return()
  endif()
  # A project that builds Frontload itself has no linker yet to try it with.
  get_property(bin GLOBAL PROPERTY FRONTLOAD_BIN_DIR)
  get_property(is_built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  if(is_built_here AND NOT EXISTS "${bin}/ld.frontload")
    set(${result} "" PARENT_SCOPE)
    return()
  endif()
  # Once is enough, for a compiler and its flags.
  string(SHA256 key "${CMAKE_${language}_COMPILER};${CMAKE_${language}_COMPILER_VERSION};\
${CMAKE_${language}_FLAGS};${CMAKE_EXE_LINKER_FLAGS};${CMAKE_SYSROOT}")
  get_property(known GLOBAL PROPERTY FRONTLOAD_TRIED_${key} SET)
  if(known)
    get_property(problem GLOBAL PROPERTY FRONTLOAD_TRIED_${key})
    set(${result} "${problem}" PARENT_SCOPE)
    return()
  endif()

  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/FrontloadSupported/${language}")
  file(WRITE "${folder}/main.${suffix}" "${text}")
  string(CONCAT profile "frontload-startup-profile 2\nprogram main\nruns 1\n"
    "function\ttext\t1\t+0\t-\tmain\n")
  file(WRITE "${folder}/main.startup" "${profile}")
  _frontload_linker_choice(choice)
  _frontload_linker_option(option "--startup-profile=${folder}/main.startup")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
  set(CMAKE_LINKER_TYPE DEFAULT)  # CMake 3.29 would put another linker behind ours.
  try_compile(succeeds "${folder}/build" SOURCES "${folder}/main.${suffix}"
    LINK_OPTIONS ${choice} "${option}"
    OUTPUT_VARIABLE output)
  set(problem "")
  if(NOT succeeds)
    string(STRIP "${output}" problem)
  endif()
  unset(succeeds CACHE)
  set_property(GLOBAL PROPERTY FRONTLOAD_TRIED_${key} "${problem}")
  set(${result} "${problem}" PARENT_SCOPE)
endfunction()
