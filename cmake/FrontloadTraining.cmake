# The targets that record: frontload-train-<target>, and frontload-train for all of them.
#
# They are like a project's tests: no other target builds them, and they run on each request. They
# leave the profile in the source tree alone if it would not change.

# Called once the whole project is known: makes the target frontload-train. Without anything to
# train, it reports why.
function(_frontload_make_train_target)
  get_property(targets GLOBAL PROPERTY FRONTLOAD_TARGETS_TO_TRAIN)
  if(targets)
    add_custom_target(frontload-train)
    add_dependencies(frontload-train ${targets})
    return()
  endif()
  set(problem "FRONTLOAD is \"${FRONTLOAD}\" in this build folder, and no target can be trained")
  set(remedy "add TRAIN COMMAND <command> to a call of frontload_target, and configure with \
-DFRONTLOAD=record")
  add_custom_target(frontload-train
    COMMAND "${CMAKE_COMMAND}" -E echo "frontload-train: error: ${problem}"
    COMMAND "${CMAKE_COMMAND}" -E echo "frontload-train: note: ${remedy}"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
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

# Makes the target frontload-train-<target>, from the variables of _frontload_parse.
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
  set(ready "")
  if(NOT READY STREQUAL "")
    set(ready ";${READY}")
  endif()
  set(commands "")
  foreach(i RANGE 1 ${COMMANDS})
    foreach(kind IN LISTS kinds)
      _frontload_counting(counting ${kind} ${target})
      # As text, because list(APPEND) would misread escaped semicolons.
      string(APPEND commands
        ";COMMAND;${counting}${record};${kind}${ready};-o;${traces};--;${COMMAND_${i}}")
    endforeach()
  endforeach()
  set(map "")
  if(DATA AND NOT OWN_LINKER)
    set(map --map "$<TARGET_FILE:${target}>.map")
  endif()
  _frontload_keep_counts(keep_counts ${target})
  _frontload_keep_trained_blocks(keep_blocks ${target} "${trained}")
  add_custom_target(frontload-train-${target}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${traces}" "${folder}/counts"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}/trained"
    COMMAND "${bin}/frontload" profile --program "$<TARGET_FILE_NAME:${target}>" "${traces}" ${map}
      -o "${trained}"
    COMMAND "${CMAKE_COMMAND}" "-DTRAINED=${trained}" "-DPROFILE=${profile}" "-DTARGET=${target}"
      -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scripts/KeepProfile.cmake"
    ${keep_blocks} ${keep_counts}
    WORKING_DIRECTORY "${WORKING_DIRECTORY}"
    COMMENT "Recording how ${target} starts"
    VERBATIM)
  get_property(built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  add_dependencies(frontload-train-${target} ${target} ${built_here})
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_TARGETS_TO_TRAIN frontload-train-${target})
endfunction()
