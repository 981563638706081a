/* Computes loop indices from thread numbers, and builds the control flow of kernels. */
#include "passes/gpu/kernels/map.h"

#include "passes/support/lower.h"

#include <limits.h>
#include <stdio.h>

MlirValue tp__map_register(const tp__map_nest *n, MlirOperation where, const char *name) {
  char op[64];
  snprintf(op, sizeof op, "nvvm.read.ptx.sreg.%s", name);
  return tp__build_one(where, op, 0, NULL, n->i32);
}

MlirType tp__map_counter(const tp__map_nest *n, int64_t most) {
  return most <= INT32_MAX ? n->i32 : mlirIntegerTypeGet(n->context, 64);
}

MlirValue tp__map_cast(MlirOperation where, MlirValue value, MlirType type) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  bool index = mlirTypeIsAIndex(from) || mlirTypeIsAIndex(type);
  bool widens = !index && mlirIntegerTypeGetWidth(from) < mlirIntegerTypeGetWidth(type);
  return tp__build_one(where,
                       index    ? "arith.index_castui"
                       : widens ? "arith.extui"
                                : "arith.trunci",
                       1, &value, type);
}

int tp__map_order(const tp__map_nest *n, bool of_reduction, int last, int *loops) {
  int count = 0;
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l] == of_reduction && l != last)
      loops[count++] = l;
  if (last >= 0 && n->is_reduction[last] == of_reduction)
    loops[count++] = last;
  return count;
}

void tp__map_split(const tp__map_nest *n, MlirOperation where, MlirValue number, int count,
                   const int *loops, int lanes, MlirValue *at) {
  MlirType type = mlirValueGetType(number);
  /* the slowest loop of more than one iteration: its index is the remaining number */
  int first = 0;
  while (first < count - 1 && n->size[loops[first]] == 1)
    first++;
  for (int i = count - 1; i >= 0; i--) {
    int l = loops[i];
    int groups = i == count - 1 ? lanes : 1;
    MlirValue size = tp__build_int(where, type, n->size[l] / groups), index = number;
    if (n->size[l] == groups) {
      at[l] = tp__index_constant(where, 0);
      continue;
    }
    if (i > first) {
      index = tp__binary(where, "arith.remui", number, size);
      number = tp__binary(where, "arith.divui", number, size);
    }
    at[l] = tp__map_cast(where, index, n->index);
    if (groups > 1)
      at[l] = tp__binary(where, "arith.muli", at[l], tp__index_constant(where, groups));
  }
}

/* ---- control flow ---- */

/* Appends an empty block that ends in scf.yield. Returns the yield. */
static MlirOperation append_block(MlirOperation op, int region, int n, const MlirType *types) {
  MlirLocation location = mlirOperationGetLocation(op);
  MlirLocation locations[2 + TP_MAP_OPERANDS];
  for (int i = 0; i < n; i++)
    locations[i] = location;
  MlirBlock block = mlirBlockCreate(n, types, locations);
  MlirOperation end = tp__create(&(tp_build){.name = "scf.yield", .location = location});
  mlirBlockAppendOwnedOperation(block, end);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, region), block);
  return end;
}

void tp__map_if(MlirOperation where, MlirValue condition, MlirOperation *inside) {
  MlirOperation op = tp__create(&(tp_build){.name = "scf.if",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &condition,
                                            .n_regions = 2});
  tp__insert_before(where, op);
  *inside = append_block(op, 0, 0, NULL);
}

MlirOperation tp__map_for(MlirOperation where, MlirValue from, MlirValue to, MlirValue step, int n,
                          const MlirValue *initial, MlirValue *at, MlirValue *carried,
                          MlirOperation *inside) {
  MlirValue operands[3 + TP_MAP_OPERANDS] = {from, to, step};
  MlirType types[1 + TP_MAP_OPERANDS] = {mlirValueGetType(from)};
  for (int i = 0; i < n; i++) {
    operands[3 + i] = initial[i];
    types[1 + i] = mlirValueGetType(initial[i]);
  }
  MlirOperation op = tp__create(&(tp_build){.name = "scf.for",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 3 + n,
                                            .operands = operands,
                                            .n_results = n,
                                            .results = types + 1,
                                            .n_regions = 1});
  tp__insert_before(where, op);
  *inside = append_block(op, 0, 1 + n, types);
  MlirBlock block = mlirOperationGetBlock(*inside);
  *at = mlirBlockGetArgument(block, 0);
  for (int i = 0; i < n; i++)
    carried[i] = mlirBlockGetArgument(block, 1 + i);
  return op;
}

void tp__map_yield(MlirOperation end, int n, const MlirValue *values) {
  tp__build(end, "scf.yield", n, values, 0, NULL, 0, NULL);
  mlirOperationDestroy(end);
}
