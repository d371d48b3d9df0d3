# BLOCKS: the front has only the basic blocks that a start runs, not whole functions.
#
#   record  clang writes a map of the basic blocks (-fbasic-block-address-map), which is not loaded.
#           frontload-train writes, beside the startup profile, <target>.blocks: for each function the
#           blocks that ran
#   use     clang puts these blocks into one section of each function, and the others into another
#           (-fbasic-block-sections=list=). The map is kept: the program can be recorded again
#
# This takes other compile options in record and use, so each change of the mode compiles again. A
# function that has changed since its recording is split at wrong blocks: it works, but starts no
# faster. `frontload check` counts these.

# Remembers where the file is, and checks that clang compiles.
function(_frontload_keep_blocks target profile)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(has_clang OFF)
  foreach(language IN ITEMS C CXX OBJC OBJCXX)
    if(language IN_LIST languages AND CMAKE_${language}_COMPILER_ID STREQUAL "Clang"
       AND CMAKE_${language}_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
      set(has_clang ON)
    endif()
  endforeach()
  if(NOT has_clang)
    _frontload_fail("frontload_target(${target}): BLOCKS does not work with the compilers of this project."
      "It needs clang 19 or newer: leave BLOCKS out.")
  endif()
  string(REGEX REPLACE "\\.startup$" "" stem "${profile}")
  set_target_properties(${target} PROPERTIES FRONTLOAD_BLOCKS "${stem}.blocks")
endfunction()

# Called when the whole project is known: sets options of the target and of all code linked into it.
function(_frontload_add_blocks target)
  get_target_property(file ${target} FRONTLOAD_BLOCKS)
  if(NOT file)
    return()
  endif()
  set(options -fbasic-block-address-map)
  # Where the linker compiles.
  set(linked --lto-basic-block-address-map)
  set(again "")
  if(FRONTLOAD STREQUAL "use" AND EXISTS "${file}")
    set(again "${file}")
    list(APPEND options "-fbasic-block-sections=list=${file}")
    list(APPEND linked "--lto-basic-block-sections=${file}")
  elseif(FRONTLOAD STREQUAL "use")
    message(WARNING "${file}: there are no basic blocks yet: ${target} is compiled with whole "
      "functions.\n  Record them with -DFRONTLOAD=record and the target frontload-train, then "
      "configure again.")
  endif()
  foreach(option IN LISTS linked)
    _frontload_own_option(option "${option}")
    target_link_options(${target} PRIVATE "${option}")
  endforeach()
  _frontload_compile_linked(${target} BLOCKS "files of blocks" "${file}" "${again}"
    COMPILE_LANG_AND_ID:@,Clang "${options}")
endfunction()

# Sets `result` to the last commands of a training, which write the blocks of the `trained` profile.
function(_frontload_keep_trained_blocks result target trained)
  set(${result} "" PARENT_SCOPE)
  get_target_property(file ${target} FRONTLOAD_BLOCKS)
  if(NOT file)
    return()
  endif()
  get_property(bin GLOBAL PROPERTY FRONTLOAD_BIN_DIR)
  set(${result}
    COMMAND "${bin}/frontload" order "${trained}" --linker clang --binary "$<TARGET_FILE:${target}>"
      --min-match 0 -o "${trained}.blocks"
    COMMAND "${CMAKE_COMMAND}" "-DTRAINED=${trained}.blocks" "-DPROFILE=${file}"
      "-DTARGET=${target}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scripts/KeepProfile.cmake"
    PARENT_SCOPE)
endfunction()
