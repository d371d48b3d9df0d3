/* libc's texts for the errors of creating and writing a file, for recorders without libc. */
#ifndef FRONTLOAD_ERROR_TEXT_H
#define FRONTLOAD_ERROR_TEXT_H

#include <errno.h>
#include <stddef.h>

/* NULL for other errors. */
static inline const char *error_text(long error) {
  switch (error) {
  case EACCES:
    return "Permission denied";
  case EAGAIN:
    return "Resource temporarily unavailable";
  case EDQUOT:
    return "Disk quota exceeded";
  case EEXIST:
    return "File exists";
  case EFBIG:
    return "File too large";
  case EINVAL:
    return "Invalid argument";
  case EIO:
    return "Input/output error";
  case EISDIR:
    return "Is a directory";
  case ELOOP:
    return "Too many levels of symbolic links";
  case EMFILE:
    return "Too many open files";
  case ENAMETOOLONG:
    return "File name too long";
  case ENFILE:
    return "Too many open files in system";
  case ENODEV:
    return "No such device";
  case ENOENT:
    return "No such file or directory";
  case ENOMEM:
    return "Cannot allocate memory";
  case ENOSPC:
    return "No space left on device";
  case ENOSYS:
    return "Function not implemented";
  case ENOTDIR:
    return "Not a directory";
  case EOPNOTSUPP:
    return "Operation not supported";
  case EPERM:
    return "Operation not permitted";
  case EROFS:
    return "Read-only file system";
  default:
    return NULL;
  }
}

#endif
