/* The end of a startup whose command runs on: a server listens, an editor draws. */
#ifndef FRONTLOAD_LAUNCHER_READY_H
#define FRONTLOAD_LAUNCHER_READY_H

#include "entered.h"
#include "listening.h"

#include <stdbool.h>
#include <stdint.h>

/* The awaited events: the first ends the startup. Zero or NULL: not awaited. */
struct Ready {
  bool enters;
  struct Function function; /* the command enters it */
  bool listens;
  struct Place place; /* a socket of the command listens here */
  const char *file;   /* this file exists */
  const char *output; /* the command has written this text */
  int64_t idle_ms;    /* for this time, no thread has run or waited for a disk */
  bool notify;        /* the command has sent READY=1 to the socket $NOTIFY_SOCKET */
  int64_t for_ms;     /* this time has passed since exec */
  bool has_terminal;  /* no event: the command has a terminal of its own (outputs.h) */
};

/* Whether any event is awaited, apart from the end of the command. */
bool ready_is_asked_for(const struct Ready *ready);

/* Called before the command is started: makes its outputs. False, with errno, on failure. */
bool ready_begin(const struct Ready *ready);
/* In the command, before exec. False, with errno, on failure. */
bool ready_enter(const struct Ready *ready);
/* In this process, after the command's exec. */
void ready_started(int64_t now_ns);

/* Waits until the command writes something, for a millisecond or two, and hands on its output. */
void ready_wait(void);
/* The event that has come, by the name of its option, or NULL. `since_ns` is its time: of idle, the
 * beginning of the idle time; else `now_ns`. */
const char *ready_has_come(const struct Ready *ready, int64_t now_ns, int64_t *since_ns);

/* Hands on the rest of the command's output. */
void ready_end(void);

#endif
