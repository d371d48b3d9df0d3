/* libc's texts for the errors of creating and writing a file, for recorders without libc. */
#pragma once

#include <errno.h>
#include <stddef.h>

/* NULL for other errors. */
static inline const char *error_text(long error) {
  /* Text and not pointers, which would have to be relocated. */
  static const struct {
    int error;
    char text[36];
  } texts[] = {
      {EACCES, "Permission denied"},
      {EAGAIN, "Resource temporarily unavailable"},
      {EDQUOT, "Disk quota exceeded"},
      {EEXIST, "File exists"},
      {EFBIG, "File too large"},
      {EINVAL, "Invalid argument"},
      {EIO, "Input/output error"},
      {EISDIR, "Is a directory"},
      {ELOOP, "Too many levels of symbolic links"},
      {EMFILE, "Too many open files"},
      {ENAMETOOLONG, "File name too long"},
      {ENFILE, "Too many open files in system"},
      {ENODEV, "No such device"},
      {ENOENT, "No such file or directory"},
      {ENOMEM, "Cannot allocate memory"},
      {ENOSPC, "No space left on device"},
      {ENOSYS, "Function not implemented"},
      {ENOTDIR, "Not a directory"},
      {EOPNOTSUPP, "Operation not supported"},
      {EPERM, "Operation not permitted"},
      {EROFS, "Read-only file system"},
  };
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; ++i)
    if (texts[i].error == error)
      return texts[i].text;
  return NULL;
}
