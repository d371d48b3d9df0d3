# Run by a build (cmake -P) before a target is linked: copies its startup profile to the folder
# where the linker looks for it by the name of the output.
#
#   TARGET            the target, for messages
#   PROFILE           the profile in the source tree; it need not be there
#   OUTPUT_NAME_FILE  a file with the file name of the output
#   FOLDER            for the copy <output>.startup; state, which changes with the content of the
#                     profile; taken, the time of this run; taken.d, which says when to run it again
cmake_minimum_required(VERSION 3.25)

file(READ "${OUTPUT_NAME_FILE}" OUTPUT_NAME)
# The first version, like the linker (profile_folder.cpp), whatever follows: 1.2.3-rc1.
string(REGEX REPLACE "(\\.so)\\.[0-9].*$" "\\1" name "${OUTPUT_NAME}")
set(copy "${FOLDER}/${name}.startup")
file(MAKE_DIRECTORY "${FOLDER}")

# Profiles for an earlier name of the output.
file(GLOB others "${FOLDER}/*.startup")
list(REMOVE_ITEM others "${copy}")
if(others)
  file(REMOVE ${others})
endif()

set(before "")
if(EXISTS "${FOLDER}/state")
  file(READ "${FOLDER}/state" before)
endif()
if(EXISTS "${PROFILE}" AND NOT IS_DIRECTORY "${PROFILE}")
  file(COPY_FILE "${PROFILE}" "${copy}" ONLY_IF_DIFFERENT)
  file(SHA256 "${copy}" state)
  set(watched "${PROFILE}")
else()
  file(REMOVE "${copy}")
  set(state "no profile")
  if(before AND NOT before STREQUAL state)
    message(NOTICE "frontload: warning: ${PROFILE}: no longer exists: ${TARGET} is linked without a front")
  endif()
  # A folder changes when a file comes into it.
  set(watched "${PROFILE}")
  while(NOT EXISTS "${watched}" OR watched STREQUAL PROFILE)
    cmake_path(GET watched PARENT_PATH watched)
  endwhile()
endif()
if(NOT before STREQUAL state)
  file(WRITE "${FOLDER}/state" "${state}")
endif()

function(escape result path)
  string(REPLACE "$" "$$" path "${path}")
  string(REGEX REPLACE "([ #])" "\\\\\\1" path "${path}")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()
escape(taken "${FOLDER}/taken")
escape(watched "${watched}")
file(WRITE "${FOLDER}/taken.d" "${taken}: ${watched}\n")
file(TOUCH "${FOLDER}/taken")
