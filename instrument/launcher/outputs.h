/* A command's output: handed on as it comes, and searched for a text. The command writes to pipes,
 * or to a terminal of its own, from which it then also reads: nobody types there. */
#ifndef FRONTLOAD_LAUNCHER_OUTPUTS_H
#define FRONTLOAD_LAUNCHER_OUTPUTS_H

#include <poll.h>
#include <stdbool.h>

enum { OUTPUTS = 2, MAX_TEXT = 1 << 16 };

/* Called before the command is started. `text` has less than MAX_TEXT bytes, or is NULL. False,
 * with errno, on failure. */
bool outputs_begin(bool terminal, const char *text);
/* In the command, before exec. */
void outputs_enter(void);
/* In this process, after the command's exec. */
void outputs_started(void);

/* Fills `files` for poll(2). */
void outputs_ask(struct pollfd files[OUTPUTS]);
/* Hands on the output that poll(2) has found. */
void outputs_hand_on(const struct pollfd files[OUTPUTS]);
/* Whether the output so far contains the text. */
bool outputs_have_said(void);
/* Hands on the rest when the command has ended. */
void outputs_end(void);

#endif
