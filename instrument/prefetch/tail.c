/* Asks for the tail of a program's file once the program has left its front. See front.h.
 *
 * A startup like the recorded ones never does: for a clang that starts in 15 ms, 9 MB of tail that
 * it does not need took 0.6 ms. So the tail waits for the first major page fault. */
#include "apart.h"
#include "base/system_calls.h"
#include "base/text.h"
#include "front.h"

#include <poll.h>

enum { NS_PER_MS = 1000000 };

/* How long a startup is watched, and how often: each millisecond, and later after a 64th of the
 * time that went by, which makes 400 looks of 11 us. */
enum { WATCHED_MS = 10000, SLOWER_AFTER_MS = 64 };

/* The whole machine's faults are counted less often, since that takes 0.14 ms. */
enum { FIRST_COUNT_MS = 16 };

struct watch {
  int ended;   /* a pidfd of the program */
  int own;     /* its /proc/PID/stat */
  int machine; /* /proc/vmstat */
};

static uint64_t number_at(const unsigned char *text, const unsigned char *end) {
  uint64_t number = 0;
  for (; text < end && *text >= '0' && *text <= '9'; ++text)
    number = 10 * number + (*text - '0');
  return number;
}

/* What /proc/PID/stat tells of the program. */
struct state {
  uint64_t faults; /* its major ones, and those of the children that it has waited for */
  uint64_t stack;  /* where its stack begins: elsewhere after an exec; 0 if that is untold */
};

/* The fields "majflt", "cmajflt" and "startstack" of proc_pid_stat(5), counted from the name on. */
static struct state state_of(const struct watch *watch) {
  enum { MAJFLT = 10, CMAJFLT = 11, STARTSTACK = 26 };
  unsigned char text[512];
  const long size = sys_pread(watch->own, text, sizeof text, 0);
  const unsigned char *end = text + (size > 0 ? size : 0), *at = end;
  struct state state = {0, 0};
  while (at > text && at[-1] != ')')
    --at;
  for (unsigned field = 0; at < end; ++at)
    if (*at == ' ' && (++field == MAJFLT || field == CMAJFLT))
      state.faults += number_at(at + 1, end);
    else if (*at == ' ' && field == STARTSTACK)
      state.stack = number_at(at + 1, end);
  return state;
}

/* The major faults of all processes, those that the program has forked among them. Before
 * Linux 6.7, a wait for a page of the front is a major fault of the program, but not of this
 * number. */
static uint64_t all_faults(const struct watch *watch) {
  static const unsigned char name[] = "\npgmajfault ";
  enum { NAME = sizeof name - 1 };
  unsigned char text[8192];
  const long size = sys_pread(watch->machine, text, sizeof text, 0);
  for (long at = 0; at + NAME < size; ++at)
    if (same_bytes(text + at, name, NAME))
      return number_at(text + at + NAME, text + size);
  return 0;
}

/* Whether the program ends within this time, of less than a second. */
static bool ends_within(const struct watch *watch, unsigned milliseconds) {
  struct pollfd ended = {watch->ended, POLLIN, 0};
  const struct timespec timeout = {0, (long)(milliseconds * NS_PER_MS)};
  return SYS(ppoll, &ended, 1, &timeout) != 0;
}

/* Waits for the first fault. False if the program ends before, becomes another one (this process
 * would keep the memory of the old one), or has started without a fault. */
static bool await_fault(const struct watch *watch) {
  const uint64_t all = all_faults(watch);
  struct state own = state_of(watch);
  const uint64_t stack = own.stack;
  unsigned counted = FIRST_COUNT_MS;
  for (unsigned passed = 0, pause; passed < WATCHED_MS; passed += pause) {
    pause = 1 + passed / SLOWER_AFTER_MS;
    if (ends_within(watch, pause))
      return false;
    const uint64_t before = own.faults;
    own = state_of(watch);
    if (own.stack && own.stack != stack)
      return false;
    if (own.faults == before && passed < counted)
      continue;
    if (all_faults(watch) > all)
      return true;
    if (passed >= counted)
      counted = passed + passed / 2;
  }
  return false;
}

/* Opens what tells of the program. False if something cannot be seen. */
static bool begin_watch(struct watch *watch, uint32_t program) {
  char buffer[32];
  struct text path = text_in(buffer, sizeof buffer);
  text_add(&path, "/proc/");
  text_add_number(&path, program);
  text_add(&path, "/stat");
  watch->ended = (int)SYS(pidfd_open, program);
  watch->own = sys_open(buffer, O_RDONLY | O_CLOEXEC, 0);
  watch->machine = sys_open("/proc/vmstat", O_RDONLY | O_CLOEXEC, 0);
  return watch->ended >= 0 && watch->own >= 0 && watch->machine >= 0;
}

/* Waits until the page before an offset is in memory. */
static void await_page(int fd, uint64_t end) {
  char byte;
  sys_pread(fd, &byte, 1, end - 1);
}

/* Never for more than one piece at a time: a page that the program needs meanwhile waits for that.
 */
static void ask_piecewise(int fd, const struct range *range, const struct watch *watch) {
  struct range piece = {range->begin & -(uint64_t)MIN_PAGE, 0};
  for (; piece.begin < range->end && !ends_within(watch, 0); piece.begin = piece.end) {
    piece.end = piece.begin + LARGE_PIECE < range->end ? piece.begin + LARGE_PIECE : range->end;
    prefetch_range(fd, &piece);
    await_page(fd, piece.end);
  }
}

void prefetch_tail(const char *path, uint32_t program) {
  struct ranges ranges;
  struct front front;
  struct watch watch;
  const int fd = open_to_prefetch(path);
  if (fd < 0 || read_front(fd, &ranges, &front) || ranges.of_front >= ranges.count ||
      !begin_watch(&watch, program))
    return;
  const unsigned first = ranges.of_front;
  const uint64_t front_end = ranges.range[first - 1].end;
  ranges.count -= first;
  for (unsigned i = 0; i < ranges.count; ++i)
    ranges.range[i] = ranges.range[first + i];
  leave_memory(&ranges, &front.tail);
  SYS(chdir, "/"); /* the folder's file system may be unmounted */
  if (!have_nothing_else() || !await_fault(&watch))
    return;
  SYS(setpriority, PRIO_PROCESS, 0, 19); /* SCHED_IDLE would get no turn on a busy machine */
  await_page(fd, front_end);
  for (unsigned i = 0; i < ranges.count; ++i)
    ask_piecewise(fd, &ranges.range[i], &watch);
}
