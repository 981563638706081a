/* Ops that stand for several others: each is written as these, which are converted in its place. */
#include "passes/import/stablehlo/hlo.h"

/* What an op is expanded into. The first error stays; later ops are not built then. */
typedef struct expansion {
  tp_hlo *hlo;
  MlirOperation op;
  tp_status status;
} expansion;

/* Builds an op in front of the expanded one, and converts it. Null after an error. */
static MlirOperation emit_op(expansion *e, const tp_build *build) {
  tp_build located = *build;
  located.location = mlirOperationGetLocation(e->op);
  if (e->status != TP_OK)
    return (MlirOperation){NULL};
  MlirOperation made = tp__create(&located);
  tp__insert_before(e->op, made);
  return made;
}

static MlirValue converted(expansion *e, MlirOperation made) {
  if (e->status == TP_OK)
    e->status = tp__hlo_convert_one(e->hlo, made);
  return e->status == TP_OK ? mlirOperationGetResult(made, 0) : (MlirValue){NULL};
}

static MlirValue emit(expansion *e, const char *name, MlirType type, int n,
                      const MlirValue *operands, int n_attributes,
                      const MlirNamedAttribute *attributes) {
  return converted(e, emit_op(e, &(tp_build){.name = name,
                                             .n_operands = n,
                                             .operands = operands,
                                             .n_results = 1,
                                             .results = &type,
                                             .n_attributes = n_attributes,
                                             .attributes = attributes}));
}

static MlirValue splat(expansion *e, MlirType type, MlirAttribute number) {
  MlirNamedAttribute value =
      tp__named(e->hlo->context, "value", mlirDenseElementsAttrSplatGet(type, number));
  return emit(e, "stablehlo.constant", type, 0, NULL, 1, &value);
}

static MlirValue broadcast(expansion *e, MlirValue value, MlirType type, int n,
                           const int64_t *dims) {
  MlirNamedAttribute attr =
      tp__named(e->hlo->context, "broadcast_dimensions", tp__attr_i64s(e->hlo->context, n, dims));
  return emit(e, "stablehlo.broadcast_in_dim", type, 1, &value, 1, &attr);
}

/* Replaces result i of the expanded op. */
static void give(expansion *e, int i, MlirValue value) {
  if (e->status == TP_OK)
    e->status =
        tp__hlo_map(e->hlo, e->op, mlirOperationGetResult(e->op, i), tp__hlo_value(e->hlo, value));
}

/* ---- chlo.broadcast_* ---- */

/* The dimensions of the result that are those of operand i: the last ones, unless an operand of
 * lower rank has a list. */
static tp_status result_dims(MlirOperation op, int i, int rank, int64_t *dims) {
  int from = tp__hlo_shape(tp__hlo_operand_type(op, i)).rank, n = 0;
  if (from > rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "operand %d has %d dimensions, but the result has %d",
                     i, from, rank);
  if (from < rank)
    TP_TRY(tp__hlo_dims(op, "broadcast_dimensions", rank, &n, dims));
  for (int d = 0; d < from && n != from; d++)
    dims[d] = rank - from + d;
  return TP_OK;
}

static tp_status broadcast_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  static const char *const kept[] = {"comparison_direction", "compare_type"};
  expansion e = {.hlo = hlo, .op = op};
  MlirValue operands[3];
  MlirNamedAttribute attributes[TP_LEN(kept)];
  MlirType type = tp__result_type(op);
  tp_hlo_shape to = tp__hlo_shape(type);
  int n = (int)mlirOperationGetNumOperands(op), n_attributes = 0;
  for (int i = 0; i < n; i++) {
    int64_t dims[TP_MAX_RANK];
    tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, i));
    TP_TRY(result_dims(op, i, to.rank, dims));
    operands[i] = mlirOperationGetOperand(op, i);
    if (!tp__hlo_same_shape(tp__hlo_operand_type(op, i), type))
      operands[i] =
          broadcast(&e, operands[i],
                    mlirRankedTensorTypeGet(to.rank, to.sizes, tp__hlo_operand_element(op, i),
                                            (MlirAttribute){NULL}),
                    from.rank, dims);
  }
  for (int i = 0; i < TP_LEN(kept); i++) {
    MlirAttribute attr = tp__property(op, kept[i]);
    if (!mlirAttributeIsNull(attr))
      attributes[n_attributes++] = tp__named(hlo->context, kept[i], attr);
  }
  give(&e, 0, emit(&e, row->detail, type, n, operands, n_attributes, attributes));
  return e.status;
}

