# How a target is linked: by ld.frontload, with a map in mode record, and with its startup profile
# in mode use.

# Sets `result` to one option for the compiler driver that hands `option` to the linker. It does not
# use LINKER:, which like -Wl, would split the option at the commas of a path.
function(_frontload_linker_option result option)
  string(REGEX REPLACE "([\\\"])" "\\\\\\1" option "${option}")
  set(${result} "SHELL:-Xlinker \"${option}\"" PARENT_SCOPE)
endfunction()

# Sets `result` to the driver options that choose ld.frontload, as a generator expression for each
# language and compiler that can link.
function(_frontload_linker_choice result)
  get_property(bin GLOBAL PROPERTY FRONTLOAD_BIN_DIR)
  get_property(gcc GLOBAL PROPERTY FRONTLOAD_GCC_DIR)
  set(by_folder "-B${gcc};-fuse-ld=lld")
  set(choice "")
  foreach(language IN ITEMS C CXX OBJC OBJCXX Fortran)
    list(APPEND choice "$<$<LINK_LANG_AND_ID:${language},GNU>:${by_folder}>")
    if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang"
       AND CMAKE_${language}_COMPILER_VERSION VERSION_LESS 12)
      list(APPEND choice "$<$<LINK_LANG_AND_ID:${language},Clang>:${by_folder}>")
    else()
      set(is_clang "$<LINK_LANG_AND_ID:${language},Clang,IntelLLVM,LLVMFlang>")
      list(APPEND choice "$<${is_clang}:--ld-path=${bin}/ld.frontload>")
    endif()
  endforeach()
  set(${result} "${choice}" PARENT_SCOPE)
endfunction()

# Sets `result` to `option` for the linker, as a generator expression that is empty where
# _frontload_linker_choice chooses none: other linkers do not have the option.
function(_frontload_own_option result option)
  _frontload_linker_option(option "${option}")
  set(conditions "")
  foreach(language IN ITEMS C CXX OBJC OBJCXX Fortran)
    list(APPEND conditions "$<LINK_LANG_AND_ID:${language},GNU,Clang,IntelLLVM,LLVMFlang>")
  endforeach()
  list(JOIN conditions "," conditions)
  set(${result} "$<$<OR:${conditions}>:${option}>" PARENT_SCOPE)
endfunction()

# Remembers which of these targets gcc compiles to objects that only its own linkers can read. Most
# projects have none.
function(_frontload_find_gcc_lto)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  set(found "")
  foreach(target IN LISTS ARGN)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    get_target_property(flags ${target} COMPILE_OPTIONS)
    get_target_property(ipo ${target} INTERPROCEDURAL_OPTIMIZATION)
    foreach(language IN ITEMS C CXX OBJC OBJCXX Fortran)
      string(APPEND flags " ${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${configuration}}")
      if(CMAKE_${language}_COMPILER_ID STREQUAL "GNU"
         AND (ipo OR flags MATCHES "-flto") AND NOT flags MATCHES "-fno-lto|-ffat-lto-objects")
        list(APPEND found ${target})
      endif()
    endforeach()
  endforeach()
  set_property(GLOBAL PROPERTY FRONTLOAD_GCC_LTO "${found}")
endfunction()

# Sets `result` to the compiler of a target if no linker can be chosen for it. CMake has not yet
# chosen the compiler that links the target, so the result is set only if none would do.
function(_frontload_find_unknown_compiler result target)
  set(${result} "" PARENT_SCOPE)
  get_target_property(languages ${target} LINKER_LANGUAGE)
  if(NOT languages)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    list(FILTER languages INCLUDE REGEX "^(C|CXX|OBJC|OBJCXX|Fortran)$")
  endif()
  set(unknown "")
  foreach(language IN LISTS languages)
    if(CMAKE_${language}_COMPILER_ID MATCHES "^(GNU|Clang|IntelLLVM|LLVMFlang)$")
      return()
    endif()
    string(APPEND unknown " ${CMAKE_${language}_COMPILER_ID}")
  endforeach()
  string(STRIP "${unknown}" unknown)
  set(${result} "${unknown}" PARENT_SCOPE)
endfunction()

