/* Suggestions for misspelled words. */
#include "cli.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

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
