/* tp-split-reductions: splits long reductions with few results in two, so that they occupy a GPU.
 *
 * A thread block combines all inputs of one result, or of some adjacent results. The loss of a
 * batch is a single number, so one block would read the whole input. A softmax over a vocabulary
 * with a few tokens would have one block per token. So the pass cuts one of the loops into parts.
 * One nest combines each part, starting from the identity, into an element of its own. Another nest
 * combines the parts with the previous contents of the results. The cut depends only on the shape,
 * so a program gives the same bits in every run. A remainder that is not divisible is left for a
 * third nest. */
#include "passes/gpu/nests/split_reductions.h"

#include "passes/gpu/nests/fuse_nests.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "support/support.h"

enum {
  MANY_BLOCKS = 256,      /* nearly two per multiprocessor of the largest GPUs */
  ROW_PART = 8 * 1024,    /* smaller parts are not worth a block and another launch */
  LONG_COLUMN = 2 * 1024, /* adjacent elements that a few threads combine each */
  COLUMN_PART = 256,
};

/* ---- choosing the cut ---- */

static bool can_cut(const tp__map_nest *n, int loop) {
  int unused;
  for (int i = 0; i < n->n_operands; i++)
    if (!n->operands[i].is_scalar && (!tp__cut_dim(n->operands + i, loop, &unused) ||
                                      (unused >= 0 && n->operands[i].rank == TP_MAX_RANK)))
      return false;
  return n->is_reduction[loop] && n->size[loop] > 1;
}

/* Returns the number of parts closest to `wanted` that divides the loop into multiples of `unit`.
 * It is between half and twice `wanted`; 0 if there is none. */
static int64_t divide(int64_t size, int64_t unit, int64_t wanted) {
  for (int64_t away = 0; away <= wanted; away++) {
    int64_t more = wanted + away, less = wanted - away;
    if (more <= 2 * wanted && size % (more * unit) == 0)
      return more;
    if (2 * less >= wanted && less > 1 && size % (less * unit) == 0)
      return less;
  }
  return 0;
}

/* Cuts into about `wanted` parts: an outer loop if possible, else the inner loop, in vectors and
 * with a remainder. */
static bool choose_loop(const tp__map_nest *n, int64_t wanted, tp__cut *c) {
  int inner = tp__map_inner(n);
  c->rows = n->is_reduction[inner];
  for (c->loop = 0; c->loop < n->n_loops; c->loop++) {
    if (!can_cut(n, c->loop))
      continue;
    c->n_parts = divide(n->size[c->loop], c->loop == inner ? TP_MAP_LANES : 1, wanted);
    c->size = c->n_parts > 0 ? n->size[c->loop] / c->n_parts : 0;
    if (c->n_parts > 0)
      return true;
  }
  for (c->loop = n->n_loops - 1; c->loop >= 0; c->loop--) {
    c->n_parts = wanted;
    c->size = n->size[c->loop] / (wanted * TP_MAP_LANES) * TP_MAP_LANES;
    if (can_cut(n, c->loop) && c->size > 0)
      return true;
  }
  return false;
}

/* True if a stride is dynamic. The strides of a part are computed from those of its buffer. */
static bool has_unknown_strides(const tp__map_nest *n) {
  for (int i = 0; i < n->n_operands; i++)
    if (n->operands[i].has_unknown_strides)
      return true;
  return false;
}

static bool choose(const tp__map_nest *n, tp__cut *c) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  int64_t n_steps = tp__map_iterations(n, true), n_results = tp__map_iterations(n, false);
  if (n_results == 0 || n->n_loops == TP_MAP_LOOPS || has_unknown_strides(n) ||
      !tp__map_combiners(n, combiners))
    return false;
  bool rows = n->is_reduction[tp__map_inner(n)];
  int64_t n_blocks = tp__map_reduction_blocks(n), part = rows ? ROW_PART : COLUMN_PART;
  int64_t wanted =
      MANY_BLOCKS / n_blocks < n_steps / part ? MANY_BLOCKS / n_blocks : n_steps / part;
  return n_steps > (rows ? TP_GROUP_ROW : LONG_COLUMN) && wanted > 1 && choose_loop(n, wanted, c);
}

/* True if the results do not alias inputs. Parts are combined into separate buffers before the
 * results are read, so an input must not be stored where the results are. */
