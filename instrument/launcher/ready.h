/* When a start is over that does not end by itself: a server listens, an editor draws. */
#ifndef FRONTLOAD_LAUNCHER_READY_H
#define FRONTLOAD_LAUNCHER_READY_H

#include <stdbool.h>
#include <stdint.h>

/* What is waited for: the first that comes. Zero, or NULL, for what is not. */
struct Ready {
  const char *listening; /* [ADDRESS:]PORT: a socket of the command listens there */
  const char *file;      /* a file is there */
  const char *output;    /* a text on the command's standard output or error output */
  int64_t idle_ms;       /* no thread has had a processor, or waited for a disk, for so long */
  bool notify;           /* the command has sent READY=1 to the socket $NOTIFY_SOCKET */
  int64_t for_ms;        /* so long after it was executed */
};

bool ready_is_asked_for(const struct Ready *ready);

/* Says what is wrong with the values; NULL if nothing is. */
const char *ready_problem(const struct Ready *ready);

/* To be called before the command is started: makes what it writes to. False, with errno, if that
 * is impossible. */
bool ready_begin(const struct Ready *ready);
/* In the command, before it is executed. */
void ready_enter(const struct Ready *ready);
/* In this process, when it was. */
void ready_started(const struct Ready *ready, int64_t now_ns);

/* What has come, by the name of its option; NULL if nothing has yet. Waits for a millisecond or
 * two. Hands on what the command writes. */
const char *ready_poll(const struct Ready *ready, int64_t now_ns);

/* Hands on what is left of what the command has written. */
void ready_end(const struct Ready *ready);

#endif
