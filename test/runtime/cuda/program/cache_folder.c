/* A cache folder for a test. */
#define _GNU_SOURCE 1
#include "cache_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char base[64], folder[96];

void set_variable(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

void cache_folder_begin(void) {
  snprintf(base, sizeof base, "/tmp/tprt-cache-XXXXXX");
  if (!mkdtemp(base))
    abort();
  snprintf(folder, sizeof folder, "%s/tpshard", base);
  cache_folder_use();
}

void cache_folder_use(void) { set_variable("XDG_CACHE_HOME", base); }

int cache_files(char path[CACHE_PATH]) {
  DIR *d = opendir(folder);
  int n = 0;
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (*e->d_name == '.')
      continue;
    snprintf(path, CACHE_PATH, "%s/%.255s", folder, e->d_name);
    n++;
  }
  if (d)
    closedir(d);
  return n;
}

void cache_files_clear(void) {
  char path[CACHE_PATH];
  while (cache_files(path))
    unlink(path);
}

void cache_folder_end(void) {
  cache_files_clear();
  rmdir(folder);
  rmdir(base);
}
