/* Takes a sample of the program that this is a part of: which pages of its files it has touched
 * when its start is over.
 *
 * A constructor looks whether the environment asks for it (asked.h), and has the kernel map pages
 * one by one from then on (exact_pages.h). The start is over when the program says so, by
 * frontload_ready(), or when it ends by exit(). Three descriptors are held in between, above 200:
 * of userfaultfd, and of two files in /proc that the program may not be able to open then.
 *
 * A program that nobody samples does nothing but look through its environment, and draw a number if
 * one start of many is sampled. Whatever fails here, the program goes on as it would have: without
 * a sample.
 */
#include "asked.h"
#include "base/auxiliary.h"
#include "base/error_text.h"
#include "base/machine.h"
#include "base/system_calls.h"
#include "exact_pages.h"
#include "filters.h"
#include "format/frontload_trace.h"
#include "frontload_sample.h"
#include "kept_file.h"
#include "mappings.h"
#include "sample_file.h"
#include "touched_pages.h"

struct sampler {
  struct asked_sample asked;
  struct auxiliary auxiliary;
  struct filters filters;
  struct kept_file page_table;
  int exact_pages;
  uint32_t pid; /* where it began; forked children have the same */
  bool had_stderr;
  struct stat standard_error;
  char path[PATH_MAX];
};

/* NULL: none is to be taken, or it has been. Forked children have a copy. */
static struct sampler *sampler;

static struct iovec part(const char *string) {
  return (struct iovec){.iov_base = (char *)(uintptr_t)string, .iov_len = string_size(string)};
}

/* A daemon that has closed its stderr may have opened a data base as descriptor 2 since. */
static void warn(const struct sampler *here, const char *thing, const char *what) {
  struct stat now;
  if (!here->had_stderr || sys_fstat(2, &now) != 0 || now.st_dev != here->standard_error.st_dev ||
      now.st_ino != here->standard_error.st_ino)
    return;
  const struct iovec line[] = {part("frontload-sample: warning: "), part(thing),
                               part(*thing ? ": " : ""), part(what), part(" (no sample)\n")};
  /* A reader that has gone, or a limit on file sizes, sends a signal that would end the program. */
  const signal_set signals = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ);
  const signal_set pending = sys_pending_signals();
  const signal_set before = sys_change_blocked_signals(SIG_BLOCK, signals);
  sys_writev(2, line, sizeof line / sizeof *line);
  sys_discard_signal(SIGNAL_BIT(SIGPIPE) & ~pending);
  sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
  sys_change_blocked_signals(SIG_SETMASK, before);
}

static void warn_of(const struct sampler *here, const char *thing, long error) {
  warn(here, thing, error_text(-error) ? error_text(-error) : "cannot be used");
}

static uint64_t page_size(const struct sampler *here) {
  return auxiliary_value(&here->auxiliary, AT_PAGESZ, 4096);
}

static void begin(char *const *environment) {
  struct sampler *here = sys_map_memory(sizeof *here);
  if (is_error(here))
    return;
  const char *problem = NULL;
  here->had_stderr = sys_fstat(2, &here->standard_error) == 0;
  const bool is_wanted = read_auxiliary(&here->auxiliary) && !is_privileged(&here->auxiliary) &&
                         read_asked(environment, &here->asked, &problem);
  if (!is_wanted) {
    if (problem)
      warn(here, "", problem);
    sys_unmap(here, sizeof *here);
    return;
  }
  here->pid = sys_getpid();
  here->exact_pages = -1;
  struct mappings *mappings = read_mappings();
  if (mappings) {
    here->exact_pages = begin_exact_pages(mappings, &here->asked.slice, page_size(here));
    free_mappings(mappings);
  }
  /* What is known in windows alone costs nothing, and tells of all. */
  if (here->exact_pages < 0)
    here->asked.slice = (struct slice){.count = 1};
  keep_open(&here->page_table, "/proc/self/pagemap");
  begin_filters(&here->filters);
  sampler = here;
}

/* The file that the program itself was loaded from. */
static unsigned main_file(const struct sampler *here, const struct mappings *mappings) {
  const uint64_t entry = auxiliary_value(&here->auxiliary, AT_ENTRY, 0);
  for (unsigned i = 0; i < mappings->mapping_count; ++i)
    if (mappings->mapping[i].begin <= entry && entry < mappings->mapping[i].end)
      return mappings->mapping[i].file;
  return MOST_FILES;
}

static void add_modules(const struct sampler *here, struct sample *sample,
                        const struct mappings *mappings) {
  const unsigned main = main_file(here, mappings);
  for (unsigned i = 0; i < mappings->file_count; ++i)
    add_module(sample, mappings, i, i == main);
}

