/* Diagnostics of a context, and the verdict on a refusal. */
#ifndef FUZZ_ERRORS_H
#define FUZZ_ERRORS_H

#include "sandbox.h"

/* Counts errors in `r` and keeps the first; attached to a context. */
void watch_errors(report *r, void *context);
/* Returns the verdict on a refusal: `proper` if there is exactly one error, and it is one of
 * tpshard. */
verdict judge_refusal(const report *r, verdict proper);

#endif
