/* Control flow: while, case and if to scf; calls and barriers. */
#include "passes/import/stablehlo/hlo.h"

#include <stdio.h>

static tp_status not_in_a_body(const tp_hlo *hlo, MlirOperation op) {
  return hlo->scalar ? tp__error(op, TP_UNSUPPORTED,
                                 "control flow is not supported in the body of another op; select "
                                 "among the values instead")
                     : TP_OK;
}

static tp_status check_results(MlirOperation op, int region, MlirOperation end) {
  intptr_t n = mlirOperationGetNumOperands(end);
  bool same = n == mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < n && same; i++)
    same = tp__hlo_same_shape(mlirValueGetType(mlirOperationGetOperand(end, i)),
                              mlirValueGetType(mlirOperationGetResult(op, i)));
  return same ? TP_OK
              : tp__error(op, TP_INVALID_ARGUMENT,
                          "region %d does not return values of the types of the results", region);
}

/* ---- while ---- */

static MlirBlock block_of(tp_hlo *hlo, MlirOperation now, int region, int n,
                          const MlirType *types) {
  MlirLocation *locations = tp__calloc((size_t)n + 1, sizeof *locations);
  if (!locations)
    return (MlirBlock){NULL};
  for (int i = 0; i < n; i++)
    locations[i] = hlo->location;
  MlirBlock block = mlirBlockCreate(n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(now, region), block);
  tp__free(locations);
  return block;
}

/* Replaces the returned predicate, a tensor, by the number in it, and passes the arguments on. */
static tp_status end_condition(tp_hlo *hlo, MlirOperation op, MlirBlock before, MlirOperation end) {
  MlirValue operands[1 + TP_HLO_MAX_VALUES];
  MlirOperation outer = hlo->where;
  int n = (int)mlirBlockGetNumArguments(before);
  MlirValue predicate =
      mlirOperationGetNumOperands(end) == 1 ? mlirOperationGetOperand(end, 0) : (MlirValue){NULL};
  if (mlirValueIsNull(predicate) || tp__value_rank(predicate) != 0 ||
      tp__hlo_kind(tp__element_type(mlirValueGetType(predicate))) != TP_HLO_BOOL)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return one tensor<i1>");
  hlo->where = end;
  operands[0] = tp__hlo_number(hlo, predicate);
  for (int i = 0; i < n; i++)
    operands[1 + i] = mlirBlockGetArgument(before, i);
  mlirOperationSetOperands(end, 1 + n, operands);
  hlo->where = outer;
  return TP_OK;
}

static tp_status build_while(tp_hlo *hlo, MlirOperation op, int n, const MlirValue *operands,
                             const MlirType *types) {
  MlirOperation end, now = tp__hlo_build_op(hlo, &(tp_build){.name = "scf.while",
                                                             .n_operands = n,
                                                             .operands = operands,
                                                             .n_results = n,
                                                             .results = types,
                                                             .n_regions = 2});
  MlirBlock before = block_of(hlo, now, 0, n, types), after = block_of(hlo, now, 1, n, types);
  if (mlirBlockIsNull(before) || mlirBlockIsNull(after))
    return tp__out_of_memory(op);
  TP_TRY(tp__hlo_region(hlo, op, 0, before, "scf.condition", &end));
  TP_TRY(end_condition(hlo, op, before, end));
  TP_TRY(tp__hlo_region(hlo, op, 1, after, "scf.yield", &end));
  TP_TRY(check_results(op, 1, end));
  return tp__hlo_replace_all(hlo, op, now);
}

