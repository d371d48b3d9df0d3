# Debian packages of an installation, by `cpack`: scripts/package makes them.
#
# One for each component (InstallTree.cmake). Packages of programs with a front depend on one small
# library; they need neither LLVM nor Python.
#
# debian/finish.cmake adds files that only Debian needs (licence and changelog for each package,
# compressed pages), so that an installation into a prefix has none of them.

set(CPACK_PACKAGE_NAME frontload)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_OUTPUT_FILE_PREFIX packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime run development tools)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/debian/configured.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/finish.cmake)
set(CPACK_FRONTLOAD_PREFIX ${CMAKE_INSTALL_PREFIX}) # for the two

# As in Debian's own tools. No default would be true for every user.
set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if("$ENV{DEBEMAIL}" STREQUAL "")
  set(contact "Whoever built this <root@localhost>")
endif()
set(FRONTLOAD_PACKAGE_CONTACT "${contact}" CACHE STRING
  "Maintainer of the packages, by default DEBFULLNAME and DEBEMAIL of the environment")
set(CPACK_PACKAGE_CONTACT "${FRONTLOAD_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${FRONTLOAD_PACKAGE_CONTACT}")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(version "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libfrontload-prefetch1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
# Not generated: a program needs the version of its interface, not of its build.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/debian/shlibs;${CMAKE_CURRENT_LIST_DIR}/debian/triggers")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "library that asks for a program's front at its start
A program that ld.frontload linked with --front-prefetch needs this library
where it runs. Before the program is relocated it asks the kernel for the
beginning of its file, in which all that startup needs lies together, so that
a cold start is one sequential read.")

set(CPACK_DEBIAN_RUN_PACKAGE_NAME frontload-run)
set(CPACK_DEBIAN_RUN_PACKAGE_SECTION utils)
set(CPACK_COMPONENT_RUN_DESCRIPTION "starts a program after asking for its front
frontload-run asks the kernel for the beginnings of a program and of the
libraries that it needs, in which frontload has laid out what startup needs,
and becomes the program. It is for programs that were linked without
libfrontload-prefetch.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfrontload-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfrontload-prefetch1 ${version}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "recorder and prefetcher to link with, for frontload
The libraries that frontload's linker adds to programs that ask for their own
front, the recorder for programs that are built with -finstrument-functions,
and their headers.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME frontload)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS
  "libfrontload-dev ${version}, frontload-run ${version}, python3 (>= 3.10)")
set(epoch_of_numpy 1:)
file(STRINGS ${PROJECT_SOURCE_DIR}/pyproject.toml requirements
  REGEX "^(dependencies|measure) = ")
string(REGEX MATCHALL "[a-z0-9-]+>=[0-9.]+" requirements "${requirements}")
foreach(requirement IN LISTS requirements)
  string(REGEX MATCH "^(.*)>=(.*)$" requirement ${requirement})
  string(APPEND CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS
    ", python3-${CMAKE_MATCH_1} (>= ${epoch_of_${CMAKE_MATCH_1}}${CMAKE_MATCH_2})")
endforeach()
# By verb: data (record), measure, faults, report, names in reports.
string(CONCAT CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS
  "valgrind, strace, linux-perf, python3-pydantic, python3-jinja2, node-d3, binutils")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS
  "gcc | clang, lld-${LLVM_VERSION_MAJOR}, llvm-${LLVM_VERSION_MAJOR}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/debian/postinst;${CMAKE_CURRENT_LIST_DIR}/debian/prerm")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "makes big native programs start in one sequential read
Frontload records what a program touches while it starts, keeps that as a
startup profile that is checked in, and has the linker lay the file out so that
all of it is one contiguous front, in the order of first touches: code,
constants, relocated data and dynamic-linking data together. A cold start then
reads the beginning of the file instead of seeking all over it.

This package has the linker ld.frontload (lld with hooks), the recorders, and
the command frontload, which also checks, measures and reports.")
include(CPack)
