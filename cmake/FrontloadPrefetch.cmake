# PREFETCH: a program that asks for its front needs libfrontload-prefetch.so.1 where the loader
# finds it.
#
# In the build tree, the rpath leads to the folder of Frontload itself. For an installed program,
# the library goes beside the project's other libraries, to FRONTLOAD_PREFETCH_DESTINATION, and the
# program gets an rpath that leads there from CMAKE_INSTALL_BINDIR. A project that installs its
# programs elsewhere sets their INSTALL_RPATH itself. A distribution that has the library in a
# package of its own sets FRONTLOAD_PREFETCH_DESTINATION to nothing.

# Sets `result` to whether the library can be linked, and warns if it cannot: it may be for another
# processor.
function(_frontload_can_prefetch result target)
  get_property(library GLOBAL PROPERTY FRONTLOAD_PREFETCH_LIBRARY)
  get_property(processor GLOBAL PROPERTY FRONTLOAD_PROCESSOR)
  get_property(is_built_here GLOBAL PROPERTY FRONTLOAD_BUILT_HERE)
  set(problem "")
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL processor)
    set(problem
      "it belongs to a Frontload for ${processor}, and this build is for ${CMAKE_SYSTEM_PROCESSOR}")
  elseif(NOT is_built_here AND NOT EXISTS "${library}")
    set(problem "${library} does not exist")
  endif()
  if(problem)
    message(WARNING "frontload_target(${target}): PREFETCH is left out, because "
      "libfrontload-prefetch cannot be used: ${problem}.\n"
      "  The program still has its front: start it with frontload-run to prefetch that.")
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# Called in the folder that calls frontload_target: installs the library, once for all of its
# programs.
function(_frontload_install_prefetch)
  get_property(library GLOBAL PROPERTY FRONTLOAD_PREFETCH_LIBRARY)
  if(NOT DEFINED FRONTLOAD_PREFETCH_DESTINATION)
    if(NOT CMAKE_INSTALL_LIBDIR)
      set(CMAKE_INSTALL_LIBDIR lib)
    endif()
    set(FRONTLOAD_PREFETCH_DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
  set(FRONTLOAD_PREFETCH_DESTINATION "${FRONTLOAD_PREFETCH_DESTINATION}" PARENT_SCOPE)
  get_property(installed GLOBAL PROPERTY FRONTLOAD_PREFETCH_INSTALLED)
  if(FRONTLOAD_PREFETCH_DESTINATION STREQUAL "" OR FRONTLOAD_PREFETCH_DESTINATION IN_LIST installed)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY FRONTLOAD_PREFETCH_INSTALLED
    "${FRONTLOAD_PREFETCH_DESTINATION}")
  set(component "")
  if(FRONTLOAD_PREFETCH_COMPONENT)
    set(component COMPONENT "${FRONTLOAD_PREFETCH_COMPONENT}")
  endif()
  install(FILES "${library}" DESTINATION "${FRONTLOAD_PREFETCH_DESTINATION}" ${component})
endfunction()

# Called when the whole project is known: adds to the program's rpath.
function(_frontload_add_prefetch_rpath target)
  get_property(library GLOBAL PROPERTY FRONTLOAD_PREFETCH_LIBRARY)
  cmake_path(GET library PARENT_PATH folder)
  get_target_property(destination ${target} FRONTLOAD_PREFETCH_DESTINATION)
  get_target_property(bin ${target} FRONTLOAD_INSTALL_BINDIR)
  get_target_property(link_options ${target} LINK_OPTIONS)
  if("${link_options} ${CMAKE_EXE_LINKER_FLAGS}" MATCHES "(^|[ ;])-static(-pie)?($|[ ;])")
    return()  # It has the library inside, and glibc's static-pie crashes with an rpath.
  endif()
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH "${folder}")
  if(destination STREQUAL "")
    return()
  endif()
  if(IS_ABSOLUTE "${destination}" OR IS_ABSOLUTE "${bin}")
    cmake_path(ABSOLUTE_PATH destination BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
    set(rpath "${destination}")
  else()
    file(RELATIVE_PATH rpath "/${bin}" "/${destination}")
    set(rpath "$ORIGIN/${rpath}")
  endif()
  get_target_property(present ${target} INSTALL_RPATH)
  if(NOT rpath IN_LIST present)
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "${rpath}")
  endif()
  # A program that is never linked again finds the library by the installed rpath in the build tree.
  get_target_property(uses_install_rpath ${target} BUILD_WITH_INSTALL_RPATH)
  if(uses_install_rpath)
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "${folder}")
  endif()
endfunction()
