/* Shared libraries that are loaded on first use. */
#ifndef TPRT_RUNTIME_LIBRARY_H
#define TPRT_RUNTIME_LIBRARY_H

#include "base/base.h"

#include <pthread.h>

/* A symbol to look up. A list of symbols ends with an entry whose name is NULL. */
typedef struct tprt__symbol {
  const char *name;
  void *slot; /* address of a function pointer, or of a pointer to an object */
} tprt__symbol;

/* Fills all slots, with NULL for symbols that the library does not have. Returns the name of the
 * first missing symbol, or NULL if none is missing. */
const char *tprt__symbols_find(void *library, const tprt__symbol *symbols);

/* State of an initialization that succeeds once per process. A failed one is tried again. */
typedef struct tprt__once {
  pthread_mutex_t lock;
  bool done;
} tprt__once;
#define TPRT__ONCE {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Runs `load` unless it has succeeded before. Callable from any thread; other callers wait while
 * one thread loads. */
tprt_status tprt__load_once(tprt__once *once, tprt_status (*load)(void));

#endif
