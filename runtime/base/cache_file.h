/* Files with measurements, below the user's cache folder. Each file has the text for one key. */
#ifndef TPRT_RUNTIME_CACHE_FILE_H
#define TPRT_RUNTIME_CACHE_FILE_H

#include "base/base.h"

typedef struct tprt__cache {
  const char *header; /* identifies the format and the version of the measurement: one line */
  char key[1024];     /* one line: everything on which the measurement depends */
  char path[512];
} tprt__cache;

enum { TPRT__CACHE_TEXT = 1024 }; /* room for the text of a file */

/* Reads the text of a file into `value`. False if it is not valid. */
typedef bool tprt__cache_parse_fn(const char *text, void *value);

/* Sets the path from the header and the key, which are set; the name of the file begins with
 * `name`. False if there is no cache folder, under secure execution, and if the key does not fit or
 * has several lines. */
bool tprt__cache_find(const char *name, tprt__cache *cache);
/* Returns false unless the file is complete, has this header and key, belongs to this user, and has
 * a valid text. */
bool tprt__cache_read(const tprt__cache *cache, tprt__cache_parse_fn *parse, void *value);
/* Opens a temporary file beside the path; -1 if the folder is not writable. Call it before
 * measuring. */
int tprt__cache_begin(const tprt__cache *cache, char *temporary, size_t size);
/* Writes the temporary file, closes it and gives it its final name. If another process was first,
 * `value` becomes that process's value. False if the file could not be written. */
bool tprt__cache_end(const tprt__cache *cache, int file, const char *temporary, const char *text,
                     tprt__cache_parse_fn *parse, void *value);
/* Discards a temporary file. */
void tprt__cache_abandon(int file, const char *temporary);

#endif