static bool has_disjoint_results(tp__splitting *s, const tp__map_nest *n) {
  for (int k = n->n_inputs; k < n->n_operands; k++)
    for (int i = 0; i < n->n_operands; i++) {
      if (i == k || n->operands[i].is_scalar)
        continue;
      MlirValue result = n->operands[k].memref, other = n->operands[i].memref;
      int64_t class = tp__memory_class(&s->classes, result);
      if (mlirValueEqual(result, other) ||
          (class >= 0 && class == tp__memory_class(&s->classes, other)))
        return false;
    }
  return true;
}

bool tp__split_choose(tp__splitting *s, const tp__map_nest *n, tp__cut *c) {
  return tp__map_iterations(n, true) > 1 && choose(n, c) && has_disjoint_results(s, n);
}

/* ---- splitting ---- */

MlirOperation tp__split_begin(const tp__map_nest *n) {
  MlirBlock block = mlirOperationGetBlock(n->op);
  MlirOperation last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, n->op);
       op = mlirOperationGetNextInBlock(op))
    if (!tp__map_is_pure(op))
      last = op;
  if (mlirOperationIsNull(last) || !tp__map_is_nest(last) || mlirOperationGetNumOperands(last) < 1)
    return (MlirOperation){NULL};
  MlirValue written = mlirOperationGetOperand(last, mlirOperationGetNumOperands(last) - 1);
  return mlirValueEqual(written, n->operands[n->n_inputs].memref) ? last : (MlirOperation){NULL};
}

static tp_status split(tp__splitting *s, const tp__map_nest *n, const tp__cut *c) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  MlirValue partial[TP_MAP_OPERANDS];
  MlirOperation begin = tp__split_begin(n), made;
  (void)tp__map_combiners(n, combiners); /* choose has checked that they are known */
  for (int k = 0; k < tp__map_n_outputs(n); k++) {
    partial[k] = tp__split_partial(n->op, n->operands + n->n_inputs + k, c);
    tp__split_identity(n, k, combiners[k], n->op, partial[k]);
  }
  tp_status status = tp__split_parts(n, c, n->op, partial, -1, (MlirValue){NULL}, &made);
  if (!mlirOperationIsNull(begin))
    mlirOperationMoveBefore(begin, n->op);
  tp__split_combine(n, c, combiners, partial);
  s->pass->statistics[TP_STAT_SPLIT]++;
  return status == TP_OK ? tp__split_rest(n, c) : status;
}

/* ---- the pass ---- */

static tp_status note_op(MlirOperation op, void *data) {
  tp__splitting *s = data;
  tp__memory_classes_add(&s->classes, op);
  return tp__map_is_nest(op) ? tp__op_list_add(&s->nests, op) : TP_OK;
}

static tp_status split_if_long(tp__splitting *s, size_t number) {
  MlirOperation op = s->nests.items[number];
  bool done = false;
  tp__cut c;
  tp__map_nest *n = tp__calloc(1, sizeof *n);
  if (!n)
    return tp__out_of_memory(op);
  tp_status status = tp__map_read(op, n);
  n->max_lanes = TP_MAP_LANES;
  if (status == TP_OK && tp__split_choose(s, n, &c)) {
    status = tp__split_softmax(s, n, &c, number, &done);
    if (status == TP_OK && !done)
      status = split(s, n, &c);
  }
  tp__free(n);
  return status;
}

static tp_status split_function(MlirOperation func, void *data) {
  tp__splitting *s = data;
  tp_status status = tp__walk(func, note_op, s);
  if (status == TP_OK && s->classes.no_memory)
    status = tp__out_of_memory(func);
  for (size_t i = 0; i < s->nests.n && status == TP_OK; i++)
    if (!mlirOperationIsNull(s->nests.items[i]))
      status = split_if_long(s, i);
  tp__free(s->nests.items);
  s->nests = (tp_op_list){0};
  tp__memory_classes_destroy(&s->classes);
  s->classes = (tp__memory_classes){0};
  return status;
}

static tp_status run(tp_pass *pass) {
  tp__splitting s = {.pass = pass};
  return tp__each_entry(pass->module, split_function, &s);
}

static const tp_statistic_row statistics[] = {
    {"split", "reductions split into partial reductions and a reduction of these"},
};

const tp_pass_row tp__split_reductions_row = {
    .name = "tp-split-reductions",
    .summary = "Split long reductions with few results, so that they occupy a GPU",
    .description =
        "Requires: linalg.generic on buffers without assigned addresses, tp-order-loops. "
        "Establishes: a reduction of more than 24,576 elements to each of a few numbers, or of "
        "more than 2048 rows to one of few columns, is split into partial reductions, each into an "
        "element of a new buffer, and a reduction of these; about 256 thread blocks have work. A "
        "reduction with an unknown combiner, or that reads operands at sums of loop indices, is "
        "not split. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
