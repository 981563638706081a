/* Counts messages by their text without numbers and quoted names. */
#include "modes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool may_go_on(const setting *s, int i, double start) {
  return (s->count == 0 || i < s->count) && (s->seconds <= 0 || now() - start < s->seconds);
}

static char *key_of(const char *message) {
  text key = {0};
  for (const char *c = message; *c; c++) {
    char quote = *c == '"' ? *c : 0;
    if (quote) {
      const char *end = strchr(c + 1, quote);
      text_add(&key, "\"_\"");
      c = end ? end : c;
    } else if (isdigit((unsigned char)*c)) {
      text_add(&key, "#");
      while (isdigit((unsigned char)c[1]))
        c++;
    } else {
      text_bytes(&key, c, 1);
    }
  }
  text_add(&key, "%s", "");
  return key.chars;
}

void tally_add(tally *t, const char *message) {
  char *key = key_of(message);
  int i = 0;
  while (i < t->n && strcmp(t->rows[i].key, key) != 0)
    i++;
  if (i < t->n) {
    t->rows[i].count++;
    free(key);
  } else if (t->n < COUNT(t->rows)) {
    t->rows[t->n].key = key;
    t->rows[t->n].example = strdup(message);
    t->rows[t->n++].count = 1;
  } else {
    free(key);
  }
}

void tally_print(const tally *t, const char *title, int most) {
  bool done[COUNT(t->rows)] = {false};
  for (int k = 0; k < most && k < t->n; k++) {
    int best = -1;
    for (int i = 0; i < t->n; i++)
      if (!done[i] && (best < 0 || t->rows[i].count > t->rows[best].count))
        best = i;
    done[best] = true;
    if (k == 0)
      printf("\n%s, by message\n", title);
    printf("%6d  %s\n", t->rows[best].count, t->rows[best].example);
  }
}
