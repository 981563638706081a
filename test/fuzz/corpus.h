/* Programs of files. */
#ifndef FUZZ_CORPUS_H
#define FUZZ_CORPUS_H

#include "base.h"

enum { MAX_PARTS = 4096 };

typedef struct corpus {
  int n;
  char *parts[MAX_PARTS]; /* modules: files cut at their "// -----" */
  const char *files[MAX_PARTS];
} corpus;

/* False, with a message, when one cannot be read; or when there are none. */
bool corpus_read(corpus *c, int n, char *const *files);

#endif
