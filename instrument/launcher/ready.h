/* When a start is over that does not end by itself: a server listens, an editor draws. */
#ifndef FRONTLOAD_LAUNCHER_READY_H
#define FRONTLOAD_LAUNCHER_READY_H

#include "entered.h"
#include "listening.h"

#include <stdbool.h>
#include <stdint.h>

/* What is waited for: the first that comes. Zero, or NULL, for what is not. */
struct Ready {
  bool enters;
  struct Function function; /* the command enters it */
  bool listens;
  struct Place place; /* where a socket of the command listens then */
  const char *file;   /* is there */
  const char *output; /* a text that the command has written */
  int64_t idle_ms;    /* no thread has had a processor, or waited for a disk, for so long */
  bool notify;        /* the command has sent READY=1 to the socket $NOTIFY_SOCKET */
  int64_t for_ms;     /* so long after it was executed */
  bool has_terminal;  /* not waited for: the command has a terminal of its own (outputs.h) */
};

/* Whether anything is waited for, but the end of the command. */
bool ready_is_asked_for(const struct Ready *ready);

/* To be called before the command is started: makes what it writes to. False, with errno, if that
 * is impossible. */
bool ready_begin(const struct Ready *ready);
/* In the command, before it is executed. False, with errno, if that is impossible. */
bool ready_enter(const struct Ready *ready);
/* In this process, when it was. */
void ready_started(int64_t now_ns);

/* Waits until the command writes something, for a millisecond or two, and hands that on. */
void ready_wait(void);
/* What has come, by the name of its option; NULL if nothing has yet. `since_ns` is when: the
 * beginning of the time in which nothing ran; else `now_ns`. */
const char *ready_has_come(const struct Ready *ready, int64_t now_ns, int64_t *since_ns);

/* Hands on what is left of what the command has written. */
void ready_end(void);

#endif