/* ---- chlo.constant_like ---- */

static tp_status constant_like(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  expansion e = {.hlo = hlo, .op = op};
  MlirAttribute number = tp__property(op, "value");
  (void)row;
  if (mlirAttributeIsNull(number) ||
      !(mlirAttributeIsAFloat(number) || mlirAttributeIsAInteger(number)) ||
      !mlirTypeEqual(mlirAttributeGetType(number), tp__hlo_result_element(op, 0)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "attribute 'value' is not a real number of the element type of the result");
  give(&e, 0, splat(&e, tp__result_type(op), number));
  return e.status;
}

/* ---- normalization over a batch ---- */

typedef struct batch_norm {
  expansion e;
  MlirType type;    /* of the values */
  MlirType feature; /* of one number for each feature */
  int64_t dim;      /* of the features */
  int64_t n;        /* elements of a feature */
  double epsilon;
} batch_norm;

static MlirType element_of(const batch_norm *b) { return tp__element_type(b->type); }

static MlirValue binary(batch_norm *b, const char *name, MlirValue x, MlirValue y) {
  MlirType type = b->e.status == TP_OK ? mlirValueGetType(x) : b->type;
  return emit(&b->e, name, type, 2, (MlirValue[]){x, y}, 0, NULL);
}

static MlirValue subtract(batch_norm *b, MlirValue x, MlirValue y) {
  return binary(b, "stablehlo.subtract", x, y);
}

static MlirValue multiply(batch_norm *b, MlirValue x, MlirValue y) {
  return binary(b, "stablehlo.multiply", x, y);
}

static MlirValue divide(batch_norm *b, MlirValue x, MlirValue y) {
  return binary(b, "stablehlo.divide", x, y);
}

static MlirValue number(batch_norm *b, MlirType type, double value) {
  return splat(&b->e, type, mlirFloatAttrDoubleGet(b->e.hlo->context, element_of(b), value));
}

/* A number for each feature, as values. */
static MlirValue spread(batch_norm *b, MlirValue feature) {
  return broadcast(&b->e, feature, b->type, 1, &b->dim);
}

/* The sum of each feature. */
static MlirValue sum(batch_norm *b, MlirValue values) {
  MlirContext context = b->e.hlo->context;
  MlirType scalar = mlirRankedTensorTypeGet(0, NULL, element_of(b), (MlirAttribute){NULL});
  MlirValue operands[] = {values, number(b, scalar, 0)};
  int64_t dims[TP_MAX_RANK];
  int n = 0;
  for (int d = 0; d < tp__hlo_shape(b->type).rank; d++)
    if (d != b->dim)
      dims[n++] = d;
  MlirNamedAttribute attr = tp__named(context, "dimensions", tp__attr_i64s(context, n, dims));
  MlirOperation op = emit_op(&b->e, &(tp_build){.name = "stablehlo.reduce",
                                                .n_operands = 2,
                                                .operands = operands,
                                                .n_results = 1,
                                                .results = &b->feature,
                                                .n_attributes = 1,
                                                .attributes = &attr,
                                                .n_regions = 1});
  if (mlirOperationIsNull(op))
    return (MlirValue){NULL};
  MlirLocation at = mlirOperationGetLocation(op);
  MlirBlock block = mlirBlockCreate(2, (MlirType[]){scalar, scalar}, (MlirLocation[]){at, at});
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), block);
  MlirValue pair[] = {mlirBlockGetArgument(block, 0), mlirBlockGetArgument(block, 1)};
  MlirOperation add = tp__create(&(tp_build){.name = "stablehlo.add",
                                             .location = at,
                                             .n_operands = 2,
                                             .operands = pair,
                                             .n_results = 1,
                                             .results = &scalar});
  MlirValue added = mlirOperationGetResult(add, 0);
  mlirBlockAppendOwnedOperation(block, add);
  mlirBlockAppendOwnedOperation(
      block, tp__create(&(tp_build){
                 .name = "stablehlo.return", .location = at, .n_operands = 1, .operands = &added}));
  return converted(&b->e, op);
}

