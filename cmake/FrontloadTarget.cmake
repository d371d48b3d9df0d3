# frontload_target: one call that gives a program or library of this build a front.
#
# What the call says is checked and kept at once. What it does to targets is done when all of the project
# is known, so that it may stand anywhere: libraries that are linked later get their options too, and
# the linker is chosen after whatever else chooses one.
set(_frontload_scripts "${CMAKE_CURRENT_LIST_DIR}/scripts")
set_property(GLOBAL PROPERTY FRONTLOAD_SCRIPTS "${_frontload_scripts}")

function(frontload_target target)
  get_property(_frontload_scripts GLOBAL PROPERTY FRONTLOAD_SCRIPTS)
  _frontload_parse()
  _frontload_resolve_target(target "${target}")
  get_target_property(type ${target} TYPE)
  get_target_property(source_dir ${target} SOURCE_DIR)
  if(PREFETCH AND NOT type STREQUAL "EXECUTABLE")
    _frontload_fail("frontload_target(${target}): PREFETCH is for executables."
      "Call frontload_prefetch() before dlopen, or start the program with frontload-run.")
  endif()
  if(COMMANDS AND type MATCHES "^(OBJECT|STATIC)_LIBRARY$")
    _frontload_fail("frontload_target(${target}): TRAIN is for executables and shared libraries."
      "Train what ${target} is linked into.")
  endif()
  if(INSTRUMENT AND NOT COMMANDS)
    _frontload_fail("frontload_target(${target}): INSTRUMENT stands without TRAIN."
      "It says how the commands of TRAIN are recorded.")
  endif()
  _frontload_mode(mode)

  if(PROFILE STREQUAL "")
    set(PROFILE "${source_dir}/${target}.startup")
  endif()
  cmake_path(ABSOLUTE_PATH PROFILE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  cmake_path(ABSOLUTE_PATH WORKING_DIRECTORY BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)

  _frontload_finish_later()
  set_target_properties(${target} PROPERTIES FRONTLOAD_MODE "${mode}")
  if(mode STREQUAL "off")
    return()
  endif()
  if(PREFETCH AND mode STREQUAL "use")
    _frontload_can_prefetch(PREFETCH ${target})
  endif()
  set_target_properties(${target} PROPERTIES
    FRONTLOAD_PROFILE "${PROFILE}"
    FRONTLOAD_MIN_MATCH "${MIN_MATCH}"
    FRONTLOAD_PREFETCH "${PREFETCH}"
    FRONTLOAD_INSTRUMENT "${INSTRUMENT}")
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TARGETS ${target})
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  if(built_here)
    add_dependencies(${target} ${built_here})
  endif()
  if(type MATCHES "^(OBJECT|STATIC)_LIBRARY$")
    return()
  endif()

  if(mode STREQUAL "use")
    _frontload_take_profile(${target} "${PROFILE}")
    if(PREFETCH)
      _frontload_install_prefetch()
      set_target_properties(${target} PROPERTIES
        FRONTLOAD_PREFETCH_DESTINATION "${FRONTLOAD_PREFETCH_DESTINATION}"
        FRONTLOAD_INSTALL_BINDIR "${CMAKE_INSTALL_BINDIR}")
    endif()
    if(NOT EXISTS "${PROFILE}")
      set(remedy "Record one with -DFRONTLOAD=record and the target frontload-train.")
      if(NOT COMMANDS)
        set(remedy "Make one with frontload record and frontload profile, or say how: TRAIN COMMAND.")
      endif()
      message(WARNING "${PROFILE}: there is no startup profile yet: ${target} is linked without a "
        "front.\n  ${remedy}")
    endif()
  elseif(COMMANDS)
    if(INSTRUMENT AND NOT FRONTLOAD_INSTRUMENTED_TREE)
      _frontload_train_in_instrumented_tree(${target})
    else()
      _frontload_train(${target} "${PROFILE}")
    endif()
  endif()
endfunction()

# Sets `result` to the target that `name` is, if it is one that frontload_target can do something for.
function(_frontload_resolve_target result name)
  if(NOT TARGET "${name}")
    _frontload_fail("frontload_target(${name}): there is no such target."
      "Call it after add_executable or add_library.")
  endif()
  get_target_property(aliased ${name} ALIASED_TARGET)
  if(aliased)
    set(name "${aliased}")
  endif()
  get_target_property(is_imported ${name} IMPORTED)
  get_target_property(type ${name} TYPE)
  get_target_property(mode ${name} FRONTLOAD_MODE)
  if(is_imported OR NOT type MATCHES "^(EXECUTABLE|(SHARED|MODULE|STATIC|OBJECT)_LIBRARY)$")
    _frontload_fail("frontload_target(${name}): this build links no such target."
      "It is for executables and libraries that this project builds.")
  elseif(mode)
    _frontload_fail("frontload_target(${name}): is called a second time for this target."
      "Say all in one call.")
  endif()
  set(${result} "${name}" PARENT_SCOPE)
endfunction()

# Has _frontload_finish called at the end of the project, once.
function(_frontload_finish_later)
  get_property(is_arranged GLOBAL PROPERTY FRONTLOAD_FINISHES)
  if(NOT is_arranged)
    set_property(GLOBAL PROPERTY FRONTLOAD_FINISHES ON)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _frontload_finish)
  endif()
endfunction()

function(_frontload_finish)
  get_property(_frontload_scripts GLOBAL PROPERTY FRONTLOAD_SCRIPTS)
  get_property(targets GLOBAL PROPERTY FRONTLOAD_TARGETS)
  foreach(target IN LISTS targets)
    _frontload_add_sections_below(${target})
    get_target_property(type ${target} TYPE)
    get_target_property(mode ${target} FRONTLOAD_MODE)
    if(type MATCHES "^(OBJECT|STATIC)_LIBRARY$")
      continue()
    endif()
    _frontload_override_linker(${target})
    if(mode STREQUAL "record")
      _frontload_link_for_recording(${target})
      _frontload_instrument(${target})
    else()
      _frontload_link_with_profile(${target})
      get_target_property(prefetch ${target} FRONTLOAD_PREFETCH)
      if(prefetch)
        _frontload_add_prefetch_rpath(${target})
      endif()
    endif()
  endforeach()
  _frontload_write_instrumented_cache()
  _frontload_make_train_target()
endfunction()
