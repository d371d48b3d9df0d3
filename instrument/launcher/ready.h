/* The end of a startup whose command runs on: a server listens, an editor draws. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A function of the file that is executed; addresses are those in the file. */
struct Function {
  uint64_t address;
  uint64_t entry; /* the file's entry point, which tells the load bias */
};

/* Reads 0xADDRESS@0xENTRY. False for any other text. */
bool function_parse(const char *text, struct Function *function);

/* Right after the fork: waits until the command is executed or has ended, then watches the
 * function. Returns for how many nanoseconds this held the command. If watching is impossible, ends
 * the command and returns a negative value, with errno. */
int64_t entered_begin(pid_t command, const struct Function *function);

struct Place {
  uint16_t port;
  int family;          /* AF_INET, AF_INET6, or AF_UNSPEC for any address */
  uint8_t address[16]; /* in network order */
};

/* Reads [ADDRESS:]PORT, with a numeric address (IPv6 in brackets). False for any other text. */
bool place_parse(const char *text, struct Place *place);

/* outputs.c: a command's output: handed on as it comes, and searched for a text. The command writes
 * to pipes, or to a terminal of its own, which has no input. */

enum { OUTPUTS = 2, MAX_TEXT = 1 << 16 };

/* Called before the command is started. `text` has less than MAX_TEXT bytes, or is NULL. False,
 * with errno, on failure. */
bool outputs_begin(bool terminal, const char *text);
/* In the command, before exec. */
void outputs_enter(void);
/* In this process, after the command's exec. */
void outputs_started(void);

/* Waits for output, and hands it on; or for the file `other`, or some milliseconds. */
void outputs_wait(int other, int ms);
/* Whether the output so far contains the text. */
bool outputs_have_said(void);
/* Hands on the rest when the command has ended. */
void outputs_end(void);

/* The awaited events: the first ends the startup. Zero or NULL: not awaited. */
struct Ready {
  struct Function function; /* the command enters it */
  struct Place place; /* a process that the command has started listens for connections here */
  const char *file;   /* this file exists */
  const char *output; /* the command has written this text */
  int64_t idle_ms;    /* for this time, no thread has run or waited for a disk */
  bool notify;        /* the command has sent READY=1 to the socket $NOTIFY_SOCKET */
  int64_t for_ms;     /* this time has passed since exec */
  bool has_terminal;  /* no event: the command has a terminal of its own */
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
