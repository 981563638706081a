/* Environment variables, and warnings of those that are probably wrong. */
#define _GNU_SOURCE 1
#include "tp/env.h"

#include "support/support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const tp_env_var table[] = {
    {"TP_OPT_LEVEL", "optimization level of generated code where the caller chooses none: 1 (quick "
                     "to compile, slow to run) to 3; default: 2"},
    {"TP_TOPOLOGY_PATH",
     "folders with topology files `NAME.json`, separated by `:`; they come before the topologies "
     "that are built in ([topologies](topology.md))"},
    {"TPSHARD_PREFIX", "the folder whose `lib` has libtpshard and whose `bin` has shard-run, for "
                       "the Python package; default: that of the installed package"},
};

const tp_env_var *tp_env(size_t *n) {
  *n = TP__COUNT(table);
  return table;
}

static bool has_prefix(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns true if an entry "NAME=VALUE" is a variable that does not exist, and sets *closest to
 * the name that was probably meant, or to NULL. */
static bool is_unknown(const char *entry, const char **closest) {
  const char *names[TP__COUNT(table)];
  size_t length = strcspn(entry, "=");
  bool is_ours = has_prefix(entry, "TPSHARD_");
  if (!is_ours && !has_prefix(entry, "TP_"))
    return false;
  for (int i = 0; i < (int)TP__COUNT(table); i++)
    names[i] = table[i].name;
  *closest = tp__closest_word(entry, length, (int)TP__COUNT(table), names);
  bool is_known = *closest && strlen(*closest) == length && has_prefix(entry, *closest);
  return !is_known && (is_ours || *closest);
}

static bool warn_of_name(size_t *i, size_t size, char *warning) {
  const char *closest;
  for (char **entry = environ; entry && *entry; entry++) {
    if (!is_unknown(*entry, &closest) || (*i)-- > 0)
      continue;
    snprintf(warning, size, "the environment sets %.*s, which is not a variable of tpshard; %s%s%s",
             (int)strcspn(*entry, "="), *entry,
             closest ? "did you mean " : "docs/reference/environment.md lists them",
             closest ? closest : "", closest ? "?" : "");
    return true;
  }
  return false;
}

static bool warn_of_folder(size_t i, size_t size, char *warning) {
  const char *folders = secure_getenv("TP_TOPOLOGY_PATH");
  char path[PATH_MAX];
  struct stat state;
  for (int n; folders && *folders; folders += n + (folders[n] == ':')) {
    n = (int)strcspn(folders, ":");
    snprintf(path, sizeof path, "%.*s", n, folders);
    if (n == 0 || (stat(path, &state) == 0 && S_ISDIR(state.st_mode)) || i-- > 0)
      continue;
    snprintf(warning, size, "TP_TOPOLOGY_PATH: there is no folder '%s'", path);
    return true;
  }
  return false;
}

bool tp_env_warning(size_t i, size_t size, char *warning) {
  return warn_of_name(&i, size, warning) || warn_of_folder(i, size, warning);
}
