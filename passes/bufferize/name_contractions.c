/* tp-name-contractions: turns contractions into linalg.contract and hides them from fusion.
 *
 * linalg-fuse-elementwise-ops would fold reshapes into a contraction, which makes it a
 * linalg.generic. Then it would fuse the producers of its operands into the reduction, where an exp
 * is computed once per multiplication. Each contraction is therefore kept in a private function
 * until `inline` brings it back. */
#include "passes/registry.h"
#include "passes/support/contraction.h"
#include "passes/support/lower.h"

#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>
#include <stdio.h>
#include <string.h>

static tp_status collect(MlirOperation op, void *data) {
  tp_op_list *list = data;
  tp__contraction c;
  if (mlirOperationGetNumResults(op) != 1 || !tp__match_narrow_contraction(op, &c))
    return TP_OK;
  return tp__op_list_add(list, op);
}

/* Returns the transpose that is the only reader of the result of `op`, if `op` accumulates into a
 * fill; else null. Permutes the result loops of `c` accordingly. The contraction then writes the
 * transposed result directly. For example, the gradient of a weight is written in the order in
 * which it is used, instead of being read column by column. */
static MlirOperation absorb_transpose(MlirOperation op, tp__contraction *c) {
  MlirOperation init = tp__defining_op(mlirOperationGetOperand(op, 2));
  MlirValue value = mlirOperationGetResult(op, 0);
  int from[TP_MAX_RANK], old[TP_MAX_RANK];
  if (mlirOperationIsNull(init) || !tp__op_is(init, "linalg.fill") || !tp__is_used_once(value))
    return (MlirOperation){NULL};
  MlirOpOperand use = mlirValueGetFirstUse(value);
  MlirOperation user = mlirOpOperandGetOwner(use);
  if (mlirOpOperandGetOperandNumber(use) != 0 || !tp__is_transpose(user, c->rank[2], from))
    return (MlirOperation){NULL};
  for (int d = 0; d < c->rank[2]; d++)
    old[d] = c->loops[2][d];
  for (int d = 0; d < c->rank[2]; d++)
    c->loops[2][d] = old[from[d]];
  return user;
}

/* Builds a named op of an input and an init, with one attribute, before `where`. */
static MlirValue build_named(MlirOperation where, const char *name, const MlirValue operands[2],
                             MlirType type, const MlirNamedAttribute *attribute) {
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 2,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = attribute,
                                            .n_regions = 1});
  mlirLinalgFillBuiltinNamedOpRegion(op);
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

/* Builds a fill of type `type` before `where`, with the number of the fill that defines `like`. */
static MlirValue fill_like(MlirOperation where, MlirValue like, MlirType type) {
  MlirValue number = mlirOperationGetOperand(tp__defining_op(like), 0);
  return mlirOperationGetResult(tp__build_fill(where, number, type), 0);
}

/* True if linalg.contract accepts the contraction: permuted projections, and every loop of A and B
 * is in C or in both A and B. */
static bool is_plain(const tp__contraction *c) {
  bool in[3][TP_MAX_LOOPS] = {{false}};
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < c->rank[k]; d++) {
      int loop = c->loops[k][d];
      if (loop < 0 || in[k][loop])
        return false;
      in[k][loop] = true;
    }
  for (int i = 0; i < c->n_loops; i++)
    if (in[2][i] ? !in[0][i] && !in[1][i] : !in[0][i] || !in[1][i])
      return false;
  return true;
}

static MlirAttribute map_attr(MlirContext context, const tp__contraction *c, int which) {
  MlirAffineExpr exprs[TP_MAX_RANK];
  for (int d = 0; d < c->rank[which]; d++)
    exprs[d] = mlirAffineDimExprGet(context, c->loops[which][d]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, c->n_loops, 0, c->rank[which], exprs));
}

/* Moves `contract` with the given operands into a function and calls it before `op`. Returns the
 * result of the call. */
