/* Tells kinds of devices apart. See device_kind.h. */
#include "device_kind.h"

#include "base/system_calls.h"
#include "base/text.h"
#include "format/frontload_gaps.h"

#include <stdbool.h>
#include <sys/statfs.h>

enum { HDD, EMMC, SSD, NFS, LAZY, KINDS };
static const struct device_kind kinds[KINDS] = {[HDD] = {"hdd", FRONTLOAD_GAP_HDD},
                                                [EMMC] = {"emmc", FRONTLOAD_GAP_EMMC},
                                                [SSD] = {"ssd", FRONTLOAD_GAP_SSD},
                                                [NFS] = {"nfs", FRONTLOAD_GAP_NFS},
                                                [LAZY] = {"lazy", FRONTLOAD_GAP_LAZY}};

const struct device_kind *device_kind_named(const char *name) {
  for (unsigned i = 0; i < KINDS; ++i)
    if (same_string(kinds[i].name, name))
      return &kinds[i];
  return NULL;
}

/* Whether the disk of this number rotates: 1 or 0, by the kernel's settings; -1 if unknown. */
static int is_rotating(dev_t device) {
  /* A partition has its disk's queue. */
  for (int of_disk = 0; of_disk < 2; ++of_disk) {
    char buffer[80], digit;
    struct text path = text_in(buffer, sizeof buffer);
    text_add(&path, "/sys/dev/block/");
    text_add_number(&path, (uint32_t)(device >> 8 & 0xfff));
    text_add(&path, ":");
    text_add_number(&path, (uint32_t)((device & 0xff) | (device >> 12 & 0xfff00)));
    text_add(&path, of_disk ? "/../queue/rotational" : "/queue/rotational");
    int file = sys_open(buffer, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
      continue;
    const long size = sys_read(file, &digit, 1);
    sys_close(file);
    if (size == 1)
      return digit == '1';
  }
  return -1;
}

const struct device_kind *device_kind_of(int fd, const struct stat *status) {
  /* include/uapi/linux/magic.h of the kernel, and fs/smb/client for CIFS */
  enum { FUSE = 0x65735546, NFS_MAGIC = 0x6969, NINE_P = 0x01021997 };
  static const uint32_t CIFS = 0xff534d42;
  struct statfs system;
  if (SYS(fstatfs, fd, &system) == 0) {
    const uint32_t type = (uint32_t)system.f_type;
    if (type == FUSE)
      return &kinds[LAZY];
    if (type == NFS_MAGIC || type == NINE_P || type == CIFS)
      return &kinds[NFS];
  }
  return &kinds[is_rotating(status->st_dev) == 1 ? HDD : SSD];
}
