/* Builds ops from text: a function is parsed, and its body inlined in front of an op. */
#ifndef TP_PASSES_FROM_TEXT_H
#define TP_PASSES_FROM_TEXT_H

#include "ir/ir.h"
#include "support/support.h"

void tp__append_type(tp__string *text, MlirType type);
/* The same between two pieces of text. */
void tp__append_typed(tp__string *text, const char *before, MlirType type, const char *after);
/* Appends a list in brackets: [4, 8]. */
void tp__append_list(tp__string *text, int n, const int64_t *values);
/* The bits of -infinity in hexadecimal, as MLIR's text format requires; NULL for types other than
 * f16, bf16, f32 and f64. */
const char *tp__minus_infinity(MlirType element);

/* Parses the text of a function, which belongs to no module; returns a null op after an error at
 * `at`. Frees the text. */
MlirOperation tp__parse_function(MlirOperation at, tp__string *text);
/* Moves the body of `func` in front of `where`, with `values` for its arguments, and destroys
 * `func`. `results` become the values it returns. */
void tp__inline_results(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                        int n_results, MlirValue *results);
/* The same for a function with one result. `made`: the body had ops. */
MlirValue tp__inline_text(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                          bool *made);

#endif
