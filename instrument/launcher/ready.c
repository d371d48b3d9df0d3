/* Polls for the awaited events every other millisecond. The result includes the cost of polling. */
#include "ready.h"

#include "clock.h"
#include "process_tree.h"

#include <arpa/inet.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* --until-entered: watches a function by a hardware breakpoint, which changes nothing in the
 * program: a breakpoint written into the code would read its page. The load address is known only
 * after exec, so ptrace stops the program there until the breakpoint is set. */

static int counter = -1;

bool function_parse(const char *text, struct Function *function) {
  char *at, *end;
  function->address = strtoull(text, &at, 16);
  if (at == text || *at != '@')
    return false;
  function->entry = strtoull(at + 1, &end, 16);
  return function->address && end != at + 1 && !*end;
}

/* The command's load bias. */
static bool find_bias(pid_t command, uint64_t entry, uint64_t *bias) {
  char path[64];
  Elf64_auxv_t vector[64];
  snprintf(path, sizeof path, "/proc/%d/auxv", command);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, vector, sizeof vector);
  if (fd >= 0)
    close(fd);
  for (ssize_t i = 0; i < size / (ssize_t)sizeof *vector; ++i)
    if (vector[i].a_type == AT_ENTRY) {
      *bias = vector[i].a_un.a_val - entry;
      return true;
    }
  if (size >= 0)
    errno = ENOEXEC;
  return false;
}

int64_t entered_begin(pid_t command, const struct Function *function) {
  int status;
  siginfo_t stopped;
  /* A command that has ended is left for the caller to reap. */
  if (waitid(P_PID, (id_t)command, &stopped, WEXITED | WSTOPPED | WNOWAIT) < 0)
    return -1;
  if (stopped.si_code == CLD_EXITED || stopped.si_code == CLD_KILLED ||
      stopped.si_code == CLD_DUMPED)
    return 0;
  int64_t held = now_ns();
  struct perf_event_attr event = {.type = PERF_TYPE_BREAKPOINT,
                                  .size = sizeof event,
                                  .bp_type = HW_BREAKPOINT_X,
                                  .bp_len = sizeof(long),
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1,
                                  .inherit = 1};
  uint64_t bias;
  if (waitpid(command, &status, 0) == command && find_bias(command, function->entry, &bias)) {
    event.bp_addr = function->address + bias;
    counter = (int)syscall(SYS_perf_event_open, &event, command, -1, -1, PERF_FLAG_FD_CLOEXEC);
  }
  if (counter < 0) {
    int error = errno;
    kill(command, SIGKILL);
    waitpid(command, &status, 0);
    errno = error;
    return -1;
  }
  ptrace(PTRACE_DETACH, command, NULL, NULL);
  return now_ns() - held;
}

/* Whether the command, or a process that it has forked, has entered the function. */
static bool was_entered(void) {
  uint64_t times = 0;
  return counter >= 0 && read(counter, &times, sizeof times) == sizeof times && times > 0;
}

/* --until-listening: asks the kernel for listening sockets by sock_diag(7), in 10 us. Reading
 * /proc/net/tcp walks the whole table of connections, which takes most of a millisecond. */

enum { TCP_LISTEN = 10 /* of the kernel's tcp_states.h */, MAX_ANSWER = 1 << 15 };

bool place_parse(const char *text, struct Place *place) {
  memset(place, 0, sizeof *place);
  const char *colon = strrchr(text, ':');
  if (colon) {
    char host[INET6_ADDRSTRLEN];
    bool isSix = *text == '[' && colon > text && colon[-1] == ']';
    int length = (int)(colon - text) - (isSix ? 2 : 0);
    if (length < 0 || snprintf(host, sizeof host, "%.*s", length, text + isSix) >= (int)sizeof host)
      return false;
    place->family = isSix ? AF_INET6 : AF_INET;
    if (inet_pton(place->family, host, place->address) != 1)
      return false;
    text = colon + 1;
  }
  char *end;
  unsigned long port = strtoul(text, &end, 10);
  place->port = (uint16_t)port;
  return *text >= '0' && *text <= '9' && *end == 0 && port > 0 && port < 65536;
}

/* Whether a socket that listens at `address` takes connections to the place. */
static bool fits(const struct Place *place, int family, const void *address) {
  static const uint8_t any[16];
  size_t size = family == AF_INET ? 4 : 16;
  if (place->family == AF_UNSPEC || memcmp(address, any, size) == 0)
    return family == AF_INET6 || place->family != AF_INET6; /* [::] takes IPv4 as well */
  return family == place->family && memcmp(address, place->address, size) == 0;
}

