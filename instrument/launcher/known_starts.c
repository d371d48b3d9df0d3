/* See known_starts.h. */
#include "known_starts.h"

#include "base/system_calls.h"
#include "prefetch/prefetch_list.h"
#include "process_tree.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ALIKE = 31, PAUSE_MS = 2000, MAX_PAUSES = 30 };

/* The two digits behind this are the count of starts that were alike. */
static const char HEADER[] = PREFETCH_LIST_MAGIC "alike ";

/* The kernel shows the faults of a process until its parent has waited for it, and from then on in
 * the sum of all children of the parent. */
bool known_starts_count(struct known_starts *known) {
  struct ProcessStat stat;
  if (process_stat(known->process, &stat)) {
    known->faults = (struct faults){(uint64_t)(stat.minflt + stat.cminflt),
                                    (uint64_t)(stat.majflt + stat.cmajflt)};
    return stat.state == 'D';
  }
  known->faults = (struct faults){0, 0};
  if (process_stat(known->parent, &stat))
    known->faults = (struct faults){(uint64_t)stat.cminflt - known->others.minor,
                                    (uint64_t)stat.cmajflt - known->others.major};
  return false;
}

/* A list is of no use for a program or library that was upgraded. */
static bool has_changed(const struct line *line) {
  struct listed listed;
  struct stat status;
  return parse_file(*line, &listed) && *listed.build_id != '-' &&
         (stat(listed.path, &status) != 0 || (uint64_t)status.st_mtim.tv_sec != listed.seconds ||
          (uint64_t)status.st_mtim.tv_nsec != listed.nanoseconds);
}

struct known_starts known_starts(const char *path, pid_t process) {
  struct known_starts known = {.list = path, .process = process, .alike = MAX_ALIKE};
  struct line list, rest, line;
  struct faults *kind = known.kinds;
  struct ProcessStat stat;
  if (process_stat(process, &stat))
    known.parent = stat.ppid;
  if (process_stat(known.parent, &stat))
    known.others = (struct faults){(uint64_t)stat.cminflt, (uint64_t)stat.cmajflt};
  if (read_list(path, &list) != 0)
    return known;
  for (rest = list; starts_with(&list, HEADER) && next_line(&line, &rest);)
    if (starts_with(&line, "alike ")) {
      line.begin += sizeof "alike " - 1;
      if (!take_number(&line, &known.alike))
        known.alike = MAX_ALIKE;
    } else if (starts_with(&line, "start ") && kind < known.kinds + MAX_KINDS) {
      line.begin += sizeof "start " - 1;
      kind += take_number(&line, &kind->minor) && take_char(&line, ' ') &&
              take_number(&line, &kind->major);
    } else if (starts_with(&line, "file\t") && has_changed(&line))
      known.alike = MAX_ALIKE;
  SYS(munmap, list.begin, list.end - list.begin + 1);
  return known;
}

/* Whether a start had about as many faults as an earlier one, of which few waited for a disk. */
static bool is_known(const struct known_starts *known) {
  const struct faults faults = known->faults;
  for (const struct faults *kind = known->kinds; kind < known->kinds + MAX_KINDS && kind->minor;
       ++kind) {
    const uint64_t margin = kind->minor / 64 + 8;
    if (faults.major <= kind->major + kind->major / 4 + 8 && faults.minor + margin >= kind->minor &&
        faults.minor <= kind->minor + margin)
      return true;
  }
  return false;
}

bool known_starts_wait(struct known_starts *known, bool *is_new) {
  struct pollfd end = {-1, POLLIN, 0};
  if (!known->kinds->minor || known->alike >= MAX_ALIKE ||
      (end.fd = (int)SYS(pidfd_open, known->process, 0)) < 0)
    return false;
  /* A process that goes on has started when it has hardly any new pages. */
  for (int pauses = 0; pauses < MAX_PAUSES; ++pauses) {
    const uint64_t before = known->faults.minor;
    poll(&end, 1, PAUSE_MS);
    if ((!known_starts_count(known) && known->faults.minor - before <= before / 64) || end.revents)
      break;
  }
  *is_new = !is_known(known);
  const unsigned alike = *is_new ? MAX_ALIKE : (unsigned)known->alike + 1;
  const char digits[] = {(char)('0' + alike / 10), (char)('0' + alike % 10)};
  end.fd = open(known->list, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  return pwrite(end.fd, digits, sizeof digits, sizeof HEADER - 1) == sizeof digits;
}

void known_starts_write(struct known_starts *known, bool adds, FILE *to) {
  if (adds && known->faults.minor && !is_known(known)) {
    memmove(known->kinds + 1, known->kinds, sizeof known->kinds - sizeof *known->kinds);
    *known->kinds = known->faults;
  }
  fprintf(to, "%s00\n", HEADER);
  for (int i = 0; i < MAX_KINDS && known->kinds[i].minor; ++i)
    fprintf(to, "start %" PRIu64 " %" PRIu64 "\n", known->kinds[i].minor, known->kinds[i].major);
}
