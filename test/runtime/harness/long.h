/* TP_LONG=1, which `./dev test --long` sets: tests do more work. */
#ifndef TEST_RUNTIME_LONG_H
#define TEST_RUNTIME_LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_is_long(void) {
  const char *text = getenv("TP_LONG");
  return text && *text;
}

#endif
