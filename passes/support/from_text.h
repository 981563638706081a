/* Ops that are written as text: a function is parsed, and its body put in front of some op. */
#ifndef TP_PASSES_FROM_TEXT_H
#define TP_PASSES_FROM_TEXT_H

#include "ir/ir.h"
#include "support/support.h"

void tp__append_type(tp__string *text, MlirType type);
/* [4, 8] */
void tp__append_list(tp__string *text, int n, const int64_t *values);
/* Bits of -infinity, which MLIR's text spells in hexadecimal; NULL for other types than f16, bf16,
 * f32 and f64. */
const char *tp__minus_infinity(MlirType element);

/* The function that the text gives, not part of a module; a null op after an error at `at`. Frees
 * the text. */
MlirOperation tp__parse_function(MlirOperation at, tp__string *text);
/* Moves its body in front of `where`, with `values` for its arguments, and destroys it; what it
 * returns. */
void tp__inline_results(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                        int n_results, MlirValue *results);
/* The same of a function with one result. `made`: it had ops. */
MlirValue tp__inline_text(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                          bool *made);

#endif
