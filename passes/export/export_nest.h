/* Exports the loop nest of a structured op. tp_nest describes the nest and the values built so
 * far (export_nest.c); each kind of nest has a file with its exporter. */
#ifndef TP_PASSES_EXPORT_NEST_H
#define TP_PASSES_EXPORT_NEST_H

#include "passes/export/export.h"
#include "rules/body.h"

enum { TP_NEST_MAX_LOOPS = TP_MAX_RANK, TP_NEST_MAX_OPERANDS = TP_MAX_GENERIC_OPERANDS };

typedef struct tp_nest {
  MlirOperation op;
  tp_body body;
  int n_loops, n_operands;
  int64_t sizes[TP_NEST_MAX_LOOPS];
  bool is_reduction[TP_NEST_MAX_LOOPS];
  MlirAffineMap maps[TP_NEST_MAX_OPERANDS];
  MlirValue operands[TP_NEST_MAX_OPERANDS]; /* exported; each loop of the map is one dimension */
  int loops[TP_NEST_MAX_OPERANDS][TP_NEST_MAX_LOOPS];
  MlirValue
      accumulators[TP_NEST_MAX_OPERANDS]; /* what the body reads for output k; null: its init */
  /* of part of a nest: the number of each loop of the op in it; -1: it is fixed or skipped */
  int number[TP_NEST_MAX_LOOPS];
  MlirValue fixed[TP_NEST_MAX_LOOPS]; /* the iteration of a fixed loop */
  tp__value_map memo;                 /* value of the body -> address of the exported value */
} tp_nest;

/* Reads the loops, maps and body of a structured op. */
tp_status tp__nest_read(MlirOperation op, tp_nest *n);
/* Brings an operand to a form in which each dimension is one loop. */
tp_status tp__nest_flatten(tp_export *x, tp_nest *n, int i);
/* The nest without the loops in `without`. Operands are taken at iteration at[l] of these loops;
 * with at = NULL they must not use them. */
tp_nest tp__nest_part(tp_export *x, const tp_nest *whole, uint32_t without, const int64_t *at);

/* ---- values at all points ---- */

/* The type of a tensor with a dimension per loop. */
MlirType tp__nest_space(const tp_nest *n, MlirType element);
/* Computes a value of the body at all points: a tensor with a dimension per loop, or a number if it
 * is equal at all points. */
tp_status tp__nest_evaluate(tp_export *x, tp_nest *n, MlirValue value, MlirValue *now);
/* The number of the iteration of a loop. */
MlirValue tp__nest_iota(tp_export *x, const tp_nest *n, int64_t loop);
/* Spreads a number, or a flattened operand, over all loops. */
MlirValue tp__nest_full(tp_export *x, const tp_nest *n, MlirValue value);
MlirValue tp__nest_spread(tp_export *x, const tp_nest *n, int i);
/* tensor.extract of a captured tensor (export_lookup.c). */
tp_status tp__nest_gather(tp_export *x, tp_nest *n, MlirOperation op, MlirValue *now);

/* ---- positions ---- */

/* Adds factor * expr to constant + sum of c[l] * loop l. False if it is not linear. */
bool tp__nest_linear(MlirAffineExpr expr, int64_t factor, int64_t *constant, int64_t *c);
/* Takes elements `at` + step * i, i < count, along dimension `d`. */
MlirValue tp__nest_pick(tp_export *x, MlirValue value, int d, int64_t at, int64_t step,
                        int64_t count);

/* ---- results ---- */

/* The loops that index result k, in the order of its dimensions. */
tp_status tp__nest_result_loops(const tp_nest *n, int k, int64_t *loops, int *count);
MlirValue tp__nest_add_units(tp_export *x, const tp_nest *n, int k, MlirValue value);
/* Orders the dimensions of a value, which are loops in ascending order, as result k has them. */
tp_status tp__nest_order_result(tp_export *x, const tp_nest *n, int k, MlirValue *value);

/* ---- what a nest becomes ----
 * Those with *done export a nest of their kind and set it, else they do nothing. */

/* True if the nest adds up the products of two inputs, for which StableHLO has ops. */
bool tp__nest_is_contraction(const tp_nest *n);
/* convolution (export_convolution.c), reduce_window (export_window.c) */
tp_status tp__nest_convolve(tp_export *x, tp_nest *n, bool *done);
tp_status tp__nest_reduce_windows(tp_export *x, tp_nest *n, bool *done);
/* dot_general (export_contraction.c), scatter (export_scatter.c): of flattened operands. */
tp_status tp__nest_contract(tp_export *x, tp_nest *n, bool *done);
tp_status tp__nest_scatter(tp_export *x, tp_nest *n, bool *done);
/* Any other reduction of flattened operands (export_reduction.c). */
tp_status tp__nest_reduce(tp_export *x, tp_nest *n);

#endif
