/* frontload-lazyfs: shows a folder, read-only, as if every read came from far away.
 *
 * Network file systems and lazily loaded container images are slow by latency, not by bandwidth:
 * each read takes as long as a request to a server, and many may be under way at once. `frontload
 * measure --device lazy` starts programs from this file system, without a server. It stays in the
 * foreground, and ends when it is unmounted.
 *
 * The kernel caches pages, so the log of --log has the touched pages in the order of first touch: a
 * start can be recorded without root.
 *
 * Names, attributes and folders are answered at once, as by an image whose index is at hand.
 */
#define FUSE_USE_VERSION 314
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  unsigned latency, parallel; /* ms; reads at once */
  char *source, *log;
} options = {.latency = 5, .parallel = 64};

static int folder = -1;
static sem_t requests;
static FILE *touches; /* or NULL */

/* Relative to the folder: FUSE's paths begin with a slash. */
static const char *relative(const char *path) { return path[1] ? path + 1 : "."; }

static int lazy_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
  (void)file;
  return fstatat(folder, relative(path), status, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

static int lazy_readlink(const char *path, char *target, size_t size) {
  ssize_t length = readlinkat(folder, relative(path), target, size - 1);
  if (length < 0)
    return -errno;
  target[length] = 0;
  return 0;
}

static int lazy_open(const char *path, struct fuse_file_info *file) {
  int fd = openat(folder, relative(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  file->fh = (uint64_t)fd;
  file->keep_cache = 1;
  return 0;
}

static int lazy_read(const char *path, char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *file) {
  if (touches)
    fprintf(touches, "%lld %zu %s\n", (long long)offset, size, relative(path));
  struct timespec latency = {options.latency / 1000, options.latency % 1000 * 1000000L};
  while (sem_wait(&requests) != 0)
    ;
  while (nanosleep(&latency, &latency) != 0)
    ;
  ssize_t done = pread((int)file->fh, bytes, size, offset);
  int error = errno;
  sem_post(&requests);
  return done < 0 ? -error : (int)done;
}

static int lazy_release(const char *path, struct fuse_file_info *file) {
  (void)path;
  close((int)file->fh);
  return 0;
}

static int lazy_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  int fd = openat(folder, relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = fd < 0 ? NULL : fdopendir(fd);
  if (!names) {
    int error = errno;
    if (fd >= 0)
      close(fd);
    return -error;
  }
  for (struct dirent *entry; (entry = readdir(names));) {
    struct stat status = {.st_ino = entry->d_ino, .st_mode = (mode_t)DTTOIF(entry->d_type)};
    if (fill(buffer, entry->d_name, &status, 0, (enum fuse_fill_dir_flags)0))
      break;
  }
  closedir(names);
  return 0;
}

static void *lazy_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  enum { FOR_EVER = 1 << 30 };
  config->use_ino = 1;
  config->kernel_cache = 1;
  config->entry_timeout = config->attr_timeout = config->negative_timeout = FOR_EVER;
  /* The kernel reads ahead in the background, by default 12 requests at once. */
  connection->max_background = connection->congestion_threshold = options.parallel;
  if (touches)
    connection->max_readahead = 0;
  return NULL;
}

static const struct fuse_operations operations = {
    .getattr = lazy_getattr,
    .readlink = lazy_readlink,
    .open = lazy_open,
    .read = lazy_read,
    .release = lazy_release,
    .readdir = lazy_readdir,
    .init = lazy_init,
};

static const char usage[] =
    "usage: frontload-lazyfs [--latency=MS] [--parallel=N] [--log=FILE] SOURCE MOUNTPOINT\n";
static const char help[] =
    "\n"
    "Shows the folder SOURCE at MOUNTPOINT, read-only, as a file system whose reads take their\n"
    "time. It ends when MOUNTPOINT is unmounted. frontload measure --device lazy uses it.\n"
    "\n"
    "options:\n"
    "  --latency=MS  how long each read takes (default 5)\n"
    "  --parallel=N  how many reads are under way at once, 1 to 4096 (default 64)\n"
    "  --log=FILE    read nothing ahead, and write a line for each read: offset, size, path\n"
    "  --help        show this help\n"
    "  --version     show the version\n"
    "\n"
    "examples:\n"
    "  frontload-lazyfs --latency=20 /srv/image /mnt\n"
    "\n"
    "exit status:\n"
    "  0  MOUNTPOINT was unmounted\n"
    "  1  it cannot be mounted\n"
    "  2  the command line is wrong, or SOURCE cannot be opened\n";

/* The first argument that is no option is the source; FUSE takes the mount point. */
static int take(void *data, const char *argument, int key, struct fuse_args *arguments) {
  (void)data, (void)arguments;
  if (key != FUSE_OPT_KEY_NONOPT || options.source)
    return 1;
  options.source = strdup(argument);
  return 0;
}

int main(int argc, char **argv) {
  static const struct fuse_opt known[] = {
      {"--latency=%u", offsetof(__typeof__(options), latency), 0},
      {"--parallel=%u", offsetof(__typeof__(options), parallel), 0},
      {"--log=%s", offsetof(__typeof__(options), log), 0},
      FUSE_OPT_END,
  };
  if (argc == 2 && strcmp(argv[1], "--help") == 0)
    return printf("%s%s", usage, help) < 0;
  if (argc == 2 && strcmp(argv[1], "--version") == 0)
    return puts("frontload-lazyfs " FRONTLOAD_VERSION) < 0;
  struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
  if (fuse_opt_parse(&arguments, &options, known, take) != 0 || !options.source ||
      options.parallel == 0 || options.parallel > 4096) {
    fputs(usage, stderr);
    return 2;
  }
  folder = open(options.source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    fprintf(stderr, "frontload-lazyfs: error: %s: cannot be opened: %s\n", options.source,
            strerror(errno));
    return 2;
  }
  if (options.log && !(touches = fopen(options.log, "we"))) {
    fprintf(stderr, "frontload-lazyfs: error: %s: cannot be written: %s\n", options.log,
            strerror(errno));
    return 2;
  }
  if (touches)
    setlinebuf(touches); /* lines of several threads stay whole */
  sem_init(&requests, 0, options.parallel);
  char threads[64];
  snprintf(threads, sizeof threads, "-omax_threads=%u,max_idle_threads=%u", options.parallel,
           options.parallel);
  fuse_opt_add_arg(&arguments, "-f");
  fuse_opt_add_arg(&arguments, "-oro,allow_other,fsname=frontload-lazyfs");
  fuse_opt_add_arg(&arguments, threads);
  return fuse_main(arguments.argc, arguments.argv, &operations, NULL) ? 1 : 0;
}
