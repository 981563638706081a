/* Reads the programs of files and splits them into modules. */
#include "corpus.h"

#include <stdio.h>
#include <string.h>

static void add_part(corpus *c, const char *file, const char *from, size_t n) {
  if (c->n == MAX_PARTS || n <= 20 || n >= 30000)
    return;
  c->files[c->n] = file;
  c->parts[c->n++] = strndup(from, n);
}

bool corpus_read(corpus *c, int n, char *const *files) {
  for (int i = 0; i < n; i++) {
    text t = {0};
    if (!text_read(&t, files[i]) || !t.length) {
      fprintf(stderr, "shard-fuzz: cannot read '%s'\n", files[i]);
      return false;
    }
    char *at = t.chars;
    for (char *end; (end = strstr(at, "// -----")); at = end + 8)
      add_part(c, files[i], at, (size_t)(end - at));
    add_part(c, files[i], at, strlen(at));
    text_clear(&t);
  }
  return c->n > 0;
}
