# The folders of an installation, so that its prefix can be moved and its libraries can be in lib64
# or lib/x86_64-linux-gnu.
#
# Programs find the other files from their own folder, and people type some of these paths. So
# Frontload's private files are always in one folder beside that of the programs, whatever the name
# of the libraries' folder: <programs>/../lib/frontload. If the libraries are in another folder than
# <programs>/../lib, this one has links to those that the linker looks for.
#
# An installation has five components, each of them also a Debian package (packaging/debian):
#   runtime      the library that a program linked with --front-prefetch needs where it runs
#   run          frontload-run, which prefetches for programs that were linked without it
#   development  headers and libraries to link with
#   tools        everything else: programs that record, link, check and measure
#   valgrind     what comes from Valgrind, and so is under its license

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tools)

cmake_path(GET CMAKE_INSTALL_BINDIR PARENT_PATH FRONTLOAD_INSTALL_PRIVATEDIR)
cmake_path(APPEND FRONTLOAD_INSTALL_PRIVATEDIR lib frontload)

# `path`, relative to the prefix or absolute, as seen from the folder `from`. A path outside of the
# prefix is not moved with it, and stays as it is.
function(frontload_relative_path from path result)
  cmake_path(ABSOLUTE_PATH from BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE)
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX ${from} NORMALIZE moves_from)
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX ${path} NORMALIZE moves_path)
  if(moves_from AND moves_path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${from})
    string(REGEX REPLACE "/$" "" path "${path}")
  endif()
  set(${result} ${path} PARENT_SCOPE)
endfunction()

# Installs a symbolic link `link` to `target`, both relative to the prefix. The link is made in the
# build and installed as a file, because then it is also in the manifest.
function(frontload_install_link target link)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "COMPONENT" "")
  cmake_path(GET link PARENT_PATH folder)
  cmake_path(GET link FILENAME name)
  frontload_relative_path(${folder} ${target} to)
  set(made ${PROJECT_BINARY_DIR}/installed/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
  file(CREATE_LINK ${to} ${made} SYMBOLIC)
  install(FILES ${made} DESTINATION ${folder} ${ARGN})
endfunction()

# Lets installed programs find the shared library of an imported target outside of the loader's
# folders. Debian's is in one of them; a private LLVM in /opt is not.
function(frontload_keep_rpath_to target)
  get_target_property(library ${target} LOCATION)
  file(REAL_PATH "${library}" library)
  cmake_path(GET library FILENAME name)
  foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
    if(EXISTS ${folder}/${name})
      return()
    endif()
  endforeach()
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON PARENT_SCOPE)
endfunction()

# The private folder's links, by the names that the linker looks for.
frontload_relative_path(${CMAKE_INSTALL_BINDIR}/../lib ${CMAKE_INSTALL_LIBDIR} libraries)
if(NOT libraries MATCHES "^[.]?$")
  foreach(name libfrontload-prefetch.so libfrontload-prefetch.a)
    frontload_install_link(${CMAKE_INSTALL_LIBDIR}/${name} ${FRONTLOAD_INSTALL_PRIVATEDIR}/${name})
  endforeach()
endif()

# For builds with pkg-config: paths from the folder of its files.
function(frontload_pc_path base path result)
  cmake_path(IS_ABSOLUTE path is_absolute)
  if(NOT is_absolute)
    set(path "${base}/${path}")
  endif()
  set(${result} ${path} PARENT_SCOPE)
endfunction()

frontload_relative_path(${CMAKE_INSTALL_LIBDIR}/pkgconfig . FRONTLOAD_PC_PREFIX)
frontload_pc_path("\${pcfiledir}" ${FRONTLOAD_PC_PREFIX} FRONTLOAD_PC_PREFIX)
foreach(folder BIN LIB INCLUDE PRIVATE)
  if(folder STREQUAL PRIVATE)
    frontload_relative_path(. ${FRONTLOAD_INSTALL_PRIVATEDIR} path)
  else()
    frontload_relative_path(. ${CMAKE_INSTALL_${folder}DIR} path)
  endif()
  frontload_pc_path("\${prefix}" ${path} FRONTLOAD_PC_${folder})
endforeach()
foreach(package frontload:tools frontload-prefetch:development)
  string(REGEX REPLACE ":.*" "" name ${package})
  string(REGEX REPLACE ".*:" "" component ${package})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in
    ${PROJECT_BINARY_DIR}/installed/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endforeach()

install(FILES README.md LICENSE TYPE DOC)
if(FRONTLOAD_STATIC)
  # What is linked in, and its licenses.
  execute_process(COMMAND ${FRONTLOAD_PYTHON} ${PROJECT_SOURCE_DIR}/packaging/linked_in.py
    ${PROJECT_BINARY_DIR}/linked_in ${PROJECT_VERSION} ${CMAKE_C_COMPILER}
    ${FRONTLOAD_LLVM_VERSION} "${FRONTLOAD_SYSROOT}"
    COMMAND_ERROR_IS_FATAL ANY)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/linked_in/tools/ TYPE DOC)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/linked_in/valgrind/ TYPE DOC COMPONENT valgrind)
endif()
