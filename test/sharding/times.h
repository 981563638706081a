/* Expected times for the tests of the cost model, in picoseconds. */
#ifndef TEST_SHARDING_TIMES_H
#define TEST_SHARDING_TIMES_H

#include "tp/cost.h"

static inline tp_cost us(double microseconds) { return (tp_cost)(microseconds * 1e6 + 0.5); }

/* Returns the time that `bytes` bytes, or `bytes` operations, take at `giga` times 1e9 a second. */
static inline tp_cost rate(double bytes, double giga) { return us(bytes / (giga * 1e3)); }

/* Returns alpha + bytes / bandwidth. */
static inline tp_cost line_time(tp_line line, double bytes) {
  return us(line.alpha_us + bytes / (line.gbytes_per_s * 1e3));
}

#endif