# Sets `result` to why a target keeps the linker of the build; empty if ld.frontload links it.
function(_frontload_find_own_linker result target)
  set(${result} "" PARENT_SCOPE)
  get_target_property(own_linker ${target} FRONTLOAD_OWN_LINKER)
  if(own_linker)
    set(${result} "of OWN_LINKER" PARENT_SCOPE)
    return()
  endif()
  get_property(unreadable GLOBAL PROPERTY FRONTLOAD_GCC_LTO)
  if(NOT unreadable)
    return()
  endif()
  _frontload_linked_objects(linked ${target})
  foreach(one IN LISTS linked)
    if(one IN_LIST unreadable)
      set(${result} "gcc's link-time optimization leaves objects that lld cannot read" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Sets `obstacle` to why a target cannot be linked with its profile, if that is so, and `remedy`.
function(_frontload_find_obstacle obstacle remedy target own_linker)
  set(${obstacle} "" PARENT_SCOPE)
  _frontload_find_unknown_compiler(unknown ${target})
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_target_property(data ${target} FRONTLOAD_DATA)
  get_target_property(asked ${target} FRONTLOAD_OWN_LINKER)
  if(unknown)
    set(${obstacle} "its compiler is ${unknown}, and Frontload knows gcc and clang" PARENT_SCOPE)
    set(${remedy} "Compile with one of these, or configure with -DFRONTLOAD=off." PARENT_SCOPE)
  elseif(own_linker AND is_multi_config AND CMAKE_VERSION VERSION_LESS 3.27)
    set(${obstacle} "it keeps its linker, because ${own_linker}, and this CMake gives launchers of \
links no configuration" PARENT_SCOPE)
    set(${remedy} "Use CMake 3.27 or newer, or one configuration in each build folder." PARENT_SCOPE)
  elseif(own_linker AND data AND NOT asked AND FRONTLOAD STREQUAL "record")
    set(${obstacle} "DATA needs a map by ld.frontload, and ${own_linker}" PARENT_SCOPE)
    set(${remedy} "Add OWN_LINKER, which records data without a map, or leave DATA out." PARENT_SCOPE)
  endif()
endfunction()

# Gives this target its own linker, whatever CMAKE_LINKER_TYPE (CMake 3.29) chooses for others.
function(_frontload_override_linker target)
  get_target_property(type ${target} LINKER_TYPE)
  if(type)
    set_target_properties(${target} PROPERTIES LINKER_TYPE DEFAULT)
  endif()
endfunction()

# The folder in the build tree for all of Frontload's files of a target.
function(_frontload_folder result target)
  get_target_property(binary_dir ${target} BINARY_DIR)
  set(folder "${binary_dir}/${target}.frontload")
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    string(APPEND folder "/$<CONFIG>")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Resolving the data of a trace needs the map of the recorded link itself.
function(_frontload_write_map target)
  set(map "$<TARGET_FILE_DIR:${target}>/$<TARGET_FILE_NAME:${target}>.map")
  _frontload_own_option(write_map "-Map=${map}")
  target_link_options(${target} PRIVATE ${write_map})
  set_property(TARGET ${target} APPEND PROPERTY ADDITIONAL_CLEAN_FILES "${map}")
endfunction()

# use: the linker gets a copy of the profile, from a folder where it finds it by the name of the
# output, and links plainly without one. So the command line is the same with and without a profile,
# and a profile can come or go without a new configuration. The link depends not on the profile but
# on a file with its hash: rewriting the same profile does not link again. Where the target keeps its
# linker, frontload-cc does with it what it can.
function(_frontload_link_with_profile target own_linker)
  _frontload_folder(folder ${target})
  get_target_property(min_match ${target} FRONTLOAD_MIN_MATCH)
  get_target_property(prefetch ${target} FRONTLOAD_PREFETCH)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${folder}/profile/state")
  if(own_linker)
    get_property(bin GLOBAL PROPERTY FRONTLOAD_BIN_DIR)
    set(launcher "${bin}/frontload-cc" --own-linker "--profile-dir=${folder}/profile")
    if(prefetch)
      list(APPEND launcher --prefetch)
    endif()
    if(NOT min_match STREQUAL "")
      list(APPEND launcher "--min-match=${min_match}")
    endif()
    foreach(language IN ITEMS C CXX OBJC OBJCXX)
      get_target_property(others ${target} ${language}_LINKER_LAUNCHER)
      if(NOT others)
        set(others "")
      endif()
      set_property(TARGET ${target} PROPERTY ${language}_LINKER_LAUNCHER ${launcher} ${others})
    endforeach()
    return()
  endif()
  _frontload_linker_choice(choice)
  _frontload_own_option(options "--startup-profile-dir=${folder}/profile")
  if(NOT min_match STREQUAL "")
    _frontload_own_option(option "--min-match=${min_match}")
    list(APPEND options "${option}")
  endif()
  if(prefetch)
    _frontload_own_option(option "--front-prefetch")
    list(APPEND options "${option}")
  endif()
  target_link_options(${target} PRIVATE ${choice} ${options})
endfunction()

# The target that copies the profile to the linker's folder before `target` is linked.
function(_frontload_take_profile target profile)
  _frontload_folder(folder ${target})
  # The dependencies come from the command itself, because the profile may come and go. CMake 3.25.1
  # crashes if such a command is built for several configurations at once. There, adding or removing
  # a profile needs a new configuration.
  set(dependencies DEPFILE "${folder}/profile/taken.d")
  if(CMAKE_CROSS_CONFIGS AND CMAKE_VERSION VERSION_LESS 3.25.2)
    set(dependencies "")
    if(EXISTS "${profile}")
      set(dependencies DEPENDS "${profile}")
    endif()
  endif()
  # By a file, because the target would depend on itself if the command had this expression and the
  # project sets CMake's policies of before 3.18 (CMP0112). Outside of the folder that `clean`
  # removes: the configuration makes it.
  get_target_property(binary_dir ${target} BINARY_DIR)
  set(name_file "${binary_dir}/CMakeFiles/${target}.frontload/$<CONFIG>.name")
  file(GENERATE OUTPUT "${name_file}" CONTENT "$<TARGET_FILE_NAME:${target}>")
  add_custom_command(
    OUTPUT "${folder}/profile/taken"
    BYPRODUCTS "${folder}/profile/state"
    DEPENDS "${name_file}"
    ${dependencies}
    COMMAND "${CMAKE_COMMAND}" "-DTARGET=${target}" "-DPROFILE=${profile}"
      "-DOUTPUT_NAME_FILE=${name_file}" "-DFOLDER=${folder}/profile"
      -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scripts/TakeProfile.cmake"
    COMMENT "Taking the startup profile of ${target}"
    VERBATIM)
  add_custom_target(frontload-profile-${target} DEPENDS "${folder}/profile/taken")
  add_dependencies(${target} frontload-profile-${target})
endfunction()
