/* Registers mappings with userfaultfd. See exact_pages.h. */
#include "exact_pages.h"

#include "base/system_calls.h"
#include "base/text.h"
#include "kept_file.h"

#include <sys/ioctl.h>

/* Of linux/userfaultfd.h, which not every libc has, and nowhere as new as this. */
struct api {
  uint64_t version, features, calls;
};

struct registration {
  uint64_t begin, size, mode, calls;
};

#define ASK_FOR_API _IOWR(0xaa, 0x3f, struct api)
#define REGISTER _IOWR(0xaa, 0x00, struct registration)

enum { HUGE_PAGE = 2 << 20 }; /* of most machines; others have larger ones */
enum { USER_MODE_ONLY = 1, VERSION = 0xaa, WP_ASYNC = 1 << 15, WRITE_PROTECTED = 2 };

static int open_userfaultfd(void) {
  const int fd =
      (int)system_call(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, 0, 0, 0, 0, 0);
  if (fd < 0)
    return fd;
  struct api api = {.version = VERSION, .features = WP_ASYNC};
  const long error = system_call(SYS_ioctl, fd, (long)ASK_FOR_API, (long)&api, 0, 0, 0);
  if (error == 0)
    return move_descriptor(fd);
  sys_close(fd);
  return (int)error;
}

static void register_range(int fd, uintptr_t begin, uintptr_t end) {
  struct registration wanted = {.begin = begin, .size = end - begin, .mode = WRITE_PROTECTED};
  if (system_call(SYS_ioctl, fd, (long)REGISTER, (long)&wanted, 0, 0, 0) != 0)
    return;
  /* Where the file is in memory in pieces of 2 MiB, the kernel would map such a piece as a whole.
   */
  if (end - begin >= HUGE_PAGE)
    sys_advise((void *)begin, end - begin, MADV_NOHUGEPAGE);
}

int begin_exact_pages(const struct mappings *mappings, const struct slice *asked,
                      uint64_t page_size) {
  const int fd = open_userfaultfd();
  for (unsigned i = 0; fd >= 0 && i < mappings->mapping_count; ++i) {
    const struct mapping *mapping = &mappings->mapping[i];
    const struct slice slice = slice_of(asked, mappings, mapping->file, page_size);
    for (uintptr_t begin, end = mapping->begin; next_in_slice(&slice, mapping, &begin, &end);)
      register_range(fd, begin, end);
  }
  return fd;
}

void end_exact_pages(int fd) {
  char buffer[40], found[40];
  if (fd < 0)
    return;
  struct text path = text_in(buffer, sizeof buffer);
  text_add(&path, "/proc/self/fd/");
  text_add_number(&path, (uint32_t)fd);
  const long size = sys_readlink(buffer, found, sizeof found - 1);
  if (size <= 0)
    return;
  found[size] = '\0';
  if (same_string(found, "anon_inode:[userfaultfd]"))
    sys_close(fd);
}
