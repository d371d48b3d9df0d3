# PGO: one training run for the compiler's profile and the startup profile.
#
#   record  the objects of the target are compiled with -fprofile-generate, and while frontload-train
#           records how the program starts, the program itself counts. The counts go to PGO_PROFILE:
#           <target>.profdata for clang, the folder <target>.gcda for gcc, beside the startup profile
#   use     the objects are compiled with that profile, which separates cold code from the rest, and
#           linked with the startup profile. frontload-train records this program once more: with
#           other counts compilers inline and split differently, and only a run of the shipped
#           program knows exactly. This compiles nothing, and the next build only links
#
# PGO needs different compile options in record and use, so each change of the mode compiles again.
# A profile that does not fit the sources is a warning, not an error, even with -Werror: sources
# change, and their profiles lag behind.

# Remembers the arguments of frontload_target.
function(_frontload_keep_pgo target pgo_profile profile)
  _frontload_pgo_kind(kind ${target})
  if(pgo_profile STREQUAL "")
    string(REGEX REPLACE "\\.startup$" "" stem "${profile}")
    if(kind STREQUAL "clang")
      set(pgo_profile "${stem}.profdata")
    else()
      set(pgo_profile "${stem}.gcda")
    endif()
  endif()
  cmake_path(ABSOLUTE_PATH pgo_profile BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  set_target_properties(${target} PROPERTIES
    FRONTLOAD_PGO "${kind}" FRONTLOAD_PGO_PROFILE "${pgo_profile}")
endfunction()

# Sets `result` to the compiler of the PGO, clang or gcc, or stops: one profile cannot serve both.
function(_frontload_pgo_kind result target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(kinds "")
  foreach(language IN ITEMS C CXX OBJC OBJCXX)
    if(NOT language IN_LIST languages)
      continue()
    elseif(CMAKE_${language}_COMPILER_ID STREQUAL "Clang")
      list(APPEND kinds clang)
    elseif(CMAKE_${language}_COMPILER_ID STREQUAL "GNU"
           AND CMAKE_${language}_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      list(APPEND kinds gcc)
    else()
      list(APPEND kinds none)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES kinds)
  if(NOT kinds MATCHES "^(clang|gcc)$")
    _frontload_fail("frontload_target(${target}): PGO does not work with the compilers of this project."
      "It needs clang, or gcc 12 or newer, and the same one for all languages: leave PGO out.")
  endif()
  set(${result} "${kinds}" PARENT_SCOPE)
endfunction()

# Called when the whole project is known: sets options of the target and of all code linked into it.
function(_frontload_add_pgo target)
  get_target_property(kind ${target} FRONTLOAD_PGO)
  if(NOT kind)
    return()
  endif()
  get_target_property(profile ${target} FRONTLOAD_PGO_PROFILE)
  set(again "")
  if(FRONTLOAD STREQUAL "record")
    set(options -fprofile-generate)
    target_link_options(${target} PRIVATE -fprofile-generate)
  else()
    if(NOT EXISTS "${profile}")
      message(WARNING "${profile}: there is no PGO profile yet: ${target} is compiled without one.\n"
        "  Record one with -DFRONTLOAD=record and the target frontload-train, then configure again.")
      return()
    endif()
    _frontload_pgo_use_options(options ${kind} "${profile}")
    _frontload_own_option(apart "-zkeep-text-section-prefix")
    target_link_options(${target} PRIVATE "${apart}")
    set(again "${profile}")
    if(kind STREQUAL "gcc")
      string(APPEND again "/contents")
    endif()
  endif()
  _frontload_compile_linked(${target} PGO "PGO profiles" "${profile}" "${again}"
    COMPILE_LANGUAGE:@ "${options}")
endfunction()

function(_frontload_pgo_use_options result kind profile)
  if(kind STREQUAL "clang")
    set(options "-fprofile-use=${profile}" -fsplit-machine-functions
      -Wno-profile-instr-unprofiled -Wno-error=profile-instr-out-of-date -Wno-error=backend-plugin)
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      list(REMOVE_ITEM options -fsplit-machine-functions)
    endif()
  else()
    # gcc looks for counts by the name of the object, which must not contain the folder. That is the
    # real folder even through a symbolic link, unless the build runs there and $PWD has the link.
    set(folder "${CMAKE_BINARY_DIR}")
    if(NOT "$ENV{PWD}" STREQUAL folder)
      file(REAL_PATH "${folder}" folder)
    endif()
    set(options "-fprofile-use=${profile}" "-fprofile-prefix-path=${folder}"
      -freorder-functions -freorder-blocks-and-partition -Wno-missing-profile
      -Wno-error=coverage-mismatch)
  endif()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()

# Sets `result` to the compiler whose PGO a training of the target counts for; empty if none.
function(_frontload_counted_kind result target)
  get_target_property(pgo ${target} FRONTLOAD_PGO)
  if(NOT pgo OR NOT FRONTLOAD STREQUAL "record")
    set(pgo "")
  endif()
  set(${result} "${pgo}" PARENT_SCOPE)
endfunction()

# Sets `result` to the prefix of a training command recorded by `kind`, which sets the place of the
# program's counts. Runs of the slow recorder are not counted: they only repeat the others.
function(_frontload_counting result kind target)
  set(${result} "" PARENT_SCOPE)
  _frontload_counted_kind(pgo ${target})
  if(NOT pgo)
    return()
  endif()
  _frontload_folder(folder ${target})
  set(counts "${folder}/counts")
  if(NOT kind STREQUAL "--with=trace")
    string(APPEND counts "/not")
  endif()
  set(${result} "${CMAKE_COMMAND};-E;env;GCOV_PREFIX=${counts}/gcc;\
LLVM_PROFILE_FILE=${counts}/clang/%m.%p.profraw;--;" PARENT_SCOPE)
endfunction()

# Sets `result` to the last command of a training, which brings the counts to the source tree; empty
# without PGO.
function(_frontload_keep_counts result target)
  set(${result} "" PARENT_SCOPE)
  _frontload_counted_kind(pgo ${target})
  if(NOT pgo)
    return()
  endif()
  get_target_property(profile ${target} FRONTLOAD_PGO_PROFILE)
  _frontload_folder(folder ${target})
  set(tool "")
  if(pgo STREQUAL "clang")
    _frontload_find_profdata()
    set(tool "${FRONTLOAD_LLVM_PROFDATA}")
  endif()
  set(${result} COMMAND "${CMAKE_COMMAND}" "-DKIND=${pgo}" "-DCOUNTS=${folder}/counts/${pgo}"
    "-DTOOL=${tool}" "-DFOLDER=${CMAKE_BINARY_DIR}" "-DPROFILE=${profile}" "-DTARGET=${target}"
    -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scripts/KeepCounts.cmake" PARENT_SCOPE)
endfunction()

# The llvm-profdata that can read this clang's profiles: beside it, or of its version.
function(_frontload_find_profdata)
  foreach(language IN ITEMS CXX C)
    if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang")
      file(REAL_PATH "${CMAKE_${language}_COMPILER}" compiler)
      cmake_path(GET compiler PARENT_PATH beside)
      string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
    endif()
  endforeach()
  find_program(FRONTLOAD_LLVM_PROFDATA
    NAMES llvm-profdata llvm-profdata-${major} HINTS "${beside}" NO_CMAKE_FIND_ROOT_PATH
    DOC "The llvm-profdata of the clang that compiles, for frontload_target(... PGO)")
  if(NOT FRONTLOAD_LLVM_PROFDATA)
    _frontload_fail("llvm-profdata was not found. It merges the counts of clang's PGO."
      "Install llvm-${major}, or set -DFRONTLOAD_LLVM_PROFDATA=<path>.")
  endif()
endfunction()