static tp_status while_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumOperands(op);
  TP_TRY(not_in_a_body(hlo, op));
  if (n != mlirOperationGetNumResults(op) || n > TP_HLO_MAX_VALUES)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; there must be as many, and at most %d", n,
                     (int)mlirOperationGetNumResults(op), TP_HLO_MAX_VALUES);
  MlirValue *operands = tp__calloc((size_t)n + 1, sizeof *operands);
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  tp_status status = operands && types ? TP_OK : tp__out_of_memory(op);
  for (int i = 0; i < n && status == TP_OK; i++) {
    operands[i] = tp__hlo_operand(hlo, op, i);
    types[i] = tp__hlo_result_type(hlo, op, i);
    if (!mlirTypeEqual(tp__hlo_operand_type(op, i),
                       mlirValueGetType(mlirOperationGetResult(op, i))))
      status =
          tp__error(op, TP_INVALID_ARGUMENT, "operand %d and result %d have different types", i, i);
  }
  if (status == TP_OK)
    status = build_while(hlo, op, n, operands, types);
  tp__free(operands);
  tp__free(types);
  return status;
}

/* ---- if and case ---- */

static tp_status branches(tp_hlo *hlo, MlirOperation op, MlirOperation now, int n_regions,
                          const int *regions) {
  for (int r = 0; r < n_regions; r++) {
    MlirOperation end;
    MlirBlock block = block_of(hlo, now, r, 0, NULL);
    if (mlirBlockIsNull(block))
      return tp__out_of_memory(op);
    TP_TRY(tp__hlo_region(hlo, op, regions[r], block, "scf.yield", &end));
    TP_TRY(check_results(op, regions[r], end));
  }
  return tp__hlo_replace_all(hlo, op, now);
}

static tp_status build_branches(tp_hlo *hlo, MlirOperation op, const char *name, MlirValue choice,
                                MlirAttribute cases, int n_regions, const int *regions) {
  int n = (int)mlirOperationGetNumResults(op);
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  if (!types)
    return tp__out_of_memory(op);
  for (int i = 0; i < n; i++)
    types[i] = tp__hlo_result_type(hlo, op, i);
  bool has_cases = !mlirAttributeIsNull(cases);
  MlirNamedAttribute attr =
      tp__named(hlo->context, "cases", has_cases ? cases : mlirUnitAttrGet(hlo->context));
  MlirOperation now = tp__hlo_build_op(hlo, &(tp_build){.name = name,
                                                        .n_operands = 1,
                                                        .operands = &choice,
                                                        .n_results = n,
                                                        .results = types,
                                                        .n_attributes = has_cases,
                                                        .attributes = &attr,
                                                        .n_regions = n_regions});
  tp__free(types);
  return branches(hlo, op, now, n_regions, regions);
}

static tp_status check_choice(MlirOperation op, tp_hlo_kind kind, const char *wanted) {
  MlirType type = tp__hlo_operand_type(op, 0);
  return tp__hlo_shape(type).rank == 0 && tp__hlo_kind(tp__element_type(type)) == kind
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "operand 0 must be a %s", wanted);
}

static tp_status if_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  TP_TRY(not_in_a_body(hlo, op));
  TP_TRY(check_choice(op, TP_HLO_BOOL, "tensor<i1>"));
  MlirValue choice = tp__hlo_number(hlo, tp__hlo_operand(hlo, op, 0));
  return build_branches(hlo, op, "scf.if", choice, (MlirAttribute){NULL}, 2, (int[]){0, 1});
}

/* An index that is none of a branch takes the last one, which is the default of the switch. */
static tp_status case_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  enum { MAX_BRANCHES = 1024 };
  int n = (int)mlirOperationGetNumRegions(op), regions[MAX_BRANCHES];
  int64_t cases[MAX_BRANCHES];
  TP_TRY(not_in_a_body(hlo, op));
  TP_TRY(check_choice(op, TP_HLO_SIGNED, "tensor<i32>"));
  if (n < 1 || n > MAX_BRANCHES)
    return tp__error(op, TP_UNSUPPORTED, "has %d branches; 1 to %d are supported", n, MAX_BRANCHES);
  regions[0] = n - 1;
  for (int i = 0; i + 1 < n; i++) {
    regions[1 + i] = i;
    cases[i] = i;
  }
  MlirValue choice = tp__hlo_index(hlo, tp__hlo_operand(hlo, op, 0), false);
  return build_branches(hlo, op, "scf.index_switch", choice,
                        tp__attr_i64s(hlo->context, n - 1, cases), n, regions);
}

