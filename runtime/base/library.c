/* Looks up symbols of a loaded library, and runs an initialization once per process. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

const char *tprt__symbols_find(void *library, const tprt__symbol *symbols) {
  const char *missing = NULL;
  for (const tprt__symbol *row = symbols; row->name; row++) {
    void *found = dlsym(library, row->name);
    memcpy(row->slot, &found, sizeof found);
    if (!found && !missing)
      missing = row->name;
  }
  return missing;
}

tprt_status tprt__load_once(tprt__once *once, tprt_status (*load)(void)) {
  pthread_mutex_lock(&once->lock);
  tprt_status status = once->done ? TPRT_OK : load();
  once->done = !status;
  pthread_mutex_unlock(&once->lock);
  return status;
}
