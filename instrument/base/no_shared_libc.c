/* Functions of libc that need glibc's shared libraries at run time, also in a static program: what
 * loads libraries, and what looks up users by the machine's name services. LLVM can do both (for
 * plugins, and for paths with ~), but a static program must run on machines with another libc. Here
 * they fail, as libc's fail where nothing is found. */
#include <dlfcn.h>
#include <pwd.h>
#include <stddef.h>

void *dlopen(const char *path, int flags) {
  (void)path, (void)flags;
  return NULL;
}

void *dlsym(void *restrict library, const char *restrict name) {
  (void)library, (void)name;
  return NULL;
}

int dlclose(void *library) {
  (void)library;
  return -1;
}

char *dlerror(void) { return (char *)"this program is static, and cannot load plugins"; }

int getpwnam_r(const char *restrict name, struct passwd *restrict entry, char *restrict buffer,
               size_t size, struct passwd **restrict found) {
  (void)name, (void)entry, (void)buffer, (void)size;
  *found = NULL;
  return 0;
}

int getpwuid_r(uid_t user, struct passwd *restrict entry, char *restrict buffer, size_t size,
               struct passwd **restrict found) {
  (void)user, (void)entry, (void)buffer, (void)size;
  *found = NULL;
  return 0;
}
