# The arguments of frontload_target, read into variables.
#
# This does not use cmake_parse_arguments: COMMAND may come several times, each with its own
# WORKLOAD, and a command's arguments must reach the shell as they were written, including empty
# ones and semicolons.

# Stops the configuration because a call is wrong, and shows the right form.
function(_frontload_misuse target problem)
  _frontload_fail("frontload_target(${target}): ${problem}" "frontload_target(<target>
      [TRAIN COMMAND <command> [<argument>...] [WORKLOAD <name> [WEIGHT <n>]]
            [COMMAND ...]... [WORKING_DIRECTORY <folder>]]
      [PROFILE <file>] [UNTIL <symbol>] [READY <option>...] [DATA] [BLOCKS]
      [INSTRUMENT]
      [PREFETCH] [MIN_MATCH <percent>] [PGO [PGO_PROFILE <file or folder>]])")
endfunction()

# Reads the arguments of the calling function, whose first is `target`, and sets
#   PROFILE UNTIL MIN_MATCH WORKING_DIRECTORY PGO_PROFILE    values, or empty
#   READY                                        options of frontload record, or empty
#   DATA BLOCKS INSTRUMENT PREFETCH PGO          ON or OFF; BLOCKS also sets DATA
#   COMMANDS                                     their number, and of each <i> from 1 on
#   PROGRAM_<i> ARGUMENTS_<i>                    what to run; a list, as a custom command takes it
#   WORKLOAD_<i> WEIGHT_<i>                      a name and a number, or empty
#
# A macro, because only ARGV0, ARGV1 and so on keep the arguments apart.
macro(_frontload_parse)
  set(values PROFILE UNTIL MIN_MATCH WORKING_DIRECTORY PGO_PROFILE)
  set(options DATA BLOCKS INSTRUMENT PREFETCH PGO)
  foreach(name IN LISTS values)
    set(${name} "")
  endforeach()
  foreach(name IN LISTS options)
    set(${name} OFF)
  endforeach()
  set(READY "")
  set(COMMANDS 0)
  set(trains OFF)
  set(given "")  # the keywords so far
  set(wants "")  # the keyword whose value comes next
  set(lists "^(ARGUMENTS|READY)$")  # whose values end with the next keyword

  set(i 1)
  while(i LESS ARGC)
    set(argument "${ARGV${i}}")
    math(EXPR i "${i} + 1")
    set(is_keyword OFF)
    if(argument IN_LIST values OR argument IN_LIST options
       OR argument MATCHES "^(TRAIN|COMMAND|WORKLOAD|WEIGHT|READY)$")
      set(is_keyword ON)
    endif()
    if(wants MATCHES "${lists}" AND NOT is_keyword)
      string(REPLACE ";" "\\;" argument "${argument}")
      if(argument STREQUAL "")
        set(argument "$<1:>")  # An empty element of a list would be lost.
      endif()
      string(REPLACE ARGUMENTS ARGUMENTS_${COMMANDS} name "${wants}")
      list(APPEND ${name} "${argument}")
    elseif(wants AND NOT wants MATCHES "${lists}")
      if(is_keyword OR argument STREQUAL "")
        string(REPLACE PROGRAM COMMAND wants "${wants}")
        _frontload_misuse("${target}" "${wants} has no value.")
      endif()
      if(wants MATCHES "^(PROGRAM|WORKLOAD|WEIGHT)$")
        set(${wants}_${COMMANDS} "${argument}")
      else()
        set(${wants} "${argument}")
      endif()
      if(wants STREQUAL "PROGRAM")
        set(wants ARGUMENTS)
      else()
        set(wants "")
      endif()
    elseif(NOT is_keyword)
      _frontload_misuse("${target}" "unknown argument \"${argument}\".")
    else()
      if(argument IN_LIST given AND NOT argument MATCHES "^(COMMAND|WORKLOAD|WEIGHT)$")
        _frontload_misuse("${target}" "${argument} is given twice.")
      endif()
      list(APPEND given "${argument}")
      if(argument STREQUAL "TRAIN")
        set(trains ON)
        set(wants "")
      elseif(argument STREQUAL "COMMAND")
        if(NOT trains)
          _frontload_misuse("${target}" "COMMAND needs TRAIN before it.")
        endif()
        math(EXPR COMMANDS "${COMMANDS} + 1")
        foreach(name IN ITEMS ARGUMENTS WORKLOAD WEIGHT)
          set(${name}_${COMMANDS} "")
        endforeach()
        set(wants PROGRAM)
      elseif(argument IN_LIST options)
        set(${argument} ON)
        set(wants "")
      elseif(argument MATCHES "^(WORKLOAD|WEIGHT)$" AND COMMANDS EQUAL 0)
        _frontload_misuse("${target}" "${argument} needs a COMMAND before it.")
      else()
        set(wants "${argument}")
      endif()
    endif()
  endwhile()
  if(wants AND NOT wants MATCHES "${lists}")
    string(REPLACE PROGRAM COMMAND wants "${wants}")
    _frontload_misuse("${target}" "${wants} has no value.")
  endif()
  if(trains AND COMMANDS EQUAL 0)
    _frontload_misuse("${target}" "TRAIN has no COMMAND.")
  endif()
  if("READY" IN_LIST given AND READY STREQUAL "")
    _frontload_misuse("${target}" "READY has no value.")
  endif()
  if(BLOCKS)
    set(DATA ON)
  endif()
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
  if(PGO AND INSTRUMENT)
    _frontload_fail("frontload_target(${target}): PGO cannot be combined with INSTRUMENT."
      "One program cannot count and record itself: leave INSTRUMENT out, so that it is traced.")
  endif()
  if(PGO_PROFILE AND NOT PGO)
    _frontload_misuse("${target}" "PGO_PROFILE needs PGO.")
  endif()
  if(COMMANDS EQUAL 0)
    return()
  endif()
  foreach(i RANGE 1 ${COMMANDS})
    if(NOT WORKLOAD_${i} STREQUAL "" AND NOT WORKLOAD_${i} MATCHES "^[^./][^/]*$")
      _frontload_fail("frontload_target(${target}): WORKLOAD is \"${WORKLOAD_${i}}\"."
        "It names a folder of traces: use no /, and no dot at the beginning.")
    endif()
    if(NOT WEIGHT_${i} STREQUAL "" AND NOT WEIGHT_${i} MATCHES "^[1-9][0-9]*$")
      _frontload_fail("frontload_target(${target}): WEIGHT is \"${WEIGHT_${i}}\"."
        "It must be a whole number from 1 up: each run counts that many times.")
    endif()
    if(WEIGHT_${i} AND WORKLOAD_${i} STREQUAL "")
      _frontload_fail("frontload_target(${target}): a COMMAND has a WEIGHT but no WORKLOAD."
        "Weights belong to workloads: WORKLOAD <name> WEIGHT ${WEIGHT_${i}}.")
    endif()
    set(name "${WORKLOAD_${i}}")
    if(WEIGHT_${i})
      if(DEFINED weight_of_${name} AND NOT weight_of_${name} EQUAL WEIGHT_${i})
        _frontload_fail("frontload_target(${target}): WORKLOAD ${name} has two weights."
          "Give it one weight, at any of its commands.")
      endif()
      set(weight_of_${name} "${WEIGHT_${i}}")
    endif()
  endforeach()
endfunction()