static MlirValue mean_of(batch_norm *b, MlirValue values) {
  MlirValue total = sum(b, values);
  return divide(b, total, number(b, b->feature, (double)b->n));
}

/* The variance that does not let a quotient be infinite. */
static MlirValue bounded(batch_norm *b, MlirValue variance) {
  return binary(b, "stablehlo.add", variance, number(b, b->feature, b->epsilon));
}

static MlirValue deviation(batch_norm *b, MlirValue variance) {
  MlirValue value = bounded(b, variance);
  return emit(&b->e, "stablehlo.sqrt", b->feature, 1, &value, 0, NULL);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + offset */
static MlirValue normalize(batch_norm *b, MlirValue mean, MlirValue variance) {
  MlirValue centered = subtract(b, mlirOperationGetOperand(b->e.op, 0), spread(b, mean));
  MlirValue normal = divide(b, centered, spread(b, deviation(b, variance)));
  MlirValue scaled = multiply(b, normal, spread(b, mlirOperationGetOperand(b->e.op, 1)));
  return binary(b, "stablehlo.add", scaled, spread(b, mlirOperationGetOperand(b->e.op, 2)));
}

static tp_status begin(tp_hlo *hlo, MlirOperation op, batch_norm *b) {
  *b = (batch_norm){.e = {.hlo = hlo, .op = op}, .type = tp__hlo_operand_type(op, 0)};
  tp_hlo_shape shape = tp__hlo_shape(b->type);
  MlirAttribute epsilon = tp__property(op, "epsilon");
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(tp__hlo_int(op, "feature_index", -1, &b->dim));
  if (mlirAttributeIsNull(epsilon) || !mlirAttributeIsAFloat(epsilon) || b->dim < 0 ||
      b->dim >= shape.rank || tp__hlo_kind(element_of(b)) != TP_HLO_FLOAT)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "needs operand 0 of floating-point numbers, its dimension 'feature_index' and "
                     "a number 'epsilon'");
  b->epsilon = mlirFloatAttrGetValueDouble(epsilon);
  b->feature =
      mlirRankedTensorTypeGet(1, &shape.sizes[b->dim], element_of(b), (MlirAttribute){NULL});
  b->n = tp__hlo_elements(&shape) / (shape.sizes[b->dim] ? shape.sizes[b->dim] : 1);
  return TP_OK;
}

/* Checks that operands and results have the type of the values, where a bit of `whole` is set, or
 * that of a number for each feature. */
static tp_status check_types(const batch_norm *b, unsigned whole) {
  MlirOperation op = b->e.op;
  int n = (int)mlirOperationGetNumOperands(op), n_results = (int)mlirOperationGetNumResults(op);
  for (int i = 0; i < n + n_results; i++) {
    MlirType type =
        i < n ? tp__hlo_operand_type(op, i) : mlirValueGetType(mlirOperationGetResult(op, i - n));
    MlirType wanted = whole >> i & 1 ? b->type : b->feature;
    char text[64], other[64];
    if (mlirTypeEqual(type, wanted))
      continue;
    tp__type_text(type, sizeof text, text);
    tp__type_text(wanted, sizeof other, other);
    return tp__error(op, TP_INVALID_ARGUMENT, "%s %d is %s, but has to be %s",
                     i < n ? "operand" : "result", i < n ? i : i - n, text, other);
  }
  return TP_OK;
}

static tp_status inference(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  batch_norm b;
  (void)row;
  TP_TRY(begin(hlo, op, &b));
  TP_TRY(check_types(&b, 1 << 0 | 1 << 5));
  give(&b.e, 0, normalize(&b, mlirOperationGetOperand(op, 3), mlirOperationGetOperand(op, 4)));
  return b.e.status;
}

static tp_status training(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  batch_norm b;
  (void)row;
  TP_TRY(begin(hlo, op, &b));
  TP_TRY(check_types(&b, 1 << 0 | 1 << 3));
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirValue mean = mean_of(&b, x);
  MlirValue centered = subtract(&b, x, spread(&b, mean));
  MlirValue variance = mean_of(&b, multiply(&b, centered, centered));
  give(&b.e, 0, normalize(&b, mean, variance));
  give(&b.e, 1, mean);
  give(&b.e, 2, variance);
  return b.e.status;
}

