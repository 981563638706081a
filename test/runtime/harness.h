/* What the runtime's tests share: cmocka, and worlds whose ranks run a function. */
#ifndef TPRT_TEST_HARNESS_H
#define TPRT_TEST_HARNESS_H

#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What is about segments. */
#define NEEDS_SHM()                                                                                \
  do {                                                                                             \
    if (!test_on_shm())                                                                            \
      skip();                                                                                      \
  } while (0)

#endif
