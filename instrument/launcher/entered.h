/* When a command first enters one of its functions. */
#ifndef FRONTLOAD_LAUNCHER_ENTERED_H
#define FRONTLOAD_LAUNCHER_ENTERED_H

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

/* In the command, before exec. False, with errno, if another debugger traces it. */
bool entered_enter(void);

/* In the parent, right after the fork: waits until the command is executed or has ended, then
 * watches the function. Returns for how many nanoseconds this held the command. If watching is
 * impossible, ends the command and returns a negative value, with errno. */
int64_t entered_begin(pid_t command, const struct Function *function);

/* Whether the command, or a process that it has forked, has entered the function. */
bool was_entered(void);

#endif
