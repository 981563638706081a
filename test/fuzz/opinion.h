/* Verification of results by the reference evaluator (tp/reference.h). */
#ifndef FUZZ_OPINION_H
#define FUZZ_OPINION_H

#include "sandbox.h"

#include "tools/shard-run/array.h"
#include "tp/plan.h"

typedef struct opinion opinion;

/* Evaluates the function of `signature` on these inputs. NULL, with the reason in r->open, if the
 * results are undetermined: control flow depends on rounding, or the evaluator does not support the
 * program (then r->lacks is set). */
opinion *opinion_form(MlirModule module, const tp_plan *signature, const array *inputs, report *r);
/* Returns true if the results computed by `who` are correct; otherwise r->message describes the
 * difference. Counts in r how many numbers could be verified. */
bool opinion_agrees(const opinion *o, const array *results, const char *who, report *r);

#endif
