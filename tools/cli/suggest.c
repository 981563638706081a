/* Suggestions for misspelled words. */
#include "cli.h"

#include "support/support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_suggest(const char *word, size_t length, int n, const char *const *names,
                        cli_suggestion *out) {
  const char *closest = tp__closest_word(word, length, n, names);
  out->text[0] = 0;
  if (closest && (strlen(closest) != length || strncmp(closest, word, length) != 0))
    snprintf(out->text, sizeof out->text, " (did you mean '%s'?)", closest);
  return out->text;
}

const char *cli_suggest_value(const char *word, const char *values, cli_suggestion *out) {
  enum { MAX_VALUES = 64 };
  const char *names[MAX_VALUES];
  int n = 0;
  char *copy = strdup(values), *rest = copy;
  out->text[0] = 0;
  for (char *name; copy && n < MAX_VALUES && (name = strsep(&rest, "|"));)
    names[n++] = name;
  (void)cli_suggest(word, strlen(word), n, names, out);
  free(copy);
  return out->text;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* The file that has this name and the suffix .mlir; NULL: none. */
static const char *lacks_suffix(const char *name, int n, const char *const *names) {
  size_t length = strlen(name);
  for (int i = 0; i < n; i++)
    if (length > 0 && strncmp(names[i], name, length) == 0 &&
        strcmp(names[i] + length, ".mlir") == 0)
      return names[i];
  return NULL;
}

const char *cli_suggest_file(const char *path, cli_suggestion *out) {
  if (access(path, F_OK) == 0) { /* it cannot be read for another reason */
    *out->text = '\0';
    return out->text;
  }
  enum { MAX_FILES = 512, MOST_EDITS = 3 /* names of files are often alike */ };
  struct dirent **entries;
  const char *names[MAX_FILES], *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char folder[4096];
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
  int n = scandir(folder, &entries, is_visible, alphasort);
  out->text[0] = 0;
  if (n < 0) {
    if (slash)
      snprintf(out->text, sizeof out->text, " (there is no folder '%.80s')", folder);
    return out->text;
  }
  for (int i = 0; i < n && i < MAX_FILES; i++)
    names[i] = entries[i]->d_name;
  int n_names = n < MAX_FILES ? n : MAX_FILES;
  const char *closest = lacks_suffix(name, n_names, names);
  if (!closest) {
    closest = tp__closest_word(name, strlen(name), n_names, names);
    if (closest && tp__word_distance(name, closest) > MOST_EDITS)
      closest = NULL;
  }
  if (closest)
    snprintf(out->text, sizeof out->text, " (did you mean '%s'?)", closest);
  for (int i = 0; i < n; i++)
    free(entries[i]);
  free(entries);
  return out->text;
}
