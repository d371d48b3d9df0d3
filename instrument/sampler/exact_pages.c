/* Registers mappings with userfaultfd. See exact_pages.h. */
#include "exact_pages.h"

#include "base/system_calls.h"
#include "base/text.h"

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

enum { USER_MODE_ONLY = 1, VERSION = 0xaa, WP_ASYNC = 1 << 15, WRITE_PROTECTED = 2 };

/* Out of the way of programs that expect their first file to be descriptor 3. */
enum { LOWEST_DESCRIPTOR = 200 };

static int open_userfaultfd(void) {
  const int fd =
      (int)system_call(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, 0, 0, 0, 0, 0);
  if (fd < 0)
    return fd;
  struct api api = {.version = VERSION, .features = WP_ASYNC};
  int moved = -1;
  if (system_call(SYS_ioctl, fd, (long)ASK_FOR_API, (long)&api, 0, 0, 0) == 0)
    moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR);
  sys_close(fd);
  return moved;
}

static bool register_mapping(int fd, const struct mapping *mapping) {
  struct registration wanted = {
      .begin = mapping->begin, .size = mapping->end - mapping->begin, .mode = WRITE_PROTECTED};
  if (system_call(SYS_ioctl, fd, (long)REGISTER, (long)&wanted, 0, 0, 0) != 0)
    return false;
  /* Where the file is in memory in pieces of 2 MiB, the kernel would map such a piece as a whole.
   */
  sys_advise((void *)mapping->begin, mapping->end - mapping->begin, MADV_NOHUGEPAGE);
  return true;
}

void begin_exact_pages(struct exact_pages *exact, const struct mappings *mappings) {
  exact->file_count = 0;
  exact->fd = open_userfaultfd();
  if (exact->fd < 0)
    return;
  for (unsigned i = 0; i < mappings->mapping_count; ++i) {
    const struct mapping *mapping = &mappings->mapping[i];
    const struct mapped_file *file = &mappings->file[mapping->file];
    if (!file->has_code)
      continue;
    const bool is_same = exact->file_count > 0 &&
                         exact->file[exact->file_count - 1].inode == file->inode &&
                         exact->file[exact->file_count - 1].device == file->device;
    if (!is_same && exact->file_count == sizeof exact->file / sizeof *exact->file)
      break;
    if (!register_mapping(exact->fd, mapping)) {
      exact->file_count -= is_same; /* not all of it */
    } else if (!is_same) {
      exact->file[exact->file_count].inode = file->inode;
      exact->file[exact->file_count++].device = file->device;
    }
  }
  if (exact->file_count == 0)
    end_exact_pages(exact);
}

bool exact_pages_last(const struct exact_pages *exact) {
  char buffer[40], found[40];
  if (exact->fd < 0)
    return false;
  struct text path = text_in(buffer, sizeof buffer);
  text_add(&path, "/proc/self/fd/");
  text_add_number(&path, (uint32_t)exact->fd);
  const long size = sys_readlink(buffer, found, sizeof found - 1);
  if (size <= 0)
    return false;
  found[size] = '\0';
  return same_string(found, "anon_inode:[userfaultfd]");
}

bool has_exact_pages(const struct exact_pages *exact, const struct mapped_file *file) {
  for (unsigned i = 0; i < exact->file_count; ++i)
    if (exact->file[i].inode == file->inode && exact->file[i].device == file->device)
      return true;
  return false;
}

void end_exact_pages(struct exact_pages *exact) {
  if (exact_pages_last(exact))
    sys_close(exact->fd);
  exact->fd = -1;
}
