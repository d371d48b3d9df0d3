/* Asks for what is waited for every other millisecond. What that costs is in the result. */
#define _GNU_SOURCE
#include "ready.h"

#include "listening.h"
#include "process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { POLL_MS = 1, LONGEST_TEXT = 1 << 16 };

static int pipes[2][2] = {{-1, -1}, {-1, -1}}; /* of standard output and error output */
static char *tails[2];                         /* the last that each has written */
static size_t tail_sizes[2];
static bool has_said;
static int notify_socket = -1;
static struct sockaddr_un notify_address;
static socklen_t notify_length;
static int64_t started_ns, idle_since_ns, last_activity;

bool ready_is_asked_for(const struct Ready *r) {
  return r->listening || r->file || r->output || r->idle_ms || r->notify || r->for_ms;
}

const char *ready_problem(const struct Ready *r) {
  struct Place place;
  if (r->listening && !place_parse(r->listening, &place))
    return " is not [ADDRESS:]PORT, with a numeric address";
  if (r->output && (!*r->output || strlen(r->output) >= LONGEST_TEXT))
    return " is empty or too long";
  return NULL;
}

bool ready_begin(const struct Ready *r) {
  if (r->output)
    for (int i = 0; i < 2; ++i) {
      tails[i] = malloc(2 * LONGEST_TEXT);
      if (!tails[i] || pipe2(pipes[i], O_CLOEXEC) < 0)
        return false;
      fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
    }
  if (!r->notify)
    return true;
  notify_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  notify_address.sun_family = AF_UNIX;
  /* An abstract address: nothing is left in a file system. */
  notify_length = offsetof(struct sockaddr_un, sun_path) + 1 +
                  snprintf(notify_address.sun_path + 1, sizeof notify_address.sun_path - 1,
                           "frontload-ready-%d", getpid());
  return notify_socket >= 0 &&
         bind(notify_socket, (struct sockaddr *)&notify_address, notify_length) == 0;
}

void ready_enter(const struct Ready *r) {
  if (r->output)
    for (int i = 0; i < 2; ++i)
      dup2(pipes[i][1], STDOUT_FILENO + i);
  if (r->notify) {
    char name[sizeof notify_address.sun_path + 1];
    snprintf(name, sizeof name, "@%s", notify_address.sun_path + 1);
    setenv("NOTIFY_SOCKET", name, 1);
  }
}

void ready_started(const struct Ready *r, int64_t now_ns) {
  started_ns = idle_since_ns = now_ns;
  if (r->output)
    for (int i = 0; i < 2; ++i)
      close(pipes[i][1]);
}

/* Reads what the command has written, hands it on, and looks for the text. */
static void hand_on(const struct Ready *r, int which) {
  size_t wanted = strlen(r->output);
  char *tail = tails[which];
  for (;;) {
    ssize_t size = read(pipes[which][0], tail + tail_sizes[which], LONGEST_TEXT);
    if (size <= 0)
      return;
    for (ssize_t done = 0; done < size;) {
      ssize_t written = write(STDOUT_FILENO + which, tail + tail_sizes[which] + done, size - done);
      if (written < 0 && errno != EINTR)
        break; /* nobody reads it; the command is not to blame */
      done += written > 0 ? written : 0;
    }
    size_t all = tail_sizes[which] + size;
    has_said |= memmem(tail, all, r->output, wanted) != NULL;
    /* As much as the beginning of the text can be. */
    tail_sizes[which] = all < wanted ? all : wanted - 1;
    memmove(tail, tail + all - tail_sizes[which], tail_sizes[which]);
  }
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

const char *ready_poll(const struct Ready *r, int64_t now_ns) {
  struct pollfd files[] = {
      {pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}, {notify_socket, POLLIN, 0}};
  poll(files, 3, POLL_MS);
  /* What has ended would be readable for ever. */
  for (int i = 0; i < 2; ++i)
    if (pipes[i][0] >= 0 && files[i].revents) {
      hand_on(r, i);
      if (files[i].revents == POLLHUP)
        close(pipes[i][0]), pipes[i][0] = -1;
    }
  if (has_said)
    return "output";
  if (r->notify && was_notified())
    return "notify";
  struct Place place;
  if (r->listening && place_parse(r->listening, &place) && is_listening(&place))
    return "listening";
  if (r->file && access(r->file, F_OK) == 0)
    return "file";
  if (r->idle_ms) {
    int64_t activity = tree_activity();
    if (activity < 0 || activity != last_activity)
      idle_since_ns = now_ns;
    last_activity = activity;
    if (now_ns - idle_since_ns >= r->idle_ms * 1000000)
      return "idle";
  }
  if (r->for_ms && now_ns - started_ns >= r->for_ms * 1000000)
    return "for";
  return NULL;
}

void ready_end(const struct Ready *r) {
  for (int i = 0; i < 2; ++i)
    if (pipes[i][0] >= 0)
      hand_on(r, i);
}
