/* tp-fuse-collectives: outlines collectives with the ops around them to functions, where kernels
 * with peer-to-peer memory access are faster. It fuses reductions with the row operations on their
 * result, all-gathers with the matmuls that read them, and softmaxes of rows that are split over
 * devices.
 *
 * The pass finds the bias, residual and norm after a reduction by matching expressions of elements
 * (row_expression.h), not ops. Fusion passes keep the function intact. On machines with such
 * kernels it becomes a runtime call; elsewhere tp-inline-calls inlines it again. */
#include "passes/fuse/fuse.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { STAT_FUSED, STAT_MATMULS, STAT_GATHERS, STAT_SLOWER, STAT_OTHER };

/* ---- candidate collectives ---- */

/* True if a dimension of the tensor has size 0. */
static bool is_empty(MlirValue value) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool empty = false;
  for (int d = tp__static_tensor(mlirValueGetType(value), &rank, shape) ? rank : 0; d-- > 0;)
    empty |= shape[d] == 0;
  return empty;
}

static bool is_largest(MlirOperation op) {
  return tp__op_is(op, "shard.all_reduce") && !tp__is_sum(op);
}

/* Excludes collectives in functions that this pass created. */
static bool is_left(MlirOperation op) {
  return mlirAttributeIsNull(tp__get(tp__enclosing_func(op), "tp.fused"));
}

static bool is_sum_left(MlirOperation op) {
  return (tp__op_is(op, "shard.all_reduce") || tp__op_is(op, "shard.reduce_scatter")) &&
         is_left(op);
}

static bool is_gather_left(MlirOperation op) {
  return tp__op_is(op, "shard.all_gather") && is_left(op) &&
         !is_empty(mlirOperationGetOperand(op, 0));
}

/* Order of the stages: softmaxes consume reductions, and reductions consume all-gathers. */
static const struct {
  bool (*is_one)(MlirOperation op);
  tp_status (*fuse)(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);
  int statistic; /* statistic for fused ones */
} stages[] = {{is_largest, tp__fuse_softmax, STAT_FUSED},
              {is_sum_left, tp__fuse_sum, STAT_FUSED},
              {is_gather_left, tp__fuse_gather, STAT_GATHERS}};

/* ---- the pass ---- */

typedef struct collected {
  bool (*is_one)(MlirOperation op);
  tp_op_list ops;
} collected;

static tp_status collect(MlirOperation op, void *data) {
  collected *c = data;
  return c->is_one(op) ? tp__op_list_add(&c->ops, op) : TP_OK;
}

static void count(int64_t *statistics, int fused, tp__fuse_outcome outcome) {
  statistics[fused] += outcome == TP_FUSE_DONE || outcome == TP_FUSE_WITH_MATMUL;
  statistics[STAT_MATMULS] += outcome == TP_FUSE_WITH_MATMUL;
  statistics[STAT_SLOWER] += outcome == TP_FUSE_SLOWER;
  statistics[STAT_OTHER] += outcome == TP_FUSE_BLOCKED;
}

static tp_status fuse_all(tp_pass *pass, tp__fuser *fuser) {
  collected c = {.is_one = NULL};
  tp_status status = TP_OK;
  for (int i = 0; i < TP_LEN(stages) && status == TP_OK; i++) {
    c.is_one = stages[i].is_one;
    c.ops.n = 0;
    status = tp__walk(pass->module, collect, &c);
    for (size_t k = 0; k < c.ops.n && status == TP_OK; k++) {
      tp__fuse_outcome outcome;
      snprintf(fuser->name, sizeof fuser->name, "tp.fused.%lld",
               (long long)(pass->statistics[STAT_FUSED] + pass->statistics[STAT_GATHERS]));
      status = stages[i].fuse(fuser, c.ops.items[k], &outcome);
      count(pass->statistics, stages[i].statistic, outcome);
    }
  }
  tp__free(c.ops.items);
  return status;
}

typedef struct settings {
  const char *topology;
  enum { FUSE_NO, FUSE_FASTER, FUSE_ALWAYS } fuse;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  if (given->fuse == FUSE_NO)
    return TP_OK;
  if (!tp__is_local(pass->module))
    return tp__error(
        pass->module, TP_INVALID_ARGUMENT,
        "the module is not partitioned (no tp.phase = \"local\"); run tp-partition first");
  tp__fuser *fuser = tp__calloc(1, sizeof *fuser);
  if (!fuser)
    return tp__out_of_memory(pass->module);
  fuser->module = pass->module;
  fuser->always = given->fuse == FUSE_ALWAYS;
  tp_status status = tp__module_mesh(pass->module, NULL, &fuser->mesh);
  if (status == TP_OK && fuser->mesh.n_axes > 0)
    status = tp__load_topology(pass->module, given->topology, &fuser->mesh, &fuser->topology);
  if (status == TP_OK && fuser->mesh.n_axes > 0)
    status = fuse_all(pass, fuser);
  tp__free(fuser);
  return status;
}

static const tp_option_row options[] = {
    {"topology", "cpu",
     "cost model, see tp-propagate; its kernels keys say which levels have fused kernels",
     TP_TEXT(settings, topology, "NAME|FILE")},
    {"fuse", "faster",
     "faster: fuse where the cost model says that one kernel takes less time; always: fuse "
     "wherever there is a kernel; no: never fuse",
     TP_CHOICE(settings, fuse, "no|faster|always")},
};

static const tp_statistic_row statistics[] = {
    [STAT_FUSED] = {"fused", "reductions over devices fused with the ops around them"},
    [STAT_MATMULS] = {"products", "of these, those whose matmul is computed in slices, each sent "
                                  "while the next is computed"},
    [STAT_GATHERS] =
        {"gathers",
         "all-gathers fused with matmuls: slices are copied while others are multiplied"},
    [STAT_SLOWER] =
        {"slower",
         "collectives left unfused because separate kernels are faster by the cost model"},
    [STAT_OTHER] = {"other", "collectives left unfused for another reason"},
};

const tp_pass_row tp__fuse_collectives_row = {
    .name = "tp-fuse-collectives",
    .summary = "Fuse collectives with the ops around them: reductions with matmul, residual and "
               "norm, all-gathers with matmuls",
    .description =
        "Requires: tp.phase = \"local\", tensors, calls inlined. Establishes: collectives for "
        "which the topology has fused kernels, and for which the cost model says that these are "
        "faster, are calls of private functions; tp.fused describes each and names its algorithm "
        "of tprt/cuda.h. Reductions: an all_reduce or reduce_scatter (a sum of f32, f16 or bf16) "
        "with the bias, residual, RMS or layer norm of the rows that follow, and the all_gather "
        "that undoes the reduce_scatter. A matmul of rows by a matrix whose only reader is such a "
        "reduction in slices joins the function, to be computed in slices, where that is faster by "
        "the model. A quantization of these rows joins too: a division by a given scale, or by one "
        "per row or per 128 elements, then a clamp and rounding to f8E4M3FN, with the all_gathers "
        "of values and scales that undo the reduce_scatter; if not, a remark says why. Gathers: a "
        "remaining all_gather of rows with the matmuls that read it. Softmax: the max, the sum of "
        "exponentials relative to it and the element that a comparison of an index with the "
        "columns picks, of rows in f32 or widened to it whose columns are split; one exchange "
        "computes them. A remark at each such collective gives both times, or the obstacle. "
        "Breaks: nothing; tp-inline-calls brings the ops back, in the kernel's order of additions "
        "and with its roundings: once after the residual, once after the norm.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
