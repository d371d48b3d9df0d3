/* What a command writes: handed on as it comes, and searched for a text. The command writes to
 * pipes, or to a terminal of its own, which it then reads as well; nobody types there. */
#ifndef FRONTLOAD_LAUNCHER_OUTPUTS_H
#define FRONTLOAD_LAUNCHER_OUTPUTS_H

#include <poll.h>
#include <stdbool.h>

enum { OUTPUTS = 2, LONGEST_TEXT = 1 << 16 };

/* To be called before the command is started. `text` has less than LONGEST_TEXT bytes, or is NULL.
 * False, with errno, if that is impossible. */
bool outputs_begin(bool terminal, const char *text);
/* In the command, before it is executed. */
void outputs_enter(void);
/* In this process, when it was. */
void outputs_started(void);

/* Puts into `files` what to wait for by poll(2). */
void outputs_ask(struct pollfd files[OUTPUTS]);
/* Hands on what has come by then. */
void outputs_hand_on(const struct pollfd files[OUTPUTS]);
/* Whether the text was among all that has come so far. */
bool outputs_have_said(void);
/* Hands on what is left when the command has ended. */
void outputs_end(void);

#endif