/* ---- values that are passed on ---- */

static tp_status find_read(MlirOperation op, void *found) {
  *(bool *)found |= tp__op_is(op, "tensor.extract");
  return TP_OK;
}

/* True if the value is computed from constants alone, such as a causal mask. */
static bool is_constant(MlirValue value, int *budget) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || (*budget)-- == 0 || tp__op_has_dialect(op, "func") ||
      tp__op_has_dialect(op, "scf"))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!is_constant(mlirOperationGetOperand(op, i), budget))
      return false;
  bool reads = false;
  (void)tp__walk(op, find_read, &reads); /* the visitor does not fail */
  return !reads;
}

/* Returns the value behind a barrier. A number needs none, since it holds no memory, and nor does a
 * constant, which is needed whatever is computed again. */
static MlirValue behind_barrier(tp_hlo *hlo, MlirValue value) {
  enum { MOST = 64 }; /* ops of a constant */
  int budget = MOST;
  MlirType type = mlirValueGetType(value);
  if (!tp__is_tensor(type))
    return value;
  tp_hlo_shape shape = tp__hlo_shape(type);
  if (tp__hlo_elements(&shape) <= 1 || is_constant(value, &budget))
    return value;
  return tp__copy_of(hlo->where, hlo->location, value);
}

static tp_status barrier(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    if (i >= mlirOperationGetNumOperands(op) ||
        !mlirTypeEqual(tp__hlo_operand_type(op, (int)i),
                       mlirValueGetType(mlirOperationGetResult(op, i))))
      return tp__error(op, TP_INVALID_ARGUMENT, "result %d has no operand of its type", (int)i);
    MlirValue value = tp__hlo_operand(hlo, op, (int)i);
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i), behind_barrier(hlo, value)));
  }
  return TP_OK;
}

/* A composite op is the function that it names as its decomposition. */
static tp_status composite(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirAttribute callee = tp__property(op, "decomposition");
  int n = (int)mlirOperationGetNumOperands(op), n_results = (int)mlirOperationGetNumResults(op);
  if (mlirAttributeIsNull(callee) || !mlirAttributeIsAFlatSymbolRef(callee) || hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED,
                     "needs the attribute 'decomposition', the name of a function, and must not be "
                     "in the body of another op");
  MlirValue *operands = tp__calloc((size_t)n + 1, sizeof *operands);
  MlirType *types = tp__calloc((size_t)n_results + 1, sizeof *types);
  if (!operands || !types) {
    tp__free(operands);
    tp__free(types);
    return tp__out_of_memory(op);
  }
  for (int i = 0; i < n; i++)
    operands[i] = tp__hlo_operand(hlo, op, i);
  for (int i = 0; i < n_results; i++)
    types[i] = tp__hlo_result_type(hlo, op, i);
  MlirNamedAttribute attr = tp__named(hlo->context, "callee", callee);
  MlirOperation call = tp__hlo_build_op(hlo, &(tp_build){.name = "func.call",
                                                         .n_operands = n,
                                                         .operands = operands,
                                                         .n_results = n_results,
                                                         .results = types,
                                                         .n_attributes = 1,
                                                         .attributes = &attr});
  tp__free(operands);
  tp__free(types);
  return tp__hlo_replace_all(hlo, op, call);
}

const tp_hlo_row tp__hlo_control_rows[] = {
    {"stablehlo.case", 1, TP_HLO_ANY, TP_HLO_ANY, case_op, NULL, "scf.index_switch"},
    {"stablehlo.composite", TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, composite, NULL,
     "func.call of its decomposition"},
    {"stablehlo.if", 1, TP_HLO_ANY, 2, if_op, NULL, "scf.if"},
    {"stablehlo.optimization_barrier", TP_HLO_ANY, TP_HLO_ANY, 0, barrier, NULL,
     "bufferization.alloc_tensor with a copy of each operand"},
    {"stablehlo.while", TP_HLO_ANY, TP_HLO_ANY, 2, while_op, NULL, "scf.while"},
    {NULL},
};
