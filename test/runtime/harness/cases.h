/* Tables of test cases that all backends run. Each runs as the function of a rank; its argument is
 * the stride of the cases. */
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

/* TP_LONG=1: runs many more cases. */
bool cases_are_long(void);
/* Returns the stride of the cases in a world of n ranks. */
uint64_t cases_stride(int n);

rank_fn cases_types, cases_sizes, cases_groups;

#endif
