/* When a command first enters one of its functions. */
#ifndef FRONTLOAD_LAUNCHER_ENTERED_H
#define FRONTLOAD_LAUNCHER_ENTERED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A function of the file that is executed; addresses are those in the file. */
struct Function {
  uint64_t address;
  uint64_t entry; /* of the file, by which it is found where the file was loaded */
};

/* Reads 0xADDRESS@0xENTRY. False if it is something else. */
bool function_parse(const char *text, struct Function *function);

/* In the command, before it is executed. False, with errno, if another debugger has it. */
bool entered_enter(void);

/* In its parent, at once after the fork: waits until the command is executed, or has ended, and
 * watches the function from then on. Returns for how many nanoseconds the command was held for
 * that, or a negative value, with errno, if it cannot be watched; then it has been ended. */
int64_t entered_begin(pid_t command, const struct Function *function);

/* Whether the command, or a process that it has forked, has entered the function. */
bool was_entered(void);

#endif
