# The targets that record: frontload-train-<target>, and frontload-train for all of them; in the
# mode renew also frontload-renew-<target> and frontload-renew.
#
# They are like a project's tests: no other target builds them, and they run on each request. They
# leave the profile in the source tree alone if it would not change. A renewal also leaves it alone
# as long as it is right: as long as a start of today, in the program that is linked with it, takes
# about as many faults as a start by the profile.
set(FRONTLOAD_RENEW_COVERAGE 90 CACHE STRING
  "A profile is renewed if less than this percentage of what starts touch lies in the front")
option(FRONTLOAD_RENEW_ASIDE
  "Write renewed profiles beside the old ones, as <profile>.new, and fail" OFF)
set(FRONTLOAD_GENERATION "" CACHE STRING
  "The label under which a renewed profile keeps these runs: a version, build number or date")
mark_as_advanced(FRONTLOAD_RENEW_COVERAGE FRONTLOAD_RENEW_ASIDE FRONTLOAD_GENERATION)

# Called once the whole project is known: makes the targets frontload-train and frontload-renew.
# Without anything to train or to renew, they report why.
function(_frontload_make_train_target)
  foreach(verb IN ITEMS train renew)
    string(REPLACE train record needed "${verb}")
    get_property(targets GLOBAL PROPERTY FRONTLOAD_TARGETS_TO_${verb})
    if(targets)
      add_custom_target(frontload-${verb})
      add_dependencies(frontload-${verb} ${targets})
    else()
      add_custom_target(frontload-${verb}
        COMMAND "${CMAKE_COMMAND}" "-DMODE=${FRONTLOAD}" "-DNEEDED=${needed}" "-DVERB=${verb}"
          "-DFOLDER=${CMAKE_BINARY_DIR}" -P "${_frontload_scripts}/CannotTrain.cmake"
        VERBATIM)
    endif()
  endforeach()
endfunction()

# Sets `result` to `word`, or, if it names an executable target of any folder, to its path.
function(_frontload_program result word)
  if(word MATCHES "^[A-Za-z0-9_.+-]+(::[A-Za-z0-9_.+-]+)*$")
    # The target may come later, so this is decided when the build system is generated.
    set(is_executable "$<STREQUAL:$<TARGET_PROPERTY:${word},TYPE>,EXECUTABLE>")
    string(CONCAT word
      "$<$<TARGET_EXISTS:${word}>:$<${is_executable}:$<TARGET_FILE:${word}>>"
      "$<$<NOT:${is_executable}>:${word}>>$<$<NOT:$<TARGET_EXISTS:${word}>>:${word}>")
  endif()
  set(${result} "${word}" PARENT_SCOPE)
endfunction()

