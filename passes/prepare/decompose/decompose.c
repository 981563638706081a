/* tp-decompose: replaces ops without rules and lowerings by ops that have both. Ops that it cannot
 * replace are refused, with advice for the user. */
#include "passes/prepare/decompose/decompose.h"
#include "passes/prepare/raise/raise.h"

#include "rules/families.h"
#include "rules/rule.h"

typedef struct row {
  const char *op;
  tp_status (*decompose)(MlirOperation op); /* NULL: refuse the op with `refusal` */
  const char *refusal;
  bool (*concerns)(MlirOperation op); /* NULL: all ops of this name */
} row;

static MlirType element_of(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return tp__is_tensor(type) ? tp__element_type(type) : type;
}

/* True for a truncation from f64 to bf16 or f8. */
static bool rounds_twice(MlirOperation op) {
  MlirType result = element_of(mlirOperationGetResult(op, 0));
  return mlirTypeIsAF64(element_of(mlirOperationGetOperand(op, 0))) &&
         (mlirTypeIsABF16(result) || tp__is_f8(result));
}

static bool is_widened(MlirOperation op) {
  MlirType type = element_of(mlirOperationGetResult(op, 0));
  return mlirTypeIsABF16(type) || tp__is_f8(type);
}

static const char rounding_mode[] = "roundingmode";

/* True if the op asks for another rounding mode than to nearest even, the only one that compiled
 * code supports. */
static bool rounds_elsewhere(MlirOperation op) {
  MlirAttribute mode = tp__inherent(op, rounding_mode);
  return !mlirAttributeIsNull(mode) && mlirAttributeIsAInteger(mode) &&
         mlirIntegerAttrGetValueInt(mode) != 0 /* to_nearest_even */;
}

static bool names_mode(MlirOperation op) {
  return !mlirAttributeIsNull(tp__inherent(op, rounding_mode));
}

/* A mode that is named becomes a call of an intrinsic, which GPUs do not have. */
static tp_status drop_mode(MlirOperation op) {
  mlirOperationRemoveAttributeByName(op, tp__ref(rounding_mode));
  return TP_OK;
}

#define WINOGRAD                                                                                   \
  "decompose it before sharding (transform.structured.decompose_winograd_op), or keep the "        \
  "convolution as it is"

static const row rows[] = {
    {"arith.constant", tp__decompose_resource, NULL, tp__is_odd_resource},
    {"arith.index_cast", tp__decompose_index_cast, NULL, tp__loses_index},
    {"arith.index_castui", tp__decompose_index_cast, NULL, tp__loses_index},
    {"arith.truncf", NULL, "compiled code only rounds to nearest even; remove the rounding mode",
     rounds_elsewhere},
    {"arith.truncf", tp__decompose_truncf, NULL, rounds_twice},
    {"arith.truncf", drop_mode, NULL, names_mode},
    {"linalg.generic", tp__read_lost_inits, NULL, tp__loses_init},
    {"linalg.softmax", tp__decompose_softmax, NULL, NULL},
    {"linalg.pack", tp__decompose_pack, NULL, NULL},
    {"linalg.unpack", tp__decompose_unpack, NULL, NULL},
    {"linalg.winograd_filter_transform", NULL, WINOGRAD, NULL},
    {"linalg.winograd_input_transform", NULL, WINOGRAD, NULL},
    {"linalg.winograd_output_transform", NULL, WINOGRAD, NULL},
    {"scf.for", NULL,
     "counts beyond 64 bits; the difference of the bounds, and the upper bound plus the step, must "
     "fit",
     tp__overflows_loop},
    {"scf.for", tp__decompose_loop, NULL, tp__wraps_loop},
    {"math.clampf", tp__decompose_clamp, NULL, NULL},
    {"math.fma", tp__decompose_fma, NULL, is_widened},
    {"math.isinf", tp__decompose_isinf, NULL, NULL},
    {"math.isnormal", tp__decompose_isnormal, NULL, NULL},
    {"tensor.concat", tp__decompose_concat, NULL, tp__concats_nothing},
    {"tensor.generate", tp__decompose_generate, NULL, NULL},
    {"tensor.pad", tp__decompose_pad, NULL, tp__is_odd_pad},
    {"tensor.dim", tp__decompose_dim, NULL, NULL},
    {"tensor.rank", tp__decompose_rank, NULL, NULL},
    {"tensor.bitcast", tp__decompose_bitcast, NULL, NULL},
    {"tensor.reshape", tp__decompose_reshape, NULL, NULL},
    {"tensor.gather", tp__decompose_gather, NULL, NULL},
    {"tensor.scatter", tp__decompose_scatter, NULL, NULL},
    {"tensor.parallel_insert_slice", NULL,
     "turn the scf.forall around it into scf.for with tensor.insert_slice before sharding", NULL},
    {"complex.bitcast", NULL,
     "cannot be compiled; read the parts with complex.re and complex.im, and cast those", NULL},
};

