/* tp-lower-contractions: lowers contractions on buffers to calls of tprt_abi_contract.
 *
 * Most contractions accumulate into a zero-filled buffer. A fill directly before the contraction is
 * removed, and the call overwrites C instead. This saves one write and one read of C. */
#include "passes/registry.h"
#include "passes/support/contraction.h"
#include "passes/support/lower.h"

#include "support/support.h"

#include <math.h>

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

/* Extra data of a site, as words. */
typedef struct contraction_words {
  int64_t n_loops;
  tprt_abi_loop loops[TP_MAX_LOOPS];
} contraction_words;

/* Builds the site of a contraction. All operands have one element type, or `mixed` ones that GPUs
 * multiply. */
static bool contraction_site(MlirOperation op, const tp__contraction *c, bool mixed,
                             tprt_abi_site *site, contraction_words *extra) {
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
  *site = (tprt_abi_site){.kind = TPRT_SITE_CONTRACT,
                          .dtype = tp__runtime_dtype(elements[2]),
                          .split_dim = equal ? 0 : tp__runtime_dtype(elements[0]),
                          .root = equal ? 0 : tp__runtime_dtype(elements[1])};
  extra->n_loops = c->n_loops;
  for (int i = 0; i < c->n_loops; i++) {
    extra->loops[i].size = c->sizes[i];
    for (int k = 0; k < 3; k++)
      extra->loops[i].stride[k] = strides[k][i];
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

/* True for ops that neither read nor write the contents of a buffer. */
static bool leaves_memory(MlirOperation op) {
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
    while (!mlirOperationIsNull(next) && leaves_memory(next))
      next = mlirOperationGetNextInBlock(next);
    if (!mlirOperationIsNull(next) && mlirOperationEqual(next, op))
      return fill;
  }
  return (MlirOperation){NULL};
}

/* ---- the pass ---- */

enum { STAT_CONTRACTIONS, STAT_OVERWRITING };

static tp_status collect(MlirOperation op, void *data) {
  tp_op_list *list = data;
  tp__contraction c;
  if (mlirOperationGetNumResults(op) != 0 || !tp__match_contraction(op, &c))
    return TP_OK;
  return tp__op_list_add(list, op);
}

static bool is_empty(const tp__contraction *c) {
  for (int i = 0; i < c->n_loops; i++)
    if (c->sizes[i] == 0)
      return true;
  return false;
}

/* The call overwrites C, so the zero fill is removed. */
static void drop_fill(tp_pass *pass, MlirOperation op, const tp__contraction *c,
                      tprt_abi_site *site) {
  MlirOperation fill = zeros_before(op);
  if (mlirOperationIsNull(fill) || is_empty(c))
    return;
  mlirOperationDestroy(fill);
  site->dim = 1;
  pass->statistics[STAT_OVERWRITING]++;
}

typedef struct settings {
  enum { FOR_HOST, FOR_CUDA } target;
} settings;

static void lower(tp_pass *pass, tp__lowering *l, MlirOperation op) {
  const settings *given = pass->options;
  tp__contraction c;
  tprt_abi_site site;
  contraction_words extra;
  int64_t words[sizeof extra / sizeof(int64_t)];
  if (!tp__match_contraction(op, &c) ||
      !contraction_site(op, &c, given->target == FOR_CUDA, &site, &extra))
    return; /* stays a loop nest */
  drop_fill(pass, op, &c, &site);
  memcpy(words, &extra, sizeof words);
  int number =
      tp__lowering_site(l, &site, TPRT_CONTRACT_LOOPS + TPRT_LOOP_WORDS * c.n_loops, words);
  MlirValue operands[5] = {l->ctx, tp__build_int(op, l->i32, number)};
  for (int k = 0; k < 3; k++)
    operands[2 + k] =
        tp__build_pointer(l, op, mlirOperationGetOperand(op, k < 2 ? c.operands[k] : 2));
  tp__build_call(l, op, "tprt_abi_contract", TP_LEN(operands), operands, l->i32);
  mlirOperationDestroy(op);
}

static tp_status lower_entry(MlirOperation func, void *data) {
  tp_pass *pass = data;
  tp__lowering l;
  tp_op_list list = {0};
  tp__lowering_begin(&l, pass->module, func);
  tp_status status = tp__walk(func, collect, &list);
  if (status == TP_OK && list.n > 0 && mlirValueIsNull(l.ctx))
    status = tp__error(func, TP_INVALID_ARGUMENT,
                       "has no runtime context; run tp-lower-to-runtime first");
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    lower(pass, &l, list.items[i]);
  pass->statistics[STAT_CONTRACTIONS] += (int64_t)list.n;
  tp__free(list.items);
  tp_status end = tp__lowering_end(&l);
  return status == TP_OK ? end : status;
}

static tp_status run(tp_pass *pass) { return tp__each_entry(pass->module, lower_entry, pass); }

static const tp_option_row options[] = {
    {"target", "host",
     "what runs the program; cuda: operands of f16, bf16 and f8 may have a result of f32",
     TP_CHOICE(settings, target, "host|cuda")},
};

static const tp_statistic_row statistics[] = {
    {"contractions", "contractions on buffers"},
    {"overwriting", "contractions that overwrite a zero-filled result"}};

const tp_pass_row tp__lower_contractions_row = {
    .name = "tp-lower-contractions",
    .summary = "Lower contractions on buffers to runtime calls",
    .description =
        "Requires: tp-lower-to-runtime and bufferization. Establishes: a linalg contraction on "
        "memrefs with constant strides and one element type, or narrower operands that a GPU "
        "multiplies, is a call of tprt_abi_contract with a site in tp.sites; if the result was "
        "filled with zeros just before, the call overwrites "
        "it. Other contractions stay as they are. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
