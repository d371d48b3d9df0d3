# What ctest has to know of tests in order to run several at once: which of them exclude each other,
# and which take long. A name that is no test is an error, so that none is left over from a file that
# was renamed.

# Tests that need the same thing of the machine do not run at the same time.
function(exclude_each_other thing)
  foreach(name IN LISTS ARGN)
    if(NOT TEST ${name})
      message(FATAL_ERROR "properties.cmake: ${name}: there is no such test")
    endif()
    set_property(TEST ${name} APPEND PROPERTY RESOURCE_LOCK ${thing})
  endforeach()
endfunction()

# Tests that take about so many seconds, those that take longest begin. After its first run ctest
# goes by what it has measured.
function(takes seconds)
  foreach(name IN LISTS ARGN)
    if(NOT TEST ${name})
      message(FATAL_ERROR "properties.cmake: ${name}: there is no such test")
    endif()
    set_property(TEST ${name} PROPERTY COST ${seconds})
  endforeach()
endfunction()

# Loop devices, the kernel's throttle for them, and mounts.
exclude_each_other(devices guarantee/test_measured python/test_bench python/test_measure_device
  python/test_measure_pagecache)
# Of hardware breakpoints a processor has four.
exclude_each_other(breakpoints python/test_faults_verb python/test_info_verb
  report/test_report_verb)
# A browser is several large processes, and pages that take too long to draw have failed.
exclude_each_other(browser docs/test_in_browser report/test_page_in_browser)
# They install and pack from the same build folders.
exclude_each_other(packages packaging/test_after_the_link packaging/test_debian
  packaging/test_install_tree packaging/test_pkg_config packaging/test_python_package
  packaging/test_recipes)

takes(120 matrix/test_cpp random_fronts/test_random_fronts)
# Of the packages one after the other, so that the first one begins early.
takes(50 packaging/test_after_the_link packaging/test_debian packaging/test_install_tree
  packaging/test_pkg_config packaging/test_python_package packaging/test_recipes)
takes(40 guarantee/test_generated guarantee/test_real_programs matrix/test_judging
  python/test_auto python/test_bench)
takes(30 examples/test_bazel examples/test_cargo)
takes(20 cmake/test_generators cmake/test_targets examples/test_autotools
  examples/test_third_party link/test_any_lld matrix/test_rust order/test_order_bfd
  pgo/test_cmake_mode pgo/test_shared_run python/test_faults_verb python/test_measure_device
  report/test_page_in_browser report/test_report_verb)
takes(10 cmake/test_arguments cmake/test_manners cmake/test_package cmake/test_training
  docs/test_in_browser docs/test_links docs/test_quick_start link/test_command_line link/test_tools
  order/test_order_gold pgo/test_final_cold_parts pgo/test_recipe prefetch/test_program
  prefetch/test_run python/test_import_tools python/test_init_verb python/test_measure
  python/test_measure_pagecache python/test_record_verb python/test_relocations
  runtime/test_runtime_threads tracer/test_tracer_order wrapper/test_wrapper_programs)

# What is in memory is looked at a moment after it was read, and some kernels soon take back what
# nobody has touched since: where the machine is crowded, that moment is long.
foreach(name prefetch/test_front_prefetch prefetch/test_library prefetch/test_program
    prefetch/test_run)
  set_tests_properties(${name} PROPERTIES PROCESSORS 2)
endforeach()

# They keep two processors busy by themselves.
foreach(name guarantee/test_generated guarantee/test_real_programs guarantee/test_seconds
    random_fronts/test_random_fronts)
  set_tests_properties(${name} PROPERTIES PROCESSORS 2)
endforeach()
