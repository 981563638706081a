/* What the evaluator (tp/reference.h) says of results. */
#ifndef FUZZ_OPINION_H
#define FUZZ_OPINION_H

#include "sandbox.h"

#include "tools/shard-run/array.h"
#include "tp/plan.h"

typedef struct opinion opinion;

/* Evaluates the function of `signature` on these inputs. NULL, and r->open has the reason, where
 * the text of the program does not say what comes out: what it does depends on rounding, or it is
 * not evaluated; the latter is told by r->lacks. */
opinion *opinion_form(MlirModule module, const tp_plan *signature, const array *inputs, report *r);
/* Are the results right, which `who` computed? Else r->message says what differs. Counts in r how
 * many numbers could be judged. */
bool opinion_agrees(const opinion *o, const array *results, const char *who, report *r);

#endif
