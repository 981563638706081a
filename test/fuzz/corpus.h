/* A corpus of programs read from files. */
#ifndef FUZZ_CORPUS_H
#define FUZZ_CORPUS_H

#include "generate/base.h"

enum { MAX_PARTS = 4096 };

typedef struct corpus {
  int n;
  char *parts[MAX_PARTS]; /* modules: files split at "// -----" */
  const char *files[MAX_PARTS];
} corpus;

/* Returns false, with a message, if a file cannot be read or there are none. */
bool corpus_read(corpus *c, int n, char *const *files);

#endif
