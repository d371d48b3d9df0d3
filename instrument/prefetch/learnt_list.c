/* See learnt_list.h. */
#include "learnt_list.h"

#include "base/execute.h"
#include "base/text.h"
#include "prefetch_list.h"

#include <errno.h>

/* In seconds: warm starts, a hundred in a second perhaps, learn once in this time. */
enum { LEARNT_FOR = 600, MAX_NAME = 64 };

static bool can_run(const char *path) {
  struct stat status;
  return sys_stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
         SYS(faccessat, AT_FDCWD, path, 1 /* X_OK */) == 0;
}

const char *find_command(const char *command, const char *folders, char found[PATH_MAX]) {
  for (const char *c = command; *c; ++c)
    if (*c == '/')
      return command;
  if (!folders)
    folders = USUAL_FOLDERS;
  for (;; ++folders) {
    struct text text = text_in(found, PATH_MAX);
    for (; *folders && *folders != ':'; ++folders)
      text_add_char(&text, *folders);
    text_add(&text, text.size ? "/" : "");
    text_add(&text, command);
    if (!text.overflow && can_run(found))
      return found;
    if (!*folders)
      return NULL;
  }
}

/* The path so far, of the folder. */
static struct text begin_path(struct learnt_list *list, char *const *environment) {
  const char *state = value_of(environment, "XDG_STATE_HOME=");
  const char *home = value_of(environment, "HOME=");
  const bool has_state = state && *state == '/';
  struct text text = text_in(list->path, sizeof list->path);
  if (has_state || (home && *home == '/')) {
    text_add(&text, has_state ? state : home);
    text_add(&text, has_state ? "/frontload" : "/.local/state/frontload");
  }
  list->folder = text.size;
  return text;
}

bool find_learnt_folder(struct learnt_list *list, char *const *environment) {
  const struct text text = begin_path(list, environment);
  return text.size && !text.overflow;
}

bool find_learnt_list(struct learnt_list *list, const char *program, char *const *environment) {
  struct text text = begin_path(list, environment);
  const char *name = program;
  for (const char *c = name; *c; ++c)
    if (*c == '/')
      name = c + 1;
  uint64_t hash = EMPTY_HASH;
  if (*program != '/') {
    char folder[PATH_MAX];
    if (sys_getcwd(folder, sizeof folder) <= 0)
      return false;
    hash = hash_string(hash_string(hash, folder), "/");
  }
  hash = hash_string(hash, program);
  text_add_char(&text, '/');
  for (size_t i = 0; name[i] && i < MAX_NAME; ++i)
    text_add_char(&text, name[i]);
  text_add_char(&text, '-');
  for (int shift = 60; shift >= 0; shift -= 4)
    text_add_char(&text, "0123456789abcdef"[hash >> shift & 15]);
  text_add(&text, ".files");
  return list->folder && !text.overflow;
}

/* Whether there is a list that only this user can have written. */
static bool is_ours(const struct learnt_list *list, struct stat *status) {
  return SYS(newfstatat, AT_FDCWD, list->path, status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status->st_mode) && !(status->st_mode & 077) &&
         (long)status->st_uid == SYS(geteuid);
}

enum learnt look_at_learnt_list(const struct learnt_list *list) {
  struct stat status;
  struct timespec now;
  if (!is_ours(list, &status))
    return NOT_LEARNT;
  const int resident = prefetch_list_is_resident(list->path, NULL);
  if (resident <= 0)
    return resident ? NOT_LEARNT : TO_ASK_FOR;
  SYS(clock_gettime, CLOCK_REALTIME, &now);
  const bool is_fresh =
      status.st_mtim.tv_sec <= now.tv_sec && now.tv_sec - status.st_mtim.tv_sec < LEARNT_FOR;
  return is_fresh ? LEARNT : TO_RENEW;
}

int learnt_list_obstacle(const struct learnt_list *list) {
  char buffer[PATH_MAX];
  struct text path = text_in(buffer, sizeof buffer);
  struct stat status;
  text_add(&path, list->path);
  text_cut(&path, list->folder);
  int error;
  while ((error = sys_stat(buffer, &status)) == -ENOENT && path.size > 1) {
    while (path.size > 1 && buffer[path.size - 1] != '/')
      --path.size;
    text_cut(&path, path.size > 1 ? path.size - 1 : 1);
  }
  if (!error && (long)status.st_uid != SYS(geteuid))
    return EPERM;
  return error ? -error : -(int)SYS(faccessat, AT_FDCWD, buffer, 2 /* W_OK */);
}
