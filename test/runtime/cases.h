/* Tables of cases that all backends run; each is what a rank does, and its argument how many cases
 * one stands for. */
#ifndef TPRT_TEST_CASES_H
#define TPRT_TEST_CASES_H

#include "ranks.h"
#include "scenario.h"

#if defined(__SANITIZE_THREAD__)
#define CASES_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CASES_WATCHED 1
#endif
#endif
#ifndef CASES_WATCHED
#define CASES_WATCHED 0
#endif

/* TP_LONG=1: many more of the cases. */
bool cases_are_long(void);
/* How many cases one stands for in a world of n ranks. */
uint64_t cases_stride(int n);

rank_fn cases_types, cases_sizes, cases_groups;

#endif
