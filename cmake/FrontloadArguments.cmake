# The arguments of frontload_target, read into variables.

# Stops the configuration because a call is wrong, and shows the right form.
function(_frontload_misuse target problem)
  _frontload_fail("frontload_target(${target}): ${problem}" "frontload_target(<target>
      [TRAIN COMMAND <command> [<argument>...] [COMMAND ...]... [WORKING_DIRECTORY <folder>]]
      [PROFILE <file>] [UNTIL <symbol>] [READY <option>...] [DATA] [BLOCKS]
      [INSTRUMENT] [OWN_LINKER]
      [PREFETCH] [MIN_MATCH <percent>] [PGO [PGO_PROFILE <file or folder>]])")
endfunction()

# Reads the arguments of the calling function, whose first is `target`, and sets
#   PROFILE UNTIL MIN_MATCH WORKING_DIRECTORY PGO_PROFILE    values, or empty
#   READY                                        options of frontload record, or empty
#   DATA BLOCKS INSTRUMENT OWN_LINKER PREFETCH PGO    ON or OFF; BLOCKS also sets DATA
#   COMMANDS                                     their number, and of each <i> from 1 on
#   COMMAND_<i>                                  what to run; a list, as a custom command takes it
#
# A macro, because PARSE_ARGV reads the arguments of the calling function.
macro(_frontload_parse)
  set(values PROFILE UNTIL MIN_MATCH WORKING_DIRECTORY PGO_PROFILE)
  set(options DATA BLOCKS INSTRUMENT OWN_LINKER PREFETCH PGO)
  cmake_parse_arguments(PARSE_ARGV 1 given "${options}" "${values}" "READY;TRAIN")
  if(given_KEYWORDS_MISSING_VALUES)
    list(GET given_KEYWORDS_MISSING_VALUES 0 word)
    _frontload_misuse("${target}" "${word} has no value.")
  elseif(DEFINED given_UNPARSED_ARGUMENTS)
    list(GET given_UNPARSED_ARGUMENTS 0 word)
    _frontload_misuse("${target}" "unknown argument \"${word}\".")
  elseif("${given_TRAIN};" MATCHES "(^|;)COMMAND;(COMMAND;|$)")
    _frontload_misuse("${target}" "COMMAND has no value.")
  endif()
  foreach(name IN LISTS values options)
    set(${name} "${given_${name}}")
  endforeach()
  if(BLOCKS)
    set(DATA ON)
  endif()
  set(READY "${given_READY}")
  set(COMMANDS 0)
  foreach(word IN LISTS given_TRAIN)
    if(word STREQUAL "COMMAND")
      math(EXPR COMMANDS "${COMMANDS} + 1")
      set(COMMAND_${COMMANDS} "")
      continue()
    elseif(COMMANDS EQUAL 0)
      _frontload_misuse("${target}" "TRAIN has no COMMAND.")
    endif()
    if(COMMAND_${COMMANDS} STREQUAL "")
      _frontload_program(word "${word}")
    endif()
    # An empty element of a list would be lost, and a semicolon would begin another.
    string(REPLACE ";" "\\;" word "${word}")
    if(word STREQUAL "")
      set(word "$<1:>")
    endif()
    list(APPEND COMMAND_${COMMANDS} "${word}")
  endforeach()
  _frontload_check_values("${target}")
endmacro()

# Checks the variables of _frontload_parse before they are used.
function(_frontload_check_values target)
  if(NOT MIN_MATCH STREQUAL ""
     AND NOT (MIN_MATCH MATCHES "^[0-9]+(\\.[0-9]+)?$" AND MIN_MATCH LESS_EQUAL 100))
    _frontload_fail("frontload_target(${target}): MIN_MATCH is \"${MIN_MATCH}\"."
      "It is the percentage of the profile's names that must be found: 0 to 100.")
  endif()
  if(INSTRUMENT AND (DATA OR UNTIL))
    _frontload_fail(
      "frontload_target(${target}): INSTRUMENT cannot be combined with DATA, BLOCKS or UNTIL."
      "An instrumented program ends its startup itself: frontload_startup_done() of <frontload.h>.")
  endif()
  if(BLOCKS AND OWN_LINKER)
    _frontload_fail("frontload_target(${target}): BLOCKS cannot be combined with OWN_LINKER."
      "Only ld.frontload places basic blocks.")
  endif()
  if(PGO AND INSTRUMENT)
    _frontload_fail("frontload_target(${target}): PGO cannot be combined with INSTRUMENT."
      "One program cannot count and record itself: leave INSTRUMENT out, so that it is traced.")
  endif()
  if(INSTRUMENT AND NOT COMMANDS)
    _frontload_fail("frontload_target(${target}): INSTRUMENT needs TRAIN."
      "It says how the commands of TRAIN are recorded.")
  endif()
  if(PGO_PROFILE AND NOT PGO)
    _frontload_misuse("${target}" "PGO_PROFILE needs PGO.")
  endif()
endfunction()