/* With c = x - mean, s = sqrt(variance + epsilon) and n elements of a feature, the gradient of x is
 * scale / (s n) (n g - sum(g) - c sum(g c) / (variance + epsilon)), that of scale is sum(g c / s),
 * that of the offset is sum(g). */
static tp_status gradient(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  batch_norm b;
  (void)row;
  TP_TRY(begin(hlo, op, &b));
  TP_TRY(check_types(&b, 1 << 0 | 1 << 4 | 1 << 5));
  MlirValue scale = mlirOperationGetOperand(op, 1), variance = mlirOperationGetOperand(op, 3),
            g = mlirOperationGetOperand(op, 4);
  MlirValue c =
      subtract(&b, mlirOperationGetOperand(op, 0), spread(&b, mlirOperationGetOperand(op, 2)));
  MlirValue s = deviation(&b, variance);
  MlirValue n = number(&b, b.type, (double)b.n);
  MlirValue sum_g = sum(&b, g);
  MlirValue sum_gc = sum(&b, multiply(&b, g, c));
  MlirValue ratio = divide(&b, sum_gc, bounded(&b, variance));
  MlirValue slope = multiply(&b, c, spread(&b, ratio));
  MlirValue rest = multiply(&b, g, n);
  rest = subtract(&b, rest, spread(&b, sum_g));
  MlirValue inner = subtract(&b, rest, slope);
  MlirValue factor = divide(&b, scale, s);
  factor = divide(&b, factor, number(&b, b.feature, (double)b.n));
  give(&b.e, 0, multiply(&b, inner, spread(&b, factor)));
  give(&b.e, 1, divide(&b, sum_gc, s));
  give(&b.e, 2, sum_g);
  return b.e.status;
}

#define BROADCAST(name, n, op)                                                                     \
  {"chlo.broadcast_" name, n, 1, 0, broadcast_op, op, "stablehlo.broadcast_in_dim and " op}

/* clang-format off */
const tp_hlo_row tp__hlo_expand_rows[] = {
    BROADCAST("add", 2, "stablehlo.add"),
    BROADCAST("and", 2, "stablehlo.and"),
    BROADCAST("atan2", 2, "stablehlo.atan2"),
    BROADCAST("compare", 2, "stablehlo.compare"),
    BROADCAST("complex", 2, "stablehlo.complex"),
    BROADCAST("divide", 2, "stablehlo.divide"),
    BROADCAST("maximum", 2, "stablehlo.maximum"),
    BROADCAST("minimum", 2, "stablehlo.minimum"),
    BROADCAST("multiply", 2, "stablehlo.multiply"),
    BROADCAST("next_after", 2, "chlo.next_after"),
    BROADCAST("or", 2, "stablehlo.or"),
    BROADCAST("polygamma", 2, "chlo.polygamma"),
    BROADCAST("power", 2, "stablehlo.power"),
    BROADCAST("remainder", 2, "stablehlo.remainder"),
    BROADCAST("select", 3, "stablehlo.select"),
    BROADCAST("shift_left", 2, "stablehlo.shift_left"),
    BROADCAST("shift_right_arithmetic", 2, "stablehlo.shift_right_arithmetic"),
    BROADCAST("shift_right_logical", 2, "stablehlo.shift_right_logical"),
    BROADCAST("subtract", 2, "stablehlo.subtract"),
    BROADCAST("xor", 2, "stablehlo.xor"),
    BROADCAST("zeta", 2, "chlo.zeta"),
    {"chlo.constant_like", 1, 1, 0, constant_like, NULL, "arith.constant"},
    {"stablehlo.batch_norm_grad", 5, 3, 0, gradient, NULL,
     "sums along the other dimensions, and elementwise ops"},
    {"stablehlo.batch_norm_inference", 5, 1, 0, inference, NULL, "elementwise ops"},
    {"stablehlo.batch_norm_training", 3, 3, 0, training, NULL,
     "sums along the other dimensions, and elementwise ops"},
    {NULL},
};
/* clang-format on */
