/* Becomes a command as execvp(3) does, but that no shell reads a program as a script.
 *
 * A file that the kernel does not know is one of the shell's, for there are scripts that do not
 * name it. execvp(3) hands it programs for other machines, and damaged ones, as well: a shell does
 * whatever it finds in their bytes.
 *
 * This calls nothing of libc (see system_calls.h), for what runs before it.
 */
#ifndef FRONTLOAD_EXECUTE_H
#define FRONTLOAD_EXECUTE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where a command is looked for if there is no PATH. */
#define USUAL_FOLDERS "/bin:/usr/bin"

/* `command` and `environment` end with NULL; `folders` is what PATH says, or NULL if there is none.
 * Returns only if that fails, with a negative errno: -ENOEXEC for a file that is neither a program
 * that the kernel runs nor text. */
int execute_command(char **command, char **environment, const char *folders);

#ifdef __cplusplus
}
#endif

#endif
