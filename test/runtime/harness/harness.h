/* Shared by the runtime's tests: cmocka, and worlds whose ranks run a function. */
#ifndef TPRT_TEST_HARNESS_H
#define TPRT_TEST_HARNESS_H

#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Skips tests that need shared memory segments. */
#define NEEDS_SHM()                                                                                \
  do {                                                                                             \
    if (!test_on_shm())                                                                            \
      skip();                                                                                      \
  } while (0)

#endif
