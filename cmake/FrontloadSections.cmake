# The compile options that let a linker place functions and data one by one: for a target, and for
# all code of this build that is linked into it, including object and static libraries.

# Adds them to these targets. They are the same in record and use.
function(_frontload_add_sections)
  foreach(target IN LISTS ARGN)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    foreach(language IN ITEMS C CXX OBJC OBJCXX Fortran)
      set(condition "$<COMPILE_LANG_AND_ID:${language},GNU,Clang,AppleClang,IntelLLVM,LLVMFlang>")
      target_compile_options(${target} PRIVATE
        "$<${condition}:-ffunction-sections;-fdata-sections>")
    endforeach()
  endforeach()
endfunction()

# Sets `result` to the targets that `target` names for linking or compiling into it.
#
# Generator expressions are not evaluated here: a target in one counts, whatever its condition. So a
# library may get the options needlessly, which does no harm.
function(_frontload_named_targets result target)
  get_target_property(type ${target} TYPE)
  set(properties INTERFACE_LINK_LIBRARIES INTERFACE_SOURCES)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND properties LINK_LIBRARIES SOURCES PRECOMPILE_HEADERS_REUSE_FROM)
  endif()
  set(names "")
  foreach(property IN LISTS properties)
    get_target_property(value ${target} ${property})
    if(value)
      string(APPEND names ";${value}")
    endif()
  endforeach()
  # $<LINK_ONLY:x>, $<TARGET_OBJECTS:x>, $<$<CONFIG:Debug>:a::b>: names are between : , and >.
  string(REPLACE "::" "\n" names "${names}")
  string(REGEX REPLACE "[$<>:,]+" ";" names "${names}")
  string(REPLACE "\n" "::" names "${names}")
  list(REMOVE_DUPLICATES names)
  set(found "")
  foreach(name IN LISTS names)
    if(name AND TARGET "${name}")
      get_target_property(aliased ${name} ALIASED_TARGET)
      if(aliased)
        set(name "${aliased}")
      endif()
      list(APPEND found "${name}")
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# _frontload_linked_objects(<result> <target>...): sets `result` to the targets of this build whose
# objects come into the given ones, these included.
#
# There may be thousands of libraries, and each is examined once: a variable marks the seen ones,
# and the targets that each names are kept.
function(_frontload_linked_objects result)
  set(found "")
  set(level ${ARGN})
  foreach(target IN LISTS level)
    set("_seen_${target}" ON)
  endforeach()
  while(level)
    list(APPEND found ${level})
    set(next_level "")
    foreach(target IN LISTS level)
      get_property(is_known GLOBAL PROPERTY "_FRONTLOAD_NAMED_BY_${target}" SET)
      if(NOT is_known)
        _frontload_named_targets(named ${target})
        set_property(GLOBAL PROPERTY "_FRONTLOAD_NAMED_BY_${target}" "${named}")
      endif()
      get_property(named GLOBAL PROPERTY "_FRONTLOAD_NAMED_BY_${target}")
      foreach(name IN LISTS named)
        if(DEFINED "_seen_${name}")
          continue()
        endif()
        set("_seen_${name}" ON)
        get_target_property(is_imported ${name} IMPORTED)
        get_target_property(type ${name} TYPE)
        if(NOT is_imported AND type MATCHES "^(STATIC|OBJECT|INTERFACE)_LIBRARY$")
          list(APPEND next_level "${name}")
        endif()
      endforeach()
    endforeach()
    set(level "${next_level}")
  endwhile()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# If the file changes, all code of the target is compiled again.
function(_frontload_compile_again_with target file)
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  get_target_property(binary_dir ${target} BINARY_DIR)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${source_dir}" NORMALIZE OUTPUT_VARIABLE path)
    if(NOT EXISTS "${path}")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${binary_dir}" NORMALIZE OUTPUT_VARIABLE path)
    endif()
    set_property(SOURCE "${path}" TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS "${file}")
  endforeach()
endfunction()

# _frontload_compile_linked(<target> <kind> <what> <file> <again> <when> <options>): compiles all
# code that is linked into the target with these options, which are made of a file.
#
#   kind   the word of frontload_target that asks for it, and `what` is the name of such files
#   again  the file after whose change to compile again; empty while recording, when several targets
#          may share a library whatever their files are
#   when   a condition of a generator expression, with @ for each language
function(_frontload_compile_linked target kind what file again when options)
  _frontload_linked_objects(linked ${target})
  foreach(one IN LISTS linked)
    get_target_property(type ${one} TYPE)
    get_target_property(other ${one} FRONTLOAD_${kind}_COMPILED)
    if(type STREQUAL "INTERFACE_LIBRARY" OR other STREQUAL file)
      continue()
    elseif(other AND again)
      _frontload_fail("${one} is linked into targets with two ${what}, ${other} and ${file}."
        "It is compiled only once: leave ${kind} out of all these calls of frontload_target but one.")
    endif()
    set_target_properties(${one} PROPERTIES FRONTLOAD_${kind}_COMPILED "${file}")
    if(other)
      continue()
    endif()
    foreach(language IN ITEMS C CXX OBJC OBJCXX)
      string(REPLACE "@" ${language} condition "${when}")
      target_compile_options(${one} PRIVATE "$<$<${condition}>:${options}>")
    endforeach()
    if(again)
      _frontload_compile_again_with(${one} "${again}")
    endif()
  endforeach()
endfunction()

# INSTRUMENT, in mode record: the target and what is linked into it record themselves, for machines
# that do not allow ptrace.
function(_frontload_instrument target)
  get_target_property(is_wanted ${target} FRONTLOAD_INSTRUMENT)
  if(NOT is_wanted)
    return()
  endif()
  _frontload_compile_linked(${target} GCC_INSTRUMENT "" ON ""
    COMPILE_LANG_AND_ID:@,GNU -finstrument-functions)
  # clang can leave out inlined functions, which do not exist in the program.
  _frontload_compile_linked(${target} CLANG_INSTRUMENT "" ON ""
    COMPILE_LANG_AND_ID:@,Clang,IntelLLVM -finstrument-functions-after-inlining)
  get_property(library GLOBAL PROPERTY FRONTLOAD_RT_LIBRARY)
  # Not by target_link_libraries, whose calls for a target must all have a keyword or none.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES "${library}")
endfunction()
