/* Libraries that are loaded when something first needs them. */
#ifndef TPRT_RUNTIME_LIBRARY_H
#define TPRT_RUNTIME_LIBRARY_H

#include "base/base.h"

#include <pthread.h>

/* A row of a list that ends with a row without name. */
typedef struct tprt__symbol {
  const char *name;
  void *slot; /* of a function pointer, or of the address of an object */
} tprt__symbol;

/* Fills all slots, with NULL where the library has none of this name; the first such name, NULL if
 * it has all. */
const char *tprt__symbols_find(void *library, const tprt__symbol *symbols);

/* What a process does once: again after a failure. */
typedef struct tprt__once {
  pthread_mutex_t lock;
  bool done;
} tprt__once;
#define TPRT__ONCE {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Any thread; the others wait for the one that loads. */
tprt_status tprt__load_once(tprt__once *once, tprt_status (*load)(void));

#endif
