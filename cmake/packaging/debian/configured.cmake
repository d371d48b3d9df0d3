# Run by cpack before anything else: a Debian package must be configured for /usr. Another prefix
# has its libraries in other places than Debian, and another Python.
if(CPACK_GENERATOR STREQUAL "DEB" AND NOT CPACK_FRONTLOAD_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "${CPACK_FRONTLOAD_PREFIX}: this build is configured for this prefix, and a "
    "Debian package is installed to /usr: configure it with `cmake --preset debian`, or let "
    "scripts/package do it")
endif()