static void write_down(struct sampler *here, struct sample *sample) {
  struct text path = text_in(here->path, sizeof here->path);
  text_add_pattern(&path, here->asked.pattern, sys_getpid());
  /* The run's number is chosen by chance, and its processes have others each. */
  const long error = write_sample(sample, &path, (uint32_t)(here->asked.run >> 32) + sys_getpid());
  if (error < 0)
    warn_of(here, here->path, error);
}

/* A child in a process namespace of its own may have the number of its parent. */
static bool is_forked(const struct sampler *here, uint32_t pid) {
  return pid != here->pid || (here->filters.is_first && !*here->filters.is_first);
}

static void take(struct sampler *here, enum frontload_sample_end end) {
  struct frontload_sample_header header;
  for (unsigned i = 0; i < sizeof header; ++i)
    ((volatile unsigned char *)&header)[i] = 0;
  copy_bytes((unsigned char *)header.magic, (const unsigned char *)FRONTLOAD_SAMPLE_MAGIC,
             sizeof header.magic);
  header.byte_order =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? FRONTLOAD_LITTLE_ENDIAN : FRONTLOAD_BIG_ENDIAN;
  header.end = (uint8_t)end;
  header.machine = FRONTLOAD_MACHINE;
  header.major = FRONTLOAD_SAMPLE_WITHOUT_SLICES;
  header.minor = FRONTLOAD_SAMPLE_MINOR;
  header.header_size = sizeof header;
  header.page_size = (uint32_t)page_size(here);
  header.pid = sys_getpid();
  header.run = here->asked.run;
  header.forked = is_forked(here, header.pid);
  copy_bytes((unsigned char *)header.role, (const unsigned char *)here->asked.role,
             sizeof header.role);
  struct page_table table;
  const int error =
      open_page_table(&table, header.forked ? NULL : &here->page_table, header.page_size);
  if (error < 0) {
    warn_of(here, "/proc/self/pagemap", error);
    return;
  }
  struct mappings *mappings = read_mappings();
  struct sample *sample = mappings ? begin_sample(&header, &table, &here->asked.slice) : NULL;
  if (sample) {
    add_modules(here, sample, mappings);
    if (((struct frontload_sample_header *)(void *)sample->bytes)->modules > 0)
      write_down(here, sample);
    else
      warn(here, "", "no file of the program can be read, or the kernel does not tell its pages");
    free_sample(sample);
  } else if (mappings) {
    warn_of(here, "", -ENOMEM);
  } else {
    warn(here, "/proc/self/maps", "cannot be read, or has too many mappings");
  }
  if (mappings)
    free_mappings(mappings);
  close_page_table(&table);
}

static void end(enum frontload_sample_end how) {
  struct sampler *here = __atomic_exchange_n(&sampler, NULL, __ATOMIC_ACQ_REL);
  /* A filter that the program has given itself may kill for what follows. */
  if (!here || has_new_filter(&here->filters))
    return;
  take(here, how);
  /* What ends, the kernel clears away for less: to end exact pages, it goes through all of them. */
  if (how == FRONTLOAD_SAMPLE_EXIT)
    return;
  end_filters(&here->filters);
  close_kept(&here->page_table);
  end_exact_pages(here->exact_pages);
  sys_unmap(here, sizeof *here);
}

__attribute__((visibility("default"))) void frontload_ready(void) { end(FRONTLOAD_SAMPLE_READY); }

static __attribute__((destructor)) void end_at_exit(void) { end(FRONTLOAD_SAMPLE_EXIT); }

extern char **environ __attribute__((weak));

static void begin_if_asked(char **environment) {
  for (char **variable = environment; variable && *variable; ++variable)
    if (after(*variable, "FRONTLOAD_SAMPLE=")) {
      if (is_chosen(environment))
        begin(environment);
      return;
    }
}

#ifdef __GLIBC__

/* The first is in glibc's libc.so.6, the second in what glibc begins each program with. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));
extern const int _IO_stdin_used __attribute__((weak));

/* glibc hands constructors what main() gets, and may set `environ` after they have run. What was
 * compiled with its headers may be in a program with another libc, such as musl's, which hands them
 * nothing. */
static __attribute__((constructor)) void begin_at_start(int count, char **arguments,
                                                        char **environment) {
  (void)count, (void)arguments;
  const bool is_glibc = gnu_get_libc_version || &_IO_stdin_used;
  begin_if_asked(is_glibc ? environment : &environ ? environ : NULL);
}

#else

static __attribute__((constructor)) void begin_at_start(void) {
  begin_if_asked(&environ ? environ : NULL);
}

#endif