# Sets, from what _frontload_parse found of `target`,
#   folder, traces, trained  the folder of Frontload's files of the target, its traces, and their
#                            profile
#   commands                 for add_custom_target: the recordings
#   inputs                   arguments of frontload profile: the traces, with their weights
#
# A macro, because commands with escaped semicolons do not survive being returned.
macro(_frontload_find_recording)
  get_property(bin GLOBAL PROPERTY FRONTLOAD_BIN_DIR)
  _frontload_folder(folder ${target})
  set(traces "${folder}/traces")
  set(trained "${folder}/trained/$<TARGET_FILE_NAME:${target}>.startup")
  get_target_property(type ${target} TYPE)

  set(record "${bin}/frontload" record)
  if(NOT INSTRUMENT AND NOT type STREQUAL "EXECUTABLE")
    list(APPEND record --module "$<TARGET_FILE_NAME:${target}>")
  endif()
  if(UNTIL)
    list(APPEND record --until "${UNTIL}")
  endif()

  # The exact recorder gives the order of first touches, the slow one the data they need.
  set(kinds --with=trace)
  if(INSTRUMENT)
    set(kinds --with=runtime)
  elseif(DATA)
    list(APPEND kinds --data)
  endif()
  # As text, because list(APPEND) would misread escaped semicolons.
  set(ready "")
  if(NOT READY STREQUAL "")
    set(ready ";${READY}")
  endif()
  set(commands "")
  set(inputs "")
  set(workloads "")
  foreach(i RANGE 1 ${COMMANDS})
    set(workload "${WORKLOAD_${i}}")
    if(workload STREQUAL "")
      set(workload default)
    endif()
    list(APPEND workloads "${workload}")
    if(NOT DEFINED weight_of_${workload} OR NOT WEIGHT_${i} STREQUAL "")
      set(weight_of_${workload} "${WEIGHT_${i}}")
    endif()
    _frontload_program(program "${PROGRAM_${i}}")
    # Appended as text, because list(APPEND) would misread escaped semicolons.
    foreach(kind IN LISTS kinds)
      _frontload_counting(counting ${kind} ${target})
      string(APPEND commands ";COMMAND;${counting}${record};${kind}${ready};-o;${traces}/${workload};--;${program}")
      if(NOT ARGUMENTS_${i} STREQUAL "")
        string(APPEND commands ";${ARGUMENTS_${i}}")
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES workloads)
  foreach(workload IN LISTS workloads)
    set(weight "${weight_of_${workload}}")
    if(weight STREQUAL "")
      set(weight 1)
    endif()
    list(APPEND inputs --weighted-input "${weight},${traces}/${workload}")
  endforeach()
  if(DATA)
    list(APPEND inputs --map "$<TARGET_FILE:${target}>.map")
  endif()
endmacro()

# Makes the target frontload-train-<target>, from the variables of _frontload_parse.
function(_frontload_train target profile)
  _frontload_find_recording()
  _frontload_keep_counts(keep_counts ${target})
  _frontload_keep_trained_blocks(keep_blocks ${target} "${trained}")
  add_custom_target(frontload-train-${target}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${traces}" "${folder}/counts"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}/trained"
    COMMAND "${bin}/frontload" profile --program "$<TARGET_FILE_NAME:${target}>" ${inputs}
      -o "${trained}"
    COMMAND "${CMAKE_COMMAND}" "-DTRAINED=${trained}" "-DPROFILE=${profile}" "-DTARGET=${target}"
      -DTOOL=frontload-train -P "${_frontload_scripts}/KeepProfile.cmake"
    ${keep_blocks} ${keep_counts}
    WORKING_DIRECTORY "${WORKING_DIRECTORY}"
    COMMENT "Recording how ${target} starts"
    VERBATIM)
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  add_dependencies(frontload-train-${target} ${target} ${built_here})
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TARGETS_TO_train frontload-train-${target})
endfunction()

# Makes the target frontload-renew-<target>, from the variables of _frontload_parse.
function(_frontload_renew target profile)
  _frontload_find_recording()
  set(generation "")
  if(NOT FRONTLOAD_GENERATION STREQUAL "")
    set(generation --generation "${FRONTLOAD_GENERATION}")
  endif()
  add_custom_target(frontload-renew-${target}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${traces}"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}/trained"
    COMMAND "${bin}/frontload" profile --program "$<TARGET_FILE_NAME:${target}>" ${inputs}
      ${generation} -o "${trained}"
    COMMAND "${CMAKE_COMMAND}" "-DTRAINED=${trained}" "-DPROFILE=${profile}" "-DTARGET=${target}"
      "-DFRONTLOAD=${bin}/frontload" "-DPROGRAM=$<TARGET_FILE:${target}>"
      "-DMIN_MATCH=${MIN_MATCH}" "-DCOVERAGE=${FRONTLOAD_RENEW_COVERAGE}"
      "-DASIDE=${FRONTLOAD_RENEW_ASIDE}" "-DGENERATION=${FRONTLOAD_GENERATION}"
      -P "${_frontload_scripts}/RenewProfile.cmake"
    WORKING_DIRECTORY "${WORKING_DIRECTORY}"
    COMMENT "Recording whether ${target} still starts as its profile says"
    VERBATIM)
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  add_dependencies(frontload-renew-${target} ${target} ${built_here})
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TARGETS_TO_renew frontload-renew-${target})
endfunction()
