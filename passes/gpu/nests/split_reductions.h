/* tp-split-reductions: what its files share. */
#ifndef TP_PASSES_SPLIT_REDUCTIONS_H
#define TP_PASSES_SPLIT_REDUCTIONS_H

#include "passes/bufferize/memory_classes.h"
#include "passes/gpu/kernels/map.h"
#include "passes/registry.h"

/* Statistics of the pass. */
enum { TP_STAT_SPLIT };

typedef struct tp__splitting {
  tp_pass *pass;
  tp__memory_classes classes; /* of the function */
  tp_op_list nests;           /* in order; null: is no nest of its own any more */
} tp__splitting;

/* How a nest is cut: `loop` into n_parts parts of `size`, and a rest. */
typedef struct tp__cut {
  int loop;
  int64_t n_parts, size;
  bool rows; /* of results that do not lie side by side: their parts do */
} tp__cut;

/* ---- split_reductions.c ---- */
/* How the nest, whose vectors may have any size, is to be cut; false: not at all. */
bool tp__split_choose(tp__splitting *s, const tp__map_nest *n, tp__cut *c);
/* What gives the results their first value, directly in front, is a kernel with what combines the
 * parts; null: nothing does. */
MlirOperation tp__split_begin(const tp__map_nest *n);

/* ---- split_reductions_build.c ---- */
/* The dimension of the operand that runs along the loop; -1: none. False if it depends on the loop
 * in another way. */
bool tp__cut_dim(const tp__map_operand *o, int loop, int *dim);
/* A buffer for parts: the results' dimensions and one for the parts, behind them, or in front where
 * results lie side by side. */
MlirValue tp__split_partial(MlirOperation where, const tp__map_operand *o, const tp__cut *c);
/* Writes the identity of the combiner everywhere in the parts of an output. */
void tp__split_identity(const tp__map_nest *n, int output, tp_combiner combiner,
                        MlirOperation where, MlirValue partial);
/* The nest of the first parts, into `partial`. The operand `replaced`, an input with the dimensions
 * of results, has another value `by` for each part; -1: none. */
tp_status tp__split_parts(const tp__map_nest *n, const tp__cut *c, MlirOperation where,
                          const MlirValue *partial, int replaced, MlirValue by,
                          MlirOperation *made);
/* The results from what they were, and all their parts. */
void tp__split_combine(const tp__map_nest *n, const tp__cut *c, const tp_combiner *combiners,
                       const MlirValue *partial);
/* The nest itself becomes that of what is left behind the parts, if there is something. */
tp_status tp__split_rest(const tp__map_nest *n, const tp__cut *c);

/* ---- split_softmax.c ---- */
/* A maximum of rows that is cut, and behind it the sum of exp(x - maximum): both at once. `done`:
 * they were. */
tp_status tp__split_softmax(tp__splitting *s, const tp__map_nest *n, const tp__cut *c,
                            size_t number, bool *done);

#endif