static bool is_of_command(unsigned inode) {
  char name[48];
  snprintf(name, sizeof name, "socket:[%u]", inode);
  return tree_has_open(name);
}

static int diagnosis = -1;

/* Whether a listening socket of this family fits: 0 or 1; -1, with errno, if the kernel does not
 * answer. */
static int ask(int family, const struct Place *place) {
  struct {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
  } question = {
      .head = {.nlmsg_len = sizeof question,
               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
               .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
      .body = {.sdiag_family = (uint8_t)family,
               .sdiag_protocol = IPPROTO_TCP,
               .idiag_states = 1u << TCP_LISTEN},
  };
  if (send(diagnosis, &question, sizeof question, 0) != sizeof question)
    return -1;
  static _Alignas(struct nlmsghdr) char answer[MAX_ANSWER];
  bool found = false;
  for (;;) {
    ssize_t size = recv(diagnosis, answer, sizeof answer, 0);
    if (size <= 0)
      return -1;
    struct nlmsghdr *message = (struct nlmsghdr *)answer;
    for (size_t left = (size_t)size; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE)
        return found;
      if (message->nlmsg_type == NLMSG_ERROR) {
        errno = -((const struct nlmsgerr *)NLMSG_DATA(message))->error;
        return -1;
      }
      const struct inet_diag_msg *socket = NLMSG_DATA(message);
      found = found ||
              (ntohs(socket->id.idiag_sport) == place->port &&
               fits(place, family, socket->id.idiag_src) && is_of_command(socket->idiag_inode));
    }
  }
}

/* False, with errno, if the kernel does not tell. */
static bool listening_begin(const struct Place *place) {
  diagnosis = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  return diagnosis >= 0 && ask(AF_INET, place) >= 0;
}

/* Whether a descendant of this process listens there, or at all addresses. */
static bool is_listening(const struct Place *place) {
  return ask(AF_INET, place) > 0 || ask(AF_INET6, place) > 0;
}

static int notify_socket = -1;
static struct sockaddr_un notify_address;
static int64_t started_ns, idle_since_ns, last_activity;

bool ready_is_asked_for(const struct Ready *r) {
  return r->function.address || r->place.port || r->file || r->output || r->idle_ms || r->notify ||
         r->for_ms;
}

bool ready_begin(const struct Ready *r) {
  if ((r->output || r->has_terminal) && !outputs_begin(r->has_terminal, r->output))
    return false;
  if (r->place.port && !listening_begin(&r->place))
    return false;
  if (!r->notify)
    return true;
  notify_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  notify_address.sun_family = AF_UNIX;
  /* An abstract address: nothing is left in a file system. */
  int length = snprintf(notify_address.sun_path + 1, sizeof notify_address.sun_path - 1,
                        "frontload-ready-%d", getpid());
  return notify_socket >= 0 &&
         bind(notify_socket, (struct sockaddr *)&notify_address,
              offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)length) == 0;
}

bool ready_enter(const struct Ready *r) {
  outputs_enter();
  if (r->notify) {
    char name[sizeof notify_address.sun_path + 1];
    snprintf(name, sizeof name, "@%s", notify_address.sun_path + 1);
    setenv("NOTIFY_SOCKET", name, 1);
  }
  return !r->function.address || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

void ready_started(int64_t now_ns) {
  started_ns = idle_since_ns = now_ns;
  outputs_started();
}

static bool was_notified(void) {
  char message[4096];
  for (ssize_t size; (size = recv(notify_socket, message, sizeof message - 1, 0)) >= 0;) {
    message[size] = 0;
    for (char *line = strtok(message, "\n"); line; line = strtok(NULL, "\n"))
      if (strcmp(line, "READY=1") == 0)
        return true;
  }
  return false;
}

void ready_wait(void) { outputs_wait(notify_socket, /*ms=*/1); }

const char *ready_has_come(const struct Ready *r, int64_t now_ns, int64_t *since_ns) {
  *since_ns = now_ns;
  if (was_entered())
    return "entered";
  if (outputs_have_said())
    return "output";
  if (r->notify && was_notified())
    return "notify";
  if (r->place.port && is_listening(&r->place))
    return "listening";
  if (r->file && access(r->file, F_OK) == 0)
    return "file";
  if (r->idle_ms) {
    int64_t activity = tree_activity();
    if (activity < 0 || activity != last_activity)
      idle_since_ns = now_ns;
    last_activity = activity;
    if (now_ns - idle_since_ns >= r->idle_ms * NS_PER_MS) {
      *since_ns = idle_since_ns;
      return "idle";
    }
  }
  if (r->for_ms && now_ns - started_ns >= r->for_ms * NS_PER_MS)
    return "for";
  return NULL;
}
