/* tp-lower-contractions: lowers contractions on buffers to calls of tprt_abi_contract, or of
 * tprt_abi_fused for several that run side by side.
 *
 * Most contractions accumulate into a zero-filled buffer. A fill directly before the contraction is
 * removed, and the call overwrites C instead. This saves one write and one read of C. */
#include "passes/lower/contractions.h"
#include "passes/registry.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

/* Computes the strides of operand `which` in elements, per loop. False if a stride is dynamic or
 * negative. */
static bool loop_strides(const tp__contraction *c, int which, MlirType type, int64_t *strides) {
  int64_t of_dims[TP_MAX_RANK + 1], offset;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, of_dims, &offset)))
    return false;
  for (int i = 0; i < c->n_loops; i++)
    strides[i] = 0;
  for (int d = 0; d < c->rank[which]; d++) {
    if (of_dims[d] < 0) /* dynamic or negative */
      return false;
    if (c->loops[which][d] >= 0)
      strides[c->loops[which][d]] += of_dims[d];
  }
  return true;
}

/* Fills in the site and the loops. All operands have one element type, or `mixed` ones that GPUs
 * multiply. */
static bool describe(MlirOperation op, bool mixed, tp__product *p) {
  const tp__contraction *c = &p->contraction;
  int64_t strides[3][TP_MAX_LOOPS];
  MlirType elements[3];
  for (int k = 0; k < 3; k++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, k < 2 ? c->operands[k] : 2));
    if (!mlirTypeIsAMemRef(type) || !loop_strides(c, k, type, strides[k]))
      return false;
    elements[k] = tp__element_type(type);
  }
  bool equal = mlirTypeEqual(elements[0], elements[2]) && mlirTypeEqual(elements[1], elements[2]);
  if (!equal && (!mixed || !tp__are_mixed_factors(elements[0], elements[1], elements[2])))
    return false;
  p->site = (tprt_abi_site){.kind = TPRT_SITE_CONTRACT,
                            .dtype = tp__runtime_dtype(elements[2]),
                            .split_dim = equal ? 0 : tp__runtime_dtype(elements[0]),
                            .root = equal ? 0 : tp__runtime_dtype(elements[1])};
  for (int i = 0; i < c->n_loops; i++) {
    p->loops[i].size = c->sizes[i];
    for (int k = 0; k < 3; k++)
      p->loops[i].stride[k] = strides[k][i];
    /* a dimension of size 1 with stride 0 would read as contracted */
    if (strides[2][i] == 0 && !c->reduced[i])
      return false;
  }
  return true;
}

/* ---- initial value of C ---- */

static bool is_zero(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || !tp__op_is(op, "arith.constant"))
    return false;
  MlirAttribute number = tp__inherent(op, "value");
  if (mlirAttributeIsAFloat(number))
    return mlirFloatAttrGetValueDouble(number) == 0 &&
           !signbit(mlirFloatAttrGetValueDouble(number));
  return mlirAttributeIsAInteger(number) && mlirIntegerAttrGetValueInt(number) == 0;
}

