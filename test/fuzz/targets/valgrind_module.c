// An ELF file as the recorder in Valgrind reads it. Valgrind's core, which that has in place of a
// libc, is here the libc: what the file uses of it, by the names that it has there.
#pragma GCC diagnostic ignored "-Wunused-parameter" // Valgrind names callers for its statistics
#include "valgrind/module_file.c"
/* Behind it: the libc's own headers have macros for what Valgrind's structures have as members. */
#include "input_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *VG_(malloc)(const HChar *cc, SizeT size) { return malloc(size); }
void *VG_(calloc)(const HChar *cc, SizeT count, SizeT size) { return calloc(count, size); }
void VG_(free)(void *p) { free(p); }
HChar *VG_(strdup)(const HChar *cc, const HChar *text) { return strdup(text); }
void *VG_(memcpy)(void *to, const void *from, SizeT size) { return memcpy(to, from, size); }
void *VG_(memset)(void *to, Int value, SizeT size) { return memset(to, value, size); }
Int VG_(memcmp)(const void *a, const void *b, SizeT size) { return memcmp(a, b, size); }
Int VG_(strcmp)(const HChar *a, const HChar *b) { return strcmp(a, b); }
UInt VG_(sprintf)(HChar *to, const HChar *format, ...) {
  strcpy(to, "/none"); // of a path, which is none here
  return 5;
}
Off64T VG_(lseek)(Int fd, Off64T offset, Int whence) { return lseek(fd, offset, whence); }
Int VG_(read)(Int fd, void *to, Int size) { return (Int)read(fd, to, size); }
SSizeT VG_(readlink)(const HChar *path, HChar *to, SizeT size) { return readlink(path, to, size); }
void VG_(close)(Int fd) { close(fd); }
SysRes VG_(open)(const HChar *path, Int flags, Int mode) {
  Int fd = open(path, flags, mode);
  SysRes result = {fd < 0, (UWord)fd};
  return result;
}
Int VG_(fstat)(Int fd, struct vg_stat *to) {
  struct stat status;
  Int error = fstat(fd, &status);
  to->size = status.st_size;
  to->mode = status.st_mode;
  return error;
}
Int VG_(check_executable)(Bool *is_setuid, const HChar *name, Bool allow_setuid) {
  return access(name, R_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = inputPath(data, size);
  module_can_run(path);
  ModuleFile *file = module_file(path);
  if (!file)
    return 0;
  if (file->end - file->begin > size + max_memory)
    abort(); // each 16 bytes of it take one
  Addr bias, address;
  ULong length;
  for (UInt i = 0; i < file->num_code; ++i)
    module_bias(file, file->code[i].offset, 0x4000000, &bias);
  module_function(file->path, "main", &address, &length);
  module_function(file->path, "none", &address, &length);
  files = NULL; /* the next one is none of this one's kind */
  free(file->path);
  free(file->interpreter);
  free(file->soname);
  free(file);
  return 0;
}
