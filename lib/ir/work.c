/* Counts the arithmetic and memory traffic of ops. */
#include "ir/work.h"

#include "ir/sort_call.h"
#include "ir/traffic.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* True for a tensor or the buffer that replaces it. */
static bool is_shaped(MlirType type) {
  return mlirTypeIsARankedTensor(type) || mlirTypeIsAMemRef(type);
}

int64_t tp__n_elements(MlirType type) {
  int64_t n = 1;
  if (!is_shaped(type) || !mlirShapedTypeHasStaticShape(type))
    return 0;
  for (int64_t d = 0; d < mlirShapedTypeGetRank(type); d++)
    n *= mlirShapedTypeGetDimSize(type, d);
  return n;
}

/* Conversions and constants are free. */
static bool is_arithmetic(MlirOperation op) {
  static const char *const free_ops[] = {"arith.constant",   "arith.extf",         "arith.truncf",
                                         "arith.extsi",      "arith.extui",        "arith.trunci",
                                         "arith.index_cast", "arith.index_castui", "arith.bitcast"};
  if (!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math") &&
      !tp__op_has_dialect(op, "complex"))
    return false;
  for (int i = 0; i < TP_LEN(free_ops); i++)
    if (tp__op_is(op, free_ops[i]))
      return false;
  return true;
}

typedef struct body_count {
  double ops;
  bool multiplies, adds;
} body_count;

static tp_status count_op(MlirOperation op, void *data) {
  body_count *count = data;
  count->ops += is_arithmetic(op) ? 1 : 0;
  count->multiplies |= tp__op_is(op, "arith.mulf");
  count->adds |= tp__op_is(op, "arith.addf");
  return TP_OK;
}

/* ---- loops ---- */

enum { MAX_LOOPS = 32 };

/* The loops of a structured op. */
typedef struct loop_nest {
  int n;
  /* from an operand dimension that the loop indexes directly; 0 if there is none */
  int64_t sizes[MAX_LOOPS];
  int n_operands;
  uint32_t used[MAX_LOOPS]; /* for each operand, the loops that index it */
} loop_nest;

static void read_operand(loop_nest *nest, MlirAffineMap map, MlirType type) {
  uint32_t *used = &nest->used[nest->n_operands++];
  for (intptr_t d = 0; is_shaped(type) && d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    for (int loop = 0; loop < nest->n; loop++)
      *used |= mlirAffineExprIsFunctionOfDim(expr, loop) ? UINT32_C(1) << loop : 0;
    if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) < nest->n &&
        !mlirShapedTypeIsDynamicDim(type, d))
      nest->sizes[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d);
  }
}

static loop_nest read_loops(MlirOperation op) {
  loop_nest nest = {0};
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) == 0)
    return nest;
  intptr_t n = mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  nest.n = n < MAX_LOOPS ? (int)n : MAX_LOOPS;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps) &&
                       i < mlirOperationGetNumOperands(op) && i < MAX_LOOPS;
       i++)
    read_operand(&nest, mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)),
                 mlirValueGetType(mlirOperationGetOperand(op, i)));
  return nest;
}

static double n_iterations(const loop_nest *nest) {
  double product = nest->n_operands > 0 ? 1 : 0;
  for (int i = 0; i < nest->n; i++)
    product *= (double)nest->sizes[i];
  return product;
}

/* ---- contractions ---- */

int64_t tp__gemm_dim(int n_loops, const int64_t *sizes, uint32_t first, uint32_t second,
                     uint32_t result) {
  double dims[3] = {1, 1, 1}, least;
  for (int i = 0; i < n_loops; i++) {
    bool in_first = first >> i & 1, in_second = second >> i & 1, in_result = result >> i & 1;
    if (!in_result)
      dims[2] *= (double)sizes[i];
    else if (in_first != in_second)
      dims[in_first ? 0 : 1] *= (double)sizes[i];
  }
  least = dims[0] < dims[1] ? dims[0] : dims[1];
  least = least < dims[2] ? least : dims[2];
  return least < 1e15 ? (int64_t)least : (int64_t)1e15;
}

static tp_peak peak_of_one(MlirType type) {
  if (mlirTypeIsAF64(type))
    return TP_PEAK_F64;
  if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type))
    return TP_PEAK_F16;
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8)
    return TP_PEAK_I8;
  return mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) == 8 ? TP_PEAK_F8 : TP_PEAK_F32;
}

