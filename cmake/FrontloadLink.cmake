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

# Sets `result` to whether gcc compiles a target to objects that only its own linkers can read, in
# any configuration and language. The last option of its kind counts, as it does for gcc.
function(_frontload_has_gcc_lto result target)
  set(${result} OFF PARENT_SCOPE)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  set(configurations ${CMAKE_CONFIGURATION_TYPES})
  if(NOT configurations)
    set(configurations "${CMAKE_BUILD_TYPE}")
  endif()
  if(configurations STREQUAL "")
    set(configurations NONE)
  endif()
  get_target_property(default ${target} INTERPROCEDURAL_OPTIMIZATION)
  foreach(configuration IN LISTS configurations)
    string(TOUPPER "${configuration}" configuration)
    get_target_property(special ${target} INTERPROCEDURAL_OPTIMIZATION_${configuration})
    set(ipo "")
    if(special OR (default AND special STREQUAL "special-NOTFOUND"))
      set(ipo "-flto -fno-fat-lto-objects")
    endif()
    foreach(language IN ITEMS C CXX OBJC OBJCXX Fortran)
      if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "GNU")
        continue()
      endif()
      # In the order of CMake's command lines.
      set(flags "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${configuration}} \
${ipo} ${options}")
      if(NOT flags MATCHES "-flto")
        continue()
      endif()
      string(REGEX MATCHALL "[^ ;]+" flags "${flags}")
      set(lto ${flags})
      list(FILTER lto INCLUDE REGEX "^-f(no-lto|lto(=.*)?)$")
      set(fat ${flags})
      list(FILTER fat INCLUDE REGEX "^-f(no-)?fat-lto-objects$")
      if(lto MATCHES "-flto[^;]*$" AND NOT fat MATCHES "-ffat-lto-objects$")
        set(${result} ON PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

# Remembers which of these targets have such objects. Most projects have none.
function(_frontload_find_gcc_lto)
  set(found "")
  foreach(target IN LISTS ARGN)
    _frontload_has_gcc_lto(has_lto ${target})
    if(has_lto)
      list(APPEND found ${target})
    endif()
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

# Sets `result` to an option of a target's link that decides the layout itself, or to nothing. With
# such an option ld.frontload fails as soon as there is a profile. An option that chooses another
# linker is no obstacle: ours is chosen after it. Generator expressions are not evaluated here.
function(_frontload_find_layout_option result target)
  get_target_property(type ${target} TYPE)
  string(REPLACE "_LIBRARY" "" kind "${type}")
  string(REPLACE "EXECUTABLE" "EXE" kind "${kind}")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  set(options "${CMAKE_${kind}_LINKER_FLAGS};${CMAKE_${kind}_LINKER_FLAGS_${configuration}}")
  foreach(property IN ITEMS LINK_FLAGS LINK_OPTIONS)
    get_target_property(value ${target} ${property})
    if(value)
      list(APPEND options ${value})
    endif()
  endforeach()
  string(GENEX_STRIP "${options}" options)
  string(REGEX REPLACE "(^|;)(SHELL:|LINKER:)+" ";" options "${options}")
  string(REGEX REPLACE "[ ,]" ";" options "${options}")
  list(FILTER options EXCLUDE REGEX "^(-Wl|-Xlinker)?$")
  string(CONCAT ordering "symbol-ordering-file|call-graph-ordering-file|shuffle-sections|"
    "bp-startup-sort|bp-compression-sort|section-start|omagic")
  get_target_property(binary_dir ${target} BINARY_DIR)
  set(is_script OFF)  # whether the next one is the name of a linker script
  foreach(option IN LISTS options)
    if(is_script)
      set(script "${option}")
      set(option "-T ${option}")
    elseif(option MATCHES "^(-T|-dT|--?(default-)?script)$")
      set(is_script ON)
      continue()
    elseif(option MATCHES "^(-T|--?(default-)?script=)(.+)$"
           AND NOT option MATCHES "^-T(text|data|bss|(ldata|text|rodata)-segment)(=|$)")
      set(script "${CMAKE_MATCH_3}")
      set(is_script ON)
    endif()
    if(is_script)
      set(is_script OFF)
      _frontload_places_sections(decides "${script}" "${binary_dir}")
    elseif(option MATCHES "^(-N|--?unique|--?T(text|data|bss)(=.*)?|--?(${ordering})(=.*)?)$"
           AND NOT option MATCHES "sort=none$")
      set(decides ON)
    else()
      set(decides OFF)
    endif()
    if(decides)
      set(${result} "${option}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# Sets `result` to whether the linker script `path` places sections. A script that the build makes
# counts as placing them. Scripts that only name symbols or files are compatible with a front.
function(_frontload_places_sections result path folder)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${folder}")
  set(words SECTIONS)
  if(EXISTS "${path}" AND NOT IS_DIRECTORY "${path}")
    file(STRINGS "${path}" words
      REGEX "(^|[^A-Za-z0-9_])(SECTIONS|OVERWRITE_SECTIONS|MEMORY|PHDRS)([^A-Za-z0-9_]|$)")
  endif()
  if(words STREQUAL "")
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# Sets `obstacle` to why ld.frontload cannot link a target, if it cannot, and `remedy`.
function(_frontload_find_obstacle obstacle remedy target)
  set(${obstacle} "" PARENT_SCOPE)
  _frontload_find_unknown_compiler(unknown ${target})
  if(unknown)
    set(${obstacle} "its compiler is ${unknown}, and Frontload knows gcc and clang" PARENT_SCOPE)
    set(${remedy} "Compile with one of these, or configure with -DFRONTLOAD=off." PARENT_SCOPE)
    return()
  endif()
  _frontload_find_layout_option(option ${target})
  if(option)
    set(${obstacle} "${option} among its link options decides the layout itself" PARENT_SCOPE)
    set(${remedy} "Link it without a linker script or an order of its own, or leave \
frontload_target out for it." PARENT_SCOPE)
    return()
  endif()
  get_property(unreadable GLOBAL PROPERTY FRONTLOAD_GCC_LTO)
  if(NOT unreadable)
    return()
  elseif(NOT target IN_LIST unreadable)
    _frontload_linked_objects(linked ${target})
    set(readable ${linked})
    list(REMOVE_ITEM readable ${unreadable})
    if(readable STREQUAL linked)
      return()
    endif()
  endif()
  set(${obstacle} "gcc's link-time optimization leaves objects that lld cannot read" PARENT_SCOPE)
  set(${remedy} "Set INTERPROCEDURAL_OPTIMIZATION OFF for it and what it links, \
add -ffat-lto-objects to -flto, or compile with clang." PARENT_SCOPE)
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

function(_frontload_link_for_recording target)
  _frontload_linker_choice(choice)
  target_link_options(${target} PRIVATE ${choice})
  _frontload_write_map(${target})
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
# on a file with its hash: rewriting the same profile does not link again.
function(_frontload_link_with_profile target)
  _frontload_folder(folder ${target})
  get_target_property(min_match ${target} FRONTLOAD_MIN_MATCH)
  get_target_property(prefetch ${target} FRONTLOAD_PREFETCH)
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
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${folder}/profile/state")
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
      -P "${_frontload_scripts}/TakeProfile.cmake"
    COMMENT "Taking the startup profile of ${target}"
    VERBATIM)
  add_custom_target(frontload-profile-${target} DEPENDS "${folder}/profile/taken")
  add_dependencies(${target} frontload-profile-${target})
endfunction()
