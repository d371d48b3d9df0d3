# The cache variable FRONTLOAD: what this build folder does with startup profiles.
#
#   off     programs are built as if frontload_target had not been called
#   record  programs are linked so that they can be recorded, and frontload-train does that
#   use     programs are linked with the startup profiles that are in the source tree
#
# Compile options are the same in record and use, so one folder can switch between them, and only
# links again.

set(FRONTLOAD use CACHE STRING "What to do with startup profiles: off, record (train) or use")
set_property(CACHE FRONTLOAD PROPERTY STRINGS off record use)

# Stops the configuration, and says what is wrong with a call or a setting and what to do.
function(_frontload_fail problem remedy)
  message(FATAL_ERROR "${problem}\n  ${remedy}")
endfunction()

# Sets `result` to the mode, or stops if the mode is impossible.
function(_frontload_mode result)
  if(NOT FRONTLOAD MATCHES "^(off|record|use)$")
    _frontload_fail("FRONTLOAD is \"${FRONTLOAD}\", which is not a mode."
      "Configure with -DFRONTLOAD=off, -DFRONTLOAD=record or -DFRONTLOAD=use.")
  endif()
  if(FRONTLOAD STREQUAL "record" AND CMAKE_CROSSCOMPILING)
    _frontload_fail("FRONTLOAD is \"record\" in a cross build, whose programs do not run here."
      "Train in a native build, and link with its profile here: -DFRONTLOAD=use.")
  endif()
  set(${result} "${FRONTLOAD}" PARENT_SCOPE)
endfunction()

# So find_package reports a wrong mode, not just the first target that asks for it.
_frontload_mode(_frontload_checked)
unset(_frontload_checked)
