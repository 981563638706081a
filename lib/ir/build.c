/* Creates ops and inserts them into a block. */
#include "ir/ir.h"

MlirOperation tp__create(const tp_build *build) {
  MlirOperationState state = mlirOperationStateGet(tp__ref(build->name), build->location);
  mlirOperationStateAddOperands(&state, build->n_operands, build->operands);
  mlirOperationStateAddResults(&state, build->n_results, build->results);
  mlirOperationStateAddAttributes(&state, build->n_attributes, build->attributes);
  for (int i = 0; i < build->n_regions; i++) {
    MlirRegion region = mlirRegionCreate();
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  }
  return mlirOperationCreate(&state);
}

MlirOperation tp__create_private_func(MlirLocation location, const char *name, MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, name)),
      tp__named(context, "function_type", mlirTypeAttrGet(type)),
      tp__named(context, "sym_visibility", tp__attr_string(context, "private")),
  };
  return tp__create(&(tp_build){.name = "func.func",
                                .location = location,
                                .n_attributes = TP_LEN(attrs),
                                .attributes = attrs,
                                .n_regions = 1});
}

void tp__insert_before(MlirOperation where, MlirOperation op) {
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(where), where, op);
}

void tp__insert_after(MlirOperation where, MlirOperation op) {
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(where), where, op);
}

MlirValue tp__empty(MlirOperation where, MlirType type) {
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.empty",
                                            .location = mlirOperationGetLocation(where),
                                            .n_results = 1,
                                            .results = &type});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__constant(MlirOperation where, MlirType type, MlirAttribute value) {
  MlirNamedAttribute attr = tp__named(mlirOperationGetContext(where), "value", value);
  MlirOperation op = tp__create(
      &(tp_build){.name = mlirTypeIsAComplex(type) ? "complex.constant" : "arith.constant",
                  .location = mlirOperationGetLocation(where),
                  .n_results = 1,
                  .results = &type,
                  .n_attributes = 1,
                  .attributes = &attr});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__index_constant(MlirOperation where, int64_t value) {
  MlirContext context = mlirOperationGetContext(where);
  return tp__constant(where, mlirIndexTypeGet(context), tp__attr_index(context, value));
}

MlirValue tp__binary(MlirOperation where, const char *name, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a);
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 2,
                                            .operands = (MlirValue[]){a, b},
                                            .n_results = 1,
                                            .results = &type});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

static MlirValue compare(MlirOperation where, const char *name, int predicate, MlirValue a,
                         MlirValue b) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType bit = mlirIntegerTypeGet(context, 1);
  MlirNamedAttribute attr = tp__named(context, "predicate", tp__attr_i64(context, predicate));
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 2,
                                            .operands = (MlirValue[]){a, b},
                                            .n_results = 1,
                                            .results = &bit,
                                            .n_attributes = 1,
                                            .attributes = &attr});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__compare(MlirOperation where, tp_compare predicate, MlirValue a, MlirValue b) {
  return compare(where, "arith.cmpi", (int)predicate, a, b);
}

MlirValue tp__compare_floats(MlirOperation where, tp_compare_float predicate, MlirValue a,
                             MlirValue b) {
  return compare(where, "arith.cmpf", (int)predicate, a, b);
}

void tp__build_assert(MlirOperation where, MlirValue ok, const char *text) {
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute message = tp__named(context, "msg", tp__attr_string(context, text));
  tp__insert_before(where, tp__create(&(tp_build){.name = "cf.assert",
                                                  .location = mlirOperationGetLocation(where),
                                                  .n_operands = 1,
                                                  .operands = &ok,
                                                  .n_attributes = 1,
                                                  .attributes = &message}));
}

MlirValue tp__select(MlirOperation where, MlirValue condition, MlirValue yes, MlirValue no) {
  MlirType type = mlirValueGetType(yes);
  MlirOperation op = tp__create(&(tp_build){.name = "arith.select",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 3,
                                            .operands = (MlirValue[]){condition, yes, no},
                                            .n_results = 1,
                                            .results = &type});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__index_cast(MlirOperation where, MlirValue value, MlirType type) {
  MlirOperation op = tp__create(&(tp_build){.name = "arith.index_cast",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &type});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__index_at(MlirOperation where, MlirValue list, MlirValue i) {
  MlirType element = tp__element_type(mlirValueGetType(list));
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.extract",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 2,
                                            .operands = (MlirValue[]){list, i},
                                            .n_results = 1,
                                            .results = &element});
  tp__insert_before(where, op);
  return tp__index_cast(where, mlirOperationGetResult(op, 0), mlirValueGetType(i));
}

MlirValue tp__regroup(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                      const int64_t *sizes, int n_groups, const int *n_parts) {
  MlirContext context = mlirOperationGetContext(where);
  MlirAttribute groups[TP_MAX_RANK], members[TP_MAX_RANK];
  MlirType type = tp__tensor_like(mlirValueGetType(value), rank, sizes);
  int64_t before = mlirShapedTypeGetRank(mlirValueGetType(value));
  if (before == rank)
    return value;
  for (int g = 0, at = 0; g < n_groups; g++) {
    for (int i = 0; i < n_parts[g]; i++)
      members[i] = tp__attr_i64(context, at++);
    groups[g] = mlirArrayAttrGet(context, n_parts[g], members);
  }
  MlirNamedAttribute attrs[] = {
      tp__named(context, "reassociation", mlirArrayAttrGet(context, n_groups, groups)),
      tp__named(context, "static_output_shape", tp__attr_i64s(context, rank, sizes)),
  };
  MlirOperation op = tp__create(
      &(tp_build){.name = rank > before ? "tensor.expand_shape" : "tensor.collapse_shape",
                  .location = location,
                  .n_operands = 1,
                  .operands = &value,
                  .n_results = 1,
                  .results = &type,
                  .n_attributes = rank > before ? 2 : 1,
                  .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__view(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                   const int64_t *sizes) {
  int before;
  int64_t shape[TP_MAX_RANK], elements = 1;
  if (mlirTypeEqual(mlirValueGetType(value), tp__tensor_like(mlirValueGetType(value), rank, sizes)))
    return value;
  tp__static_tensor(mlirValueGetType(value), &before, shape);
  for (int d = 0; d < before; d++)
    elements *= shape[d];
  if (before > 1)
    value = tp__regroup(where, location, value, 1, &elements, 1, &before);
  return rank > 1 ? tp__regroup(where, location, value, rank, sizes, before > 0, &rank) : value;
}

MlirValue tp__view_as(MlirOperation where, MlirValue value, MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  return tp__view(where, mlirOperationGetLocation(where), value, rank, shape);
}

/* ---- copies ---- */

bool tp__is_barrier(MlirOperation op) {
  return tp__op_is(op, "bufferization.alloc_tensor") && mlirOperationGetNumOperands(op) == 1 &&
         mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, 0)),
                       mlirValueGetType(mlirOperationGetResult(op, 0)));
}

MlirValue tp__copy_of(MlirOperation where, MlirLocation location, MlirValue value) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(value);
  const MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 3, (const int32_t[]){0, 1, 0}));
  MlirOperation op = tp__create(&(tp_build){.name = "bufferization.alloc_tensor",
                                            .location = location,
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = &segments});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}
