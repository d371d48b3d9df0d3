# The cache variable FRONTLOAD: what this build folder does with startup profiles.
#
#   off     programs are built as if frontload_target had not been called
#   record  programs are linked so that they can be recorded, and frontload-train records them
#   use     programs are linked with the startup profiles that are in the source tree
#   renew   as use, and frontload-renew records these programs and reports old profiles
#
# Compile options are the same in record, use and renew, so one folder can switch between them, and
# only links again.

set(FRONTLOAD use CACHE STRING "What to do with startup profiles: off, record (train), use or renew")
set_property(CACHE FRONTLOAD PROPERTY STRINGS off record use renew)

# Stops the configuration: reports what is wrong with a call or a setting, and the remedy.
function(_frontload_fail problem remedy)
  message(FATAL_ERROR "${problem}\n  ${remedy}")
endfunction()

# Sets `result` to the mode, or stops if the mode is impossible. Programs are built in the mode
# renew as in use, so that is also `use`; see _frontload_renews.
function(_frontload_mode result)
  if(NOT FRONTLOAD MATCHES "^(off|record|use|renew)$")
    _frontload_fail("FRONTLOAD is \"${FRONTLOAD}\", which is not a mode."
      "Configure with -DFRONTLOAD=off, -DFRONTLOAD=record, -DFRONTLOAD=use or -DFRONTLOAD=renew.")
  endif()
  if(FRONTLOAD MATCHES "^(record|renew)$" AND CMAKE_CROSSCOMPILING)
    _frontload_fail("FRONTLOAD is \"${FRONTLOAD}\" in a cross build, whose programs do not run here."
      "Train in a native build, and link with its profile here: -DFRONTLOAD=use.")
  endif()
  string(REPLACE renew use mode "${FRONTLOAD}")
  set(${result} "${mode}" PARENT_SCOPE)
endfunction()

# Sets `result` to whether profiles can be renewed in this build folder.
function(_frontload_renews result)
  if(FRONTLOAD STREQUAL "renew")
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# find_package then reports a wrong mode, before the first target that uses it.
_frontload_mode(_frontload_checked)
unset(_frontload_checked)