static const row *find_row(MlirOperation op) {
  static const row named = {"linalg.*", tp__decompose_named, NULL, NULL};
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].op) && (!rows[i].concerns || rows[i].concerns(op)))
      return &rows[i];
  return tp__hides_body(op) ? &named : NULL;
}

/* Refuses a buffer whose layout has no strides. MLIR cannot generate code for it and reports that
 * without a location. */
static tp_status check_strides(MlirOperation op, const char *what, int i, MlirType type) {
  if (!mlirTypeIsAMemRef(type))
    return TP_OK;
  int64_t offset, *strides = tp__calloc((size_t)mlirShapedTypeGetRank(type) + 1, sizeof *strides);
  if (!strides)
    return tp__out_of_memory(op);
  bool has_strides =
      mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  tp__free(strides);
  char text[128];
  tp__type_text(type, sizeof text, text);
  return has_strides
             ? TP_OK
             : tp__error(op, TP_UNSUPPORTED, "%s %d is %s, a buffer whose layout has no strides",
                         what, i, text);
}

static tp_status check_type(MlirOperation op, const char *what, int i, MlirType type) {
  TP_TRY(tp__check_dense(op, what, i, type));
  return check_strides(op, what, i, type);
}

/* Refuses unsupported types of results and block arguments. Encodings are refused because later
 * MLIR passes drop them from some values and keep them on others, and then types no longer
 * match. */
static tp_status check_types(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(check_type(op, "result", (int)i, mlirValueGetType(mlirOperationGetResult(op, i))));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    intptr_t n = mlirBlockIsNull(block) ? 0 : mlirBlockGetNumArguments(block);
    for (intptr_t i = 0; i < n; i++)
      TP_TRY(check_type(op, "argument", (int)i, mlirValueGetType(mlirBlockGetArgument(block, i))));
  }
  return TP_OK;
}

static tp_status collect(MlirOperation op, void *data) {
  TP_TRY(check_types(op));
  return find_row(op) ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status check_tensors(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (tp__is_tensor(type))
      TP_TRY(tp__check_tensor(op, "operand", (int)i, type));
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    if (tp__is_tensor(type))
      TP_TRY(tp__check_tensor(op, "result", (int)i, type));
  }
  return TP_OK;
}

static tp_status decompose(MlirOperation op, const row *r) {
  if (r->refusal)
    return tp__error(op, TP_UNSUPPORTED, "%s", r->refusal);
  if (tp__user_family.matches(op))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "is decomposed into ops that have rules, but also has its own rule (tp.rule "
                     "or registered); remove that rule");
  TP_TRY(check_tensors(op));
  return r->decompose(op);
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  TP_TRY(tp__settle_sizes(pass->module));
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    /* none: the index of a tensor.generate has a range now that it is a linalg.index */
    const row *r = find_row(list.items[i]);
    if (r)
      status = decompose(list.items[i], r);
    pass->statistics[TP_DECOMPOSED] += r != NULL;
  }
  tp__free(list.items);
  return status == TP_OK ? tp__walk(pass->module, tp__decompose_slice, pass) : status;
}

static const tp_statistic_row statistics[] = {
    [TP_DECOMPOSED] = {"decomposed", "ops replaced"},
};

const tp_pass_row tp__decompose_row = {
    .name = "tp-decompose",
    .summary =
        "Decompose composite ops, and rewrite slices that upstream's canonicalization gets wrong",
    .description =
        "Requires: tensors of static shape; sizes may be constants or forgotten by a tensor.cast, "
        "which become static. Establishes: linalg.softmax, pack and unpack, "
        "tensor.generate, gather, scatter, reshape, bitcast, dim and rank, math.isinf and isnormal "
        "are linalg.generic, reshapes, slices, loops and comparisons. math.clampf is "
        "min(max(value, lower bound), upper bound), as its name says; upstream's expansion swaps "
        "the bounds. math.fma of bf16 is one of f32. A cast of an index that may lose bits is a "
        "cast to i64 and arith.trunci, because upstream's canonicalization removes an "
        "arith.index_cast there and back. A loop whose counter may not fit its type counts in "
        "i64. A named linalg op whose body must change for uneven shards (pooling, integer "
        "division) is a linalg.generic. A resource of i1 or of complex numbers, of rank 0 or "
        "without elements is a dense constant. The body of a linalg.generic reads an init of which "
        "elements may stay, or upstream's passes would lose them. A tensor.pad that is negative, "
        "or whose value "
        "depends on the index, is a slice in a generated tensor. A tensor.extract_slice at "
        "dynamic offsets drops "
        "the leading dimensions of size 1 or none, and a second slice drops the others. Rejected, "
        "with advice: Winograd transforms, tensor.parallel_insert_slice, complex.bitcast, "
        "arith.truncf with a rounding mode, a loop that counts beyond 64 bits. "
        "Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