static MlirValue hide(MlirOperation module, MlirOperation op, MlirOperation contract,
                      const MlirValue *operands, MlirType result, size_t number) {
  MlirContext context = mlirOperationGetContext(op);
  MlirLocation location = mlirOperationGetLocation(op);
  MlirType types[3];
  MlirLocation locations[3];
  for (int k = 0; k < 3; k++) {
    types[k] = mlirValueGetType(operands[k]);
    locations[k] = location;
  }
  char name[64];
  snprintf(name, sizeof name, "tp.contraction.%zu", number);
  MlirOperation func =
      tp__create_private_func(location, name, mlirFunctionTypeGet(context, 3, types, 1, &result));
  MlirBlock body = mlirBlockCreate(3, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), body);
  mlirBlockAppendOwnedOperation(body, contract);
  for (int k = 0; k < 3; k++)
    mlirOperationSetOperand(contract, k, mlirBlockGetArgument(body, k));
  MlirValue value = mlirOperationGetResult(contract, 0);
  mlirBlockAppendOwnedOperation(
      body, tp__create(&(tp_build){
                .name = "func.return", .location = location, .n_operands = 1, .operands = &value}));
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(mlirModuleFromOperation(module)), func);
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  return mlirOperationGetResult(tp__build(op, "func.call", 3, operands, 1, &result, 1, &callee), 0);
}

