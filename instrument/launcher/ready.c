/* Polls for the awaited events every other millisecond. The result includes the cost of polling. */
#define _GNU_SOURCE
#include "ready.h"

#include "clock.h"
#include "process_tree.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { POLL_MS = 1 };

static int notify_socket = -1;
static struct sockaddr_un notify_address;
static int64_t started_ns, idle_since_ns, last_activity;

bool ready_is_asked_for(const struct Ready *r) {
  return r->enters || r->listens || r->file || r->output || r->idle_ms || r->notify || r->for_ms;
}

bool ready_begin(const struct Ready *r) {
  if ((r->output || r->has_terminal) && !outputs_begin(r->has_terminal, r->output))
    return false;
  if (r->listens && !listening_begin(&r->place))
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
  return !r->enters || entered_enter();
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

void ready_wait(void) {
  struct pollfd files[OUTPUTS + 1] = {[OUTPUTS] = {notify_socket, POLLIN, 0}};
  outputs_ask(files);
  poll(files, OUTPUTS + 1, POLL_MS);
  outputs_hand_on(files);
}

const char *ready_has_come(const struct Ready *r, int64_t now_ns, int64_t *since_ns) {
  *since_ns = now_ns;
  if (r->enters && was_entered())
    return "entered";
  if (outputs_have_said())
    return "output";
  if (r->notify && was_notified())
    return "notify";
  if (r->listens && is_listening(&r->place))
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

void ready_end(void) { outputs_end(); }