bool tp__leaves_memory(MlirOperation op) {
  static const char *const names[] = {"memref.alloc", "memref.subview", "memref.cast",
                                      "memref.expand_shape", "memref.collapse_shape"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return tp__op_has_dialect(op, "arith");
}

/* Returns the zero fill of C if no op between it and the contraction accesses memory, else a null
 * op. */
static MlirOperation zeros_before(MlirOperation op) {
  MlirValue c = mlirOperationGetOperand(op, 2);
  for (MlirOpOperand use = mlirValueGetFirstUse(c); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation fill = mlirOpOperandGetOwner(use);
    if (!tp__op_is(fill, "linalg.fill") || mlirOpOperandGetOperandNumber(use) != 1 ||
        !mlirBlockEqual(mlirOperationGetBlock(fill), mlirOperationGetBlock(op)) ||
        !is_zero(mlirOperationGetOperand(fill, 0)))
      continue;
    MlirOperation next = mlirOperationGetNextInBlock(fill);
    while (!mlirOperationIsNull(next) && tp__leaves_memory(next))
      next = mlirOperationGetNextInBlock(next);
    if (!mlirOperationIsNull(next) && mlirOperationEqual(next, op))
      return fill;
  }
  return (MlirOperation){NULL};
}

static bool is_empty(const tp__contraction *c) {
  for (int i = 0; i < c->n_loops; i++)
    if (c->sizes[i] == 0)
      return true;
  return false;
}

bool tp__read_product(MlirOperation op, bool mixed, tp__product *product) {
  *product = (tp__product){.op = op};
  if (!tp__match_contraction(op, &product->contraction) || !describe(op, mixed, product))
    return false;
  if (!is_empty(&product->contraction))
    product->fill = zeros_before(op);
  return true;
}

/* ---- calls ---- */

enum { STAT_CONTRACTIONS, STAT_OVERWRITING, STAT_TOGETHER };

typedef struct settings {
  enum { FOR_HOST, FOR_CUDA } target;
} settings;

/* Where the calls of a function are built. */
typedef struct builder {
  tp_pass *pass;
  tp__lowering l;
  tp__product *products;
  size_t n, capacity;
} builder;

/* Removes the contraction, and the fill that its call makes needless. */
static void remove_op(tp_pass *pass, const tp__product *p) {
  mlirOperationDestroy(p->op);
  if (mlirOperationIsNull(p->fill))
    return;
  mlirOperationDestroy(p->fill);
  pass->statistics[STAT_OVERWRITING]++;
}

static MlirValue pointer(tp__lowering *l, MlirOperation where, const tp__product *p, int k) {
  return tp__build_pointer(l, where,
                           mlirOperationGetOperand(p->op, k < 2 ? p->contraction.operands[k] : 2));
}

static void lower_one(builder *b, tp__product *p) {
  tp__lowering *l = &b->l;
  int64_t words[TPRT_CONTRACT_LOOPS + TPRT_LOOP_WORDS * TP_MAX_LOOPS] = {p->contraction.n_loops};
  memcpy(words + TPRT_CONTRACT_LOOPS, p->loops, sizeof p->loops);
  p->site.dim = !mlirOperationIsNull(p->fill);
  int number = tp__lowering_site(
      l, &p->site, TPRT_CONTRACT_LOOPS + TPRT_LOOP_WORDS * p->contraction.n_loops, words);
  MlirValue operands[5] = {l->ctx, tp__build_int(p->op, l->i32, number)};
  for (int k = 0; k < 3; k++)
    operands[2 + k] = pointer(l, p->op, p, k);
  tp__build_call(l, p->op, "tprt_abi_contract", TP_LEN(operands), operands, l->i32);
  remove_op(b->pass, p);
}

static void lower_group(builder *b, const tp__product_group *group) {
  tp__lowering *l = &b->l;
  const tp__product *first = &b->products[group->members[0]];
  tprt_abi_fused_contractions words = {
      .operands = {.n_inputs = 2 * group->n, .n_outputs = group->n},
      .factors = {first->site.split_dim, first->site.root},
      .n = group->n};
  const tprt_abi_site site = {.kind = TPRT_SITE_FUSED_CONTRACTIONS, .dtype = first->site.dtype};
  int64_t extra[sizeof words / sizeof(int64_t)];
  MlirValue operands[2 + 3 * TPRT_MAX_MATMULS] = {l->ctx};
  char callee[TP_FUSED_NAME];
  for (int i = 0; i < group->n; i++) {
    const tp__product *p = &b->products[group->members[i]];
    words.n_loops[i] = p->contraction.n_loops;
    memcpy(words.loops[i], p->loops, (size_t)p->contraction.n_loops * sizeof *p->loops);
    tp__move_factors(p, first->op);
    for (int k = 0; k < 2; k++) {
      words.operands.inputs[2 * i + k] = k ? TPRT_IN_B : TPRT_IN_A;
      operands[2 + 2 * i + k] = pointer(l, first->op, p, k);
    }
    words.operands.outputs[i] = TPRT_OUT_TENSOR;
    operands[2 + 2 * group->n + i] = pointer(l, first->op, p, 2);
  }
  memcpy(extra, &words, sizeof words);
  operands[1] = tp__build_int(first->op, l->i32, tp__lowering_site(l, &site, TP_LEN(extra), extra));
  tp__fused_callee(2 * group->n, group->n, callee);
  tp__build_call(l, first->op, callee, 2 + 3 * group->n, operands, l->i32);
  for (int i = group->n; i-- > 0;)
    remove_op(b->pass, &b->products[group->members[i]]);
  b->pass->statistics[STAT_TOGETHER] += group->n;
}

/* ---- the pass ---- */

/* Collects contractions that become calls; others stay loop nests. */
static tp_status collect(MlirOperation op, void *data) {
  builder *b = data;
  const settings *given = b->pass->options;
  if (mlirOperationGetNumResults(op) != 0 || !tp__op_has_dialect(op, "linalg"))
    return TP_OK;
  TP_TRY(tp__grow((void **)&b->products, &b->capacity, b->n + 1, sizeof *b->products));
  b->n += tp__read_product(op, given->target == FOR_CUDA, &b->products[b->n]);
  return TP_OK;
}

static tp_status lower_all(builder *b) {
  const settings *given = b->pass->options;
  tp__product_group *groups;
  size_t n;
  if (given->target != FOR_CUDA) {
    for (size_t i = 0; i < b->n; i++)
      lower_one(b, &b->products[i]);
    return TP_OK;
  }
  TP_TRY(tp__group_products(b->l.func, b->n, b->products, &groups, &n));
  for (size_t i = 0; i < n; i++) {
    if (groups[i].n == 1)
      lower_one(b, &b->products[groups[i].members[0]]);
    else
      lower_group(b, &groups[i]);
  }
  tp__free(groups);
  return TP_OK;
}

static tp_status lower_entry(MlirOperation func, void *data) {
  builder b = {.pass = data};
  tp__lowering_begin(&b.l, b.pass->module, func);
  tp_status status = tp__walk(func, collect, &b);
  if (status == TP_OK && b.n > 0 && mlirValueIsNull(b.l.ctx))
    status = tp__error(func, TP_INVALID_ARGUMENT,
                       "has no runtime context; run tp-lower-to-runtime first");
  if (status == TP_OK && b.n > 0)
    status = lower_all(&b);
  b.pass->statistics[STAT_CONTRACTIONS] += (int64_t)b.n;
  tp__free(b.products);
  tp_status end = tp__lowering_end(&b.l);
  return status == TP_OK ? end : status;
}

static tp_status run(tp_pass *pass) { return tp__each_entry(pass->module, lower_entry, pass); }

static const tp_option_row options[] = {
    {"target", "host",
     "what runs the program; cuda: operands of f16, bf16 and f8 may have a result of f32, and "
     "small "
     "contractions that share an operand become one call",
     TP_CHOICE(settings, target, "host|cuda")},
};

static const tp_statistic_row statistics[] = {
    {"contractions", "contractions on buffers"},
    {"overwriting", "contractions that overwrite a zero-filled result"},
    {"together", "contractions that are part of a call with others"}};

const tp_pass_row tp__lower_contractions_row = {
    .name = "tp-lower-contractions",
    .summary = "Lower contractions on buffers to runtime calls",
    .description =
        "Requires: tp-lower-to-runtime and bufferization. Establishes: a linalg contraction on "
        "memrefs with constant strides and one element type, or narrower operands that a GPU "
        "multiplies, is a call of tprt_abi_contract with a site in tp.sites; if the result was "
        "filled with zeros just before, the call overwrites "
        "it. On a GPU, up to four such contractions with a common operand and at most 2^23 "
        "elements in "
        "each result are one call of tprt_abi_fused, which runs them side by side. Other "
        "contractions "
        "stay as they are. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
