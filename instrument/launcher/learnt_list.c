/* See learnt_list.h. */
#include "learnt_list.h"

#include "base/execute.h"
#include "base/text.h"

/* In seconds: warm starts, a hundred in a second perhaps, learn once in this time. */
enum { LEARNT_FOR = 600 };

static bool can_run(const char *path) {
  struct stat status;
  return sys_stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
         SYS(faccessat, AT_FDCWD, path, 1 /* X_OK */) == 0;
}

bool find_command(const char *command, const char *folders, char path[PATH_MAX]) {
  for (const char *c = command; *c; ++c)
    if (*c == '/') {
      struct text text = text_in(path, PATH_MAX);
      text_add(&text, command);
      return !text.overflow && can_run(path);
    }
  if (!folders)
    folders = USUAL_FOLDERS;
  for (;; ++folders) {
    struct text text = text_in(path, PATH_MAX);
    for (; *folders && *folders != ':'; ++folders)
      text_add_char(&text, *folders);
    text_add(&text, text.size ? "/" : "");
    text_add(&text, command);
    if (!text.overflow && can_run(path))
      return true;
    if (!*folders)
      return false;
  }
}

bool find_learnt_folder(struct learnt_list *list, char *const *environment) {
  const char *state = value_of(environment, "XDG_STATE_HOME=");
  const char *home = value_of(environment, "HOME=");
  const bool has_state = state && *state == '/';
  struct text text = text_in(list->folder, sizeof list->folder);
  if (!has_state && (!home || *home != '/'))
    return false;
  text_add(&text, has_state ? state : home);
  text_add(&text, has_state ? "/frontload" : "/.local/state/frontload");
  return !text.overflow;
}

bool find_learnt_list(struct learnt_list *list, const char *command, char *const *environment) {
  enum { MAX_NAME = 64 };
  if (!find_learnt_folder(list, environment) ||
      !find_command(command, value_of(environment, "PATH="), list->command))
    return false;
  const char *name = list->command;
  for (const char *c = name; *c; ++c)
    if (*c == '/')
      name = c + 1;
  uint64_t hash = EMPTY_HASH;
  if (*list->command != '/') {
    char folder[PATH_MAX];
    if (sys_getcwd(folder, sizeof folder) <= 0)
      return false;
    hash = hash_string(hash, folder);
    hash = hash_string(hash, "/");
  }
  hash = hash_string(hash, list->command);
  struct text text = text_in(list->path, sizeof list->path);
  text_add(&text, list->folder);
  text_add_char(&text, '/');
  for (size_t i = 0; name[i] && i < MAX_NAME; ++i)
    text_add_char(&text, name[i]);
  text_add_char(&text, '-');
  for (int shift = 60; shift >= 0; shift -= 4)
    text_add_char(&text, "0123456789abcdef"[hash >> shift & 15]);
  text_add(&text, ".files");
  return !text.overflow;
}

bool learnt_folder_is_ours(const struct learnt_list *list) {
  struct stat status;
  const long user = SYS(geteuid);
  return SYS(newfstatat, AT_FDCWD, list->folder, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode) && !(status.st_mode & 077) && (long)status.st_uid == user &&
         SYS(getuid) == user;
}

bool learnt_list_is_due(const struct learnt_list *list) {
  struct stat status;
  struct timespec now;
  return sys_stat(list->path, &status) != 0 || SYS(clock_gettime, CLOCK_REALTIME, &now) != 0 ||
         now.tv_sec < status.st_mtim.tv_sec || now.tv_sec - status.st_mtim.tv_sec >= LEARNT_FOR;
}
