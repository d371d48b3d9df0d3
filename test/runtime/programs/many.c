/* Makes 30,000 first touches, more than one chunk of a trace holds, in order.
 *
 * usage: many [quiet | replace TRACE | deny | kill | descriptors | user]
 *   quiet        closes descriptors 0, 1 and 2 in the middle
 *   replace      renames the trace in the middle and puts another file in its place
 *   deny         forbids itself in the middle to open files
 *   kill         has itself killed if it opens a file after the middle
 *   descriptors  takes away its right to have more than three in the middle
 *   user         becomes another user in the middle
 * At the end it prints how many descriptors are open. The tests' prelude and
 * filter_open() come before this. */

enum { COUNT = 30000, MIDDLE = 300 };
BIG(30000)

static void replace(const char *trace) {
  char moved[4096];
  snprintf(moved, sizeof moved, "%s.moved", trace);
  rename(trace, moved);
  int fd = open(trace, O_WRONLY | O_CREAT, 0644);
  if (write(fd, "mine", 4) == 4)
    close(fd);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  for (int i = 0; i < MIDDLE; ++i)
    enter(i);
  if (strcmp(mode, "quiet") == 0)
    for (int fd = 0; fd < 3; ++fd)
      close(fd);
  if (strcmp(mode, "replace") == 0)
    replace(argv[2]);
  if (strcmp(mode, "deny") == 0)
    filter_open(SECCOMP_RET_ERRNO | EPERM);
  if (strcmp(mode, "kill") == 0)
    filter_open(SECCOMP_RET_KILL_PROCESS);
  if (strcmp(mode, "descriptors") == 0)
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
  if (strcmp(mode, "user") == 0 && setreuid(65534, 65534))
    return 77;
  for (int i = 0; i < COUNT; ++i)
    enter(i);
  int open_descriptors = 0;
  for (int fd = 0; fd < 1000; ++fd)
    open_descriptors += fcntl(fd, F_GETFD) >= 0;
  printf("%d\n", open_descriptors);
  return 7;
}
