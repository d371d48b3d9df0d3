# INSTRUMENT: a program records itself in the training, for machines that do not allow ptrace.
#
# Instrumented objects are different objects, so they get a build folder of their own. Only
# frontload-train configures and builds it: it is this project once more, with the same cache and
# with FRONTLOAD_INSTRUMENTED_TREE. There, the target and the project's static and object libraries
# that are linked into it are compiled with -finstrument-functions.

# The folder of the second tree; all targets share it.
function(_frontload_instrumented_folder result)
  set(${result} "${CMAKE_BINARY_DIR}/frontload-instrumented" PARENT_SCOPE)
endfunction()

# The target frontload-train-<target> of the first tree: builds that of the second tree.
function(_frontload_train_in_instrumented_tree target)
  _frontload_instrumented_folder(folder)
  add_custom_target(frontload-train-${target}
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DFOLDER=${folder}"
      "-DGENERATOR=${CMAKE_GENERATOR}" "-DTARGET=frontload-train-${target}" "-DCONFIG=$<CONFIG>"
      -P "${_frontload_scripts}/TrainInstrumented.cmake"
    COMMENT "Recording how an instrumented ${target} starts"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TARGETS_TO_train frontload-train-${target})
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  if(built_here)
    add_dependencies(frontload-train-${target} ${built_here})
  endif()
  set_property(GLOBAL PROPERTY FRONTLOAD_HAS_INSTRUMENTED_TREE ON)
endfunction()

# Writes the initial cache of the second tree: everything that the user, the environment or a find
# module has put into the cache of this one.
function(_frontload_write_instrumented_cache)
  get_property(is_wanted GLOBAL PROPERTY FRONTLOAD_HAS_INSTRUMENTED_TREE)
  if(NOT is_wanted)
    return()
  endif()
  set(text "# Written by Frontload when it was configured: the cache of ${CMAKE_BINARY_DIR}.\n")
  get_cmake_property(names CACHE_VARIABLES)
  include(FetchContent)
  foreach(name IN LISTS names)
    get_property(type CACHE "${name}" PROPERTY TYPE)
    # Fetched sources are shared, their builds are not.
    if(type MATCHES "^(BOOL|STRING|PATH|FILEPATH|UNINITIALIZED)$"
       AND NOT name STREQUAL "FETCHCONTENT_BASE_DIR")
      get_property(value CACHE "${name}" PROPERTY VALUE)
      if(name MATCHES "^FETCHCONTENT_SOURCE_DIR_(.+)$" AND NOT value)
        string(TOLOWER "${CMAKE_MATCH_1}" content)
        FetchContent_GetProperties(${content} SOURCE_DIR value)
      endif()
      if(type STREQUAL "UNINITIALIZED")
        set(type STRING)
      endif()
      string(APPEND text "set([==[${name}]==] [==[${value}]==] CACHE ${type} \"\" FORCE)\n")
    endif()
  endforeach()
  string(APPEND text "set(FRONTLOAD_INSTRUMENTED_TREE ON CACHE INTERNAL \"\")\n")
  _frontload_instrumented_folder(folder)
  file(WRITE "${folder}/frontload-cache.cmake" "${text}")
endfunction()

# In the second tree, for a target with INSTRUMENT: its objects, and the library that they call.
function(_frontload_instrument target)
  get_target_property(is_wanted ${target} FRONTLOAD_INSTRUMENT)
  if(NOT (is_wanted AND FRONTLOAD_INSTRUMENTED_TREE))
    return()
  endif()
  _frontload_linked_objects(linked ${target})
  foreach(one IN LISTS linked)
    get_target_property(type ${one} TYPE)
    get_target_property(has ${one} FRONTLOAD_IS_INSTRUMENTED)
    if(type STREQUAL "INTERFACE_LIBRARY" OR has)
      continue()
    endif()
    set_target_properties(${one} PROPERTIES FRONTLOAD_IS_INSTRUMENTED ON)
    foreach(language IN ITEMS C CXX OBJC OBJCXX)
      # clang can leave out inlined functions, which do not exist in the program.
      set(is_gcc "$<COMPILE_LANG_AND_ID:${language},GNU>")
      set(is_clang "$<COMPILE_LANG_AND_ID:${language},Clang,IntelLLVM>")
      target_compile_options(${one} PRIVATE "$<${is_gcc}:-finstrument-functions>"
        "$<${is_clang}:-finstrument-functions-after-inlining>")
    endforeach()
  endforeach()
  get_property(library GLOBAL PROPERTY FRONTLOAD_RT_LIBRARY)
  # Not by target_link_libraries, whose calls for a target must all have a keyword or none.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES "${library}")
endfunction()
