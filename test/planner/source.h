/* Random programs as text. */
#ifndef PLANNER_SOURCE_H
#define PLANNER_SOURCE_H

#include "test/fuzz/generate/base.h"

/* Writes the program that the fuzzer draws from this seed. */
void draw_source(uint64_t seed, text *source);

#endif