tp_peak tp__peak_of(MlirType a, MlirType b) {
  return peak_of_one(a) == peak_of_one(b) ? peak_of_one(a) : TP_PEAK_F32;
}

static MlirType operand_element(MlirOperation op, intptr_t i) {
  return tp__number_type(mlirValueGetType(mlirOperationGetOperand(op, i)));
}

static void add_contraction(MlirOperation op, const loop_nest *nest, double flops, tp_work *work) {
  work->contraction_flops = flops;
  if (nest->n_operands < 3)
    return;
  work->peak = tp__peak_of(operand_element(op, 0), operand_element(op, 1));
  work->gemm_dim = tp__gemm_dim(nest->n, nest->sizes, nest->used[0], nest->used[1],
                                nest->used[nest->n_operands - 1]);
}

static double shaped_bytes(MlirType type) {
  return is_shaped(type)
             ? (double)tp__n_elements(type) * (double)tp__element_size(tp__element_type(type))
             : 0;
}

/* ---- memory traffic ---- */

enum { MAX_TABLES = 64 };

/* The captured tensors or buffers that the body of an op reads. */
typedef struct tables {
  MlirOperation op;
  int n;
  MlirValue values[MAX_TABLES];
} tables;

static tp_status find_tables(MlirOperation op, void *data) {
  tables *t = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    bool is_new = is_shaped(mlirValueGetType(value)) && tp__is_captured(t->op, value) &&
                  !mlirOperationEqual(op, t->op) && t->n < MAX_TABLES;
    for (int k = 0; k < t->n && is_new; k++)
      is_new = !mlirValueEqual(t->values[k], value);
    if (is_new)
      t->values[t->n++] = value;
  }
  return TP_OK;
}

static double captured_bytes(MlirOperation op, double points) {
  tables t = {.op = op};
  double sum = 0;
  (void)tp__walk(op, find_tables, &t); /* the visitor does not fail */
  for (int i = 0; i < t.n; i++) {
    MlirType type = mlirValueGetType(t.values[i]);
    sum += tp__read_bytes(tp__reads_per_point(op, t.values[i]), shaped_bytes(type),
                          points * (double)tp__element_size(tp__element_type(type)));
  }
  return sum;
}

/* Buffers are updated in place: a copy is an op of its own. */
static double operand_bytes(MlirOperation op, const tp_traffic *traffic, int i, double points) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
  if (i > 63 || !(traffic->updated >> i & 1))
    return shaped_bytes(type);
  return tp__update_bytes(mlirTypeIsARankedTensor(type) ? tp__update_of(op, i) : TP_UPDATE_IN_PLACE,
                          traffic->n_moves, shaped_bytes(type),
                          points * (double)tp__element_size(tp__element_type(type)));
}

/* ---- work ---- */

bool tp__op_work(MlirOperation op, tp_work *work) {
  bool structured = tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1;
  bool tensors = mlirOperationGetNumResults(op) > 0 &&
                 mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp_sort sort;
  tp_traffic traffic = {0};
  double points = 0;
  *work = (tp_work){.launch = true};
  if (tp__is_sort(op)) {
    if (tp__sort_read(op, &sort) != TP_OK)
      return false;
    work->scalar_ops = tp__sort_work(op, &sort);
  } else if (structured) {
    body_count count = {0};
    (void)tp__walk(op, count_op, &count);
    loop_nest nest = read_loops(op);
    traffic = tp__op_traffic(op);
    for (int i = 0; i < nest.n && i < 32; i++)
      nest.sizes[i] = traffic.skipped >> i & 1 ? 1 : nest.sizes[i];
    points = n_iterations(&nest);
    work->memory_bytes = captured_bytes(op, points);
    double flops = count.ops * points;
    if (count.ops == 2 && count.multiplies && count.adds)
      add_contraction(op, &nest, flops, work);
    else
      work->scalar_ops = flops;
  } else if (tensors && is_arithmetic(op)) {
    work->scalar_ops = (double)tp__n_elements(mlirValueGetType(mlirOperationGetResult(op, 0)));
  } else {
    return false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    work->memory_bytes += operand_bytes(op, &traffic, (int)i, points);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && tp__is_sort(op); i++)
    work->memory_bytes += shaped_bytes(mlirValueGetType(mlirOperationGetResult(op, i)));
  return true;
}
