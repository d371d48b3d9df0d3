# The targets that train: frontload-train-<target>, and frontload-train for all of them.
#
# They are like a project's tests: no other target builds them, and they run each time someone asks
# for them. They leave the profile in the source tree alone if it would not change.

# Called once the whole project is known: makes the target frontload-train. If there is nothing to
# train, that target says why.
function(_frontload_make_train_target)
  _frontload_mode(mode)
  get_property(targets GLOBAL PROPERTY FRONTLOAD_TRAINED_TARGETS)
  if(targets)
    add_custom_target(frontload-train)
    add_dependencies(frontload-train ${targets})
  else()
    add_custom_target(frontload-train
      COMMAND "${CMAKE_COMMAND}" "-DMODE=${mode}" "-DFOLDER=${CMAKE_BINARY_DIR}"
        -P "${_frontload_scripts}/CannotTrain.cmake"
      VERBATIM)
  endif()
endfunction()

# Sets `result` to `word`, or, if it names an executable target of any folder, to where that is.
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

# Makes the target frontload-train-<target>, from what _frontload_parse found.
function(_frontload_train target profile)
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

  _frontload_keep_counts(keep_counts ${target})
  add_custom_target(frontload-train-${target}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${traces}" "${folder}/counts"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}/trained"
    COMMAND "${bin}/frontload" profile --program "$<TARGET_FILE_NAME:${target}>" ${inputs}
      -o "${trained}"
    COMMAND "${CMAKE_COMMAND}" "-DTRAINED=${trained}" "-DPROFILE=${profile}" "-DTARGET=${target}"
      -P "${_frontload_scripts}/KeepProfile.cmake"
    ${keep_counts}
    WORKING_DIRECTORY "${WORKING_DIRECTORY}"
    COMMENT "Recording how ${target} starts"
    VERBATIM)
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  add_dependencies(frontload-train-${target} ${target} ${built_here})
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TRAINED_TARGETS frontload-train-${target})
endfunction()
