# Run by cpack when all components are installed and no package is made: adds the files of Debian's
# policy to each package. Times come from SOURCE_DATE_EPOCH, if that is set.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)
function(compress)
  execute_process(COMMAND ${gzip} -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  set(doc ${usr}/share/doc/${package})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright COPYONLY)
  file(WRITE ${doc}/changelog "frontload (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See the history of the source for what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${doc}/changelog)
  # The file copyright has the licence.
  file(REMOVE ${doc}/LICENSE)
  file(GLOB pages ${usr}/share/man/man*/*.[0-9])
  if(pages)
    compress(${pages})
  endif()
  # Their debug information names the folder of the build.
  file(GLOB libraries ${usr}/lib/*.a ${usr}/lib/*/*.a)
  foreach(library ${libraries})
    if(NOT IS_SYMLINK ${library})
      execute_process(COMMAND ${strip} --strip-debug --enable-deterministic-archives
        --remove-section=.comment ${library} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  file(GLOB overrides ${CMAKE_CURRENT_LIST_DIR}/${package}.lintian-overrides)
  if(overrides)
    configure_file(${overrides} ${usr}/share/lintian/overrides/${package} COPYONLY)
  endif()
endforeach()
