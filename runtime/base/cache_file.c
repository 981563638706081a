/* Files with measurements, below the user's cache folder. */
#define _GNU_SOURCE 1
#include "base/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = sizeof((tprt__cache *)0)->key + TPRT__CACHE_TEXT + 128 };

bool tprt__cache_find(const char *name, tprt__cache *cache) {
  const char *base = secure_getenv("XDG_CACHE_HOME"), *below = "";
  if (!base || *base != '/') {
    base = secure_getenv("HOME");
    below = "/.cache";
  }
  size_t n = strnlen(cache->key, sizeof cache->key);
  if (!base || *base != '/' || n + 1 >= sizeof cache->key || strchr(cache->key, '\n'))
    return false;
  int length = snprintf(cache->path, sizeof cache->path, "%s%s/tpshard/%s-%016" PRIx64, base, below,
                        name, tprt__hash(0, cache->key, n));
  return length < (int)sizeof cache->path;
}

/* ---- reading ---- */

/* Returns the text behind header and key, without the end mark that it must have; NULL: the file is
 * not complete, or of something else. */
static const char *text_of(char *content, const tprt__cache *cache) {
  static const char end[] = "\nend\n";
  size_t n_header = strlen(cache->header), n_key = strlen(cache->key), n = strlen(content);
  if (n < n_header + n_key + 2 + strlen(end) || strncmp(content, cache->header, n_header) != 0 ||
      content[n_header] != '\n' || strncmp(content + n_header + 1, cache->key, n_key) != 0 ||
      content[n_header + 1 + n_key] != '\n' || strcmp(content + n - strlen(end), end) != 0)
    return NULL;
  content[n - strlen(end)] = 0;
  return content + n_header + n_key + 2;
}

bool tprt__cache_read(const tprt__cache *cache, tprt__cache_parse_fn *parse, void *value) {
  char content[FILE_BYTES];
  struct stat status;
  int file = open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  bool ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  ssize_t n = ours ? read(file, content, sizeof content - 1) : -1;
  close(file);
  if (n < 0)
    return false;
  content[n] = 0;
  const char *text = text_of(content, cache);
  return text && parse(text, value);
}

/* ---- writing ---- */

/* Creates the missing parent folders of a path. */
static void make_folders(const char *path) {
  char part[sizeof((tprt__cache *)0)->path];
  for (size_t i = 1; path[i]; i++) {
    if (path[i] != '/')
      continue;
    snprintf(part, sizeof part, "%.*s", (int)i, path);
    (void)mkdir(part, 0700);
  }
}

int tprt__cache_begin(const tprt__cache *cache, char *temporary, size_t size) {
  make_folders(cache->path);
  snprintf(temporary, size, "%s.XXXXXX", cache->path);
  return mkostemp(temporary, O_CLOEXEC);
}

bool tprt__cache_end(const tprt__cache *cache, int file, const char *temporary, const char *text,
                     tprt__cache_parse_fn *parse, void *value) {
  char content[FILE_BYTES];
  int n = snprintf(content, sizeof content, "%s\n%s\n%s\nend\n", cache->header, cache->key, text);
  bool done = n < (int)sizeof content && write(file, content, (size_t)n) == n;
  done = close(file) == 0 && done;
  if (done && link(temporary, cache->path)) {
    /* Another process was first, or an invalid file has the name, or the file system has no hard
     * links. */
    bool is_theirs = errno == EEXIST && tprt__cache_read(cache, parse, value);
    done = is_theirs || rename(temporary, cache->path) == 0;
  }
  (void)unlink(temporary);
  return done;
}

void tprt__cache_abandon(int file, const char *temporary) {
  close(file);
  unlink(temporary);
}
