/* Becomes a command as execvp(3) does, but never runs a binary file as a shell script.
 *
 * Text that the kernel refuses is run by the shell, because scripts may lack a #! line. execvp(3)
 * also passes the shell programs for other machines and damaged ones, and the shell executes
 * whatever it finds in their bytes.
 *
 * This calls nothing of libc (see system_calls.h): callers may run before libc.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The folders that are searched if there is no PATH. */
#define USUAL_FOLDERS "/bin:/usr/bin"

/* `command` and `environment` end with NULL; `folders` is the value of PATH, or NULL if unset.
 * Returns only on failure, with a negative errno: -ENOEXEC for a file that is neither a program
 * that the kernel runs nor text. */
int execute_command(char **command, char **environment, const char *folders);

#ifdef __cplusplus
}
#endif
