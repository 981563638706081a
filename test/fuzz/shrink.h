/* Finds the smallest program that still fails in the same way. */
#ifndef FUZZ_SHRINK_H
#define FUZZ_SHRINK_H

#include "generate/program.h"
#include "sandbox.h"

/* Runs the program in a sandbox. */
void program_run(const program *p, report *r, text *captured);
/* Removes ops, results, annotations and uses from `p` while its outcome stays that of `r`, with at
 * most `tries` runs. */
void program_shrink(program *p, report *r, int tries);

#endif