/* Builds linalg.transpose before `where`: dimension d of its result is from[d]. */
static MlirValue transpose(MlirOperation where, MlirValue value, int rank, const int64_t *from) {
  MlirContext context = mlirOperationGetContext(where);
  int64_t shape[TP_MAX_RANK], turned[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  for (int d = 0; d < rank; d++)
    turned[d] = shape[from[d]];
  MlirType type = mlirRankedTensorTypeGet(rank, turned, tp__element_type(mlirValueGetType(value)),
                                          (MlirAttribute){NULL});
  MlirValue operands[] = {value, tp__empty(where, type)};
  MlirNamedAttribute permutation =
      tp__named(context, "permutation", mlirDenseI64ArrayGet(context, rank, from));
  return build_named(where, "linalg.transpose", operands, type, &permutation);
}

/* Transposes an operand unless its reduced loops come last: cuBLASLt multiplies f8 only along
 * contiguous terms. Updates the loops of its dimensions. */
static MlirValue terms_last(MlirOperation op, tp__contraction *c, int which, MlirValue value) {
  int64_t from[TP_MAX_RANK];
  int rank = c->rank[which], n = 0, old[TP_MAX_RANK];
  bool moved = false;
  for (int reduced = 0; reduced < 2; reduced++)
    for (int d = 0; d < rank; d++)
      if (c->reduced[c->loops[which][d]] == (bool)reduced) {
        moved |= n != d;
        from[n++] = d;
      }
  if (!moved)
    return value;
  memcpy(old, c->loops[which], sizeof old);
  for (int d = 0; d < rank; d++)
    c->loops[which][d] = old[from[d]];
  return transpose(op, value, rank, from);
}

/* An operand of the named contraction, without transposes and in the type that it must have. */
static MlirValue factor(MlirOperation op, tp__contraction *c, int which, MlirType element,
                        bool keeps) {
  MlirValue value = tp__through_transposes(mlirOperationGetOperand(op, c->operands[which]),
                                           c->rank[which], c->loops[which]);
  MlirType has = tp__element_type(mlirValueGetType(value));
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (keeps)
    return tp__is_f8(has) ? terms_last(op, c, which, value) : value;
  if (mlirTypeEqual(has, element))
    return value;
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  return tp__build_one(op, "arith.extf", 1, &value,
                       mlirRankedTensorTypeGet(rank, shape, element, (MlirAttribute){NULL}));
}

static void name_contraction(MlirOperation module, MlirOperation op, bool mixed, size_t number) {
  tp__contraction c;
  if (!tp__match_narrow_contraction(op, &c) || !is_plain(&c))
    return;
  MlirContext context = mlirOperationGetContext(op);
  MlirValue operands[3] = {{NULL}, {NULL}, mlirOperationGetOperand(op, 2)};
  MlirOperation transpose = absorb_transpose(op, &c);
  MlirType types[2], wanted = mlirValueGetType(mlirOperationGetResult(
                         mlirOperationIsNull(transpose) ? op : transpose, 0));
  if (!mlirOperationIsNull(transpose))
    operands[2] = fill_like(op, operands[2], wanted);
  for (int k = 0; k < 2; k++)
    types[k] = tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, c.operands[k])));
  bool is_rounded =
      tp__is_f8(types[0]) && tp__is_f8(types[1]) && tp__element_size(tp__element_type(wanted)) < 4;
  MlirType result = is_rounded ? tp__type_with(wanted, mlirF32TypeGet(mlirOperationGetContext(op)))
                               : wanted,
           element = tp__element_type(result);
  if (is_rounded)
    operands[2] = tp__widened_init(op, operands[2], result, "arith.extf");
  bool keeps = mixed && tp__are_mixed_factors(types[0], types[1], element);
  for (int k = 0; k < 2; k++)
    operands[k] = factor(op, &c, k, element, keeps);
  MlirNamedAttribute attrs[] = {
      tp__named(
          context, "indexing_maps",
          mlirArrayAttrGet(context, 3,
                           (MlirAttribute[]){map_attr(context, &c, 0), map_attr(context, &c, 1),
                                             map_attr(context, &c, 2)})),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 2, (const int32_t[]){2, 1})),
  };
  MlirOperation contract = tp__create(&(tp_build){.name = "linalg.contract",
                                                  .location = mlirOperationGetLocation(op),
                                                  .n_operands = 3,
                                                  .operands = operands,
                                                  .n_results = 1,
                                                  .results = &result,
                                                  .n_attributes = TP_LEN(attrs),
                                                  .attributes = attrs,
                                                  .n_regions = 1});
  mlirLinalgFillBuiltinNamedOpRegion(contract);
  MlirValue value = hide(module, op, contract, operands, result, number);
  if (is_rounded)
    value = tp__build_one(op, "arith.truncf", 1, &value, wanted);
  if (!mlirOperationIsNull(transpose)) {
    tp__replace_op(transpose, value);
    mlirOperationDestroy(op);
  } else {
    tp__replace_op(op, value);
  }
}

typedef struct settings {
  enum { FUSED_INLINE, FUSED_KEEP } fused;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    name_contraction(pass->module, list.items[i], given->fused == FUSED_KEEP, i);
  pass->statistics[0] = (int64_t)list.n;
  tp__free(list.items);
  return status;
}

static const tp_option_row options[] = {
    {"fused", "inline",
     "inline: operands have the type of the result; keep: the program is for GPUs, which multiply "
     "operands of f16, bf16 and f8 into a result of f32 as they are",
     TP_CHOICE(settings, fused, "inline|keep")},
};

static const tp_statistic_row statistics[] = {{"contractions", "contractions found"}};

const tp_pass_row tp__name_contractions_row = {
    .name = "tp-name-contractions",
    .summary = "Rewrite every contraction as a linalg.contract in a private function",
    .description =
        "Requires: tensors, calls inlined. Establishes: every floating-point contraction whose "
        "maps are projected permutations is a call of a private function that holds one "
        "linalg.contract, whose operands have the type of its result, or with option fused=keep a "
        "narrower one; transposes of operands, and of results with no other reader, are folded "
        "into the maps, but operands of f8 are transposed so that their terms are contiguous. Sums "
        "of products of f8 are f32, and rounded to a narrower result behind the call. "
        "Fusion cannot look into the functions; `inline` brings the ops back. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
