/* Shared declarations of tp-split-reductions. */
#ifndef TP_PASSES_SPLIT_REDUCTIONS_H
#define TP_PASSES_SPLIT_REDUCTIONS_H

#include "passes/gpu/kernels/map.h"
#include "passes/registry.h"
#include "passes/support/memory_classes.h"

/* statistics of the pass */
enum { TP_STAT_SPLIT };

typedef struct tp__splitting {
  tp_pass *pass;
  tp__memory_classes classes; /* alias classes of the function */
  tp_op_list nests;           /* in order; null: merged into another nest */
} tp__splitting;

/* A cut of a nest: `loop` is cut into n_parts parts of `size`, plus a remainder. */
typedef struct tp__cut {
  int loop;
  int64_t n_parts, size;
  bool rows; /* results are not contiguous; the parts of one result are */
} tp__cut;

/* ---- split_reductions.c ---- */
/* Chooses the cut of the nest, which may use vectors of any size. False if it should not be cut. */
bool tp__split_choose(tp__splitting *s, const tp__map_nest *n, tp__cut *c);
/* Returns the nest directly before `n` that initializes its results, or null. It forms one kernel
 * with the nest that combines the parts. */
MlirOperation tp__split_begin(const tp__map_nest *n);

/* ---- split_reductions_build.c ---- */
/* Finds the dimension of the operand that runs along the loop; -1: none. False if the operand
 * depends on the loop in another way. */
bool tp__cut_dim(const tp__map_operand *o, int loop, int *dim);
/* Allocates a buffer for the parts. It has the dimensions of the results and one for the parts: the
 * last one, or the first one if results are contiguous. */
MlirValue tp__split_partial(MlirOperation where, const tp__map_operand *o, const tp__cut *c);
/* Fills the buffer of an output's parts with the identity of the combiner. */
void tp__split_identity(const tp__map_nest *n, int output, tp_combiner combiner,
                        MlirOperation where, MlirValue partial);
/* Builds the nest that reduces the parts into `partial`. The operand `replaced` is an input with
 * the dimensions of the results; it is replaced by `by`, which has one value per part. -1: none. */
tp_status tp__split_parts(const tp__map_nest *n, const tp__cut *c, MlirOperation where,
                          const MlirValue *partial, int replaced, MlirValue by,
                          MlirOperation *made);
/* Builds the nest that combines all parts with the previous contents of the results. */
void tp__split_combine(const tp__map_nest *n, const tp__cut *c, const tp_combiner *combiners,
                       const MlirValue *partial);
/* Changes the nest itself to process the remainder, or erases it if there is none. */
tp_status tp__split_rest(const tp__map_nest *n, const tp__cut *c);

/* ---- split_softmax.c ---- */
/* Splits a row max and the following sum of exp(x - max) together. `done` tells whether it did. */
tp_status tp__split_softmax(tp__splitting *s, const tp__map_nest *n, const tp__cut *c,
                            size_t number, bool *done);

#endif
