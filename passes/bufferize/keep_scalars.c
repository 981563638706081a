/* tp-keep-scalars: keeps loop counters on the host.
 *
 * Exported programs carry a counter as a 0-d tensor. In a GPU buffer, each condition or offset
 * computed from it would need a copy to the host, which waits for all pending GPU work. The host
 * can compute the counter itself, because its initial value and its increment are constants. So
 * numbers that depend only on constants are carried as scalars and read from there. Where a tensor
 * is needed, it is built from the scalar. */
#include "passes/registry.h"
#include "passes/support/value_map.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinTypes.h>

enum { STAT_KEPT, STAT_READS };

/* A value that a region op carries, and the values that it may come from. */
typedef struct carried {
  MlirValue value;
  MlirValue sources[2];
  int n_sources;
} carried;

typedef struct keeper {
  tp_pass *pass;
  carried *items;
  size_t n, capacity;
  tp__value_map kept; /* carried values -> whether they may be scalars */
  /* other tensors -> whether they depend only on constants; valid while `kept` is unchanged */
  tp__value_map known;
  MlirValue *scalars; /* scalars of tensors, indexed by scalar_of */
  size_t n_scalars, scalar_capacity;
  tp__value_map scalar_of;
  tp_op_list reads;
  bool no_memory;
} keeper;

static bool is_number(MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  return tp__static_tensor(type, &rank, shape) && rank == 0 &&
         (mlirTypeIsAInteger(tp__element_type(type)) || mlirTypeIsAIndex(tp__element_type(type)));
}

/* ---- dependence on constants ---- */

static bool follows(keeper *k, MlirValue value);

static tp_status check_body(MlirOperation op, void *data) {
  (void)data;
  return tp__op_has_dialect(op, "arith") || tp__op_is(op, "linalg.yield") ? TP_OK : TP_UNSUPPORTED;
}

/* True if the op computes one element from inputs that depend only on constants, and reads no other
 * tensor. */
static bool computes(keeper *k, MlirOperation op) {
  intptr_t n_inits = mlirOperationGetNumResults(op),
           n_inputs = mlirOperationGetNumOperands(op) - n_inits;
  if (n_inits != 1 || tp__walk(op, check_body, NULL) != TP_OK ||
      tp__is_used(
          mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), n_inputs)))
    return false;
  for (intptr_t i = 0; i < n_inputs; i++) {
    MlirValue input = mlirOperationGetOperand(op, i);
    if (mlirTypeIsAShaped(mlirValueGetType(input)) && !follows(k, input))
      return false;
  }
  return true;
}

static bool is_constant(MlirOperation op) {
  return tp__op_is(op, "arith.constant") &&
         mlirAttributeIsADenseElements(tp__inherent(op, "value"));
}

static bool follows(keeper *k, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  const int64_t *kept = tp__value_find(&k->kept, value), *known = tp__value_find(&k->known, value);
  if (kept || known)
    return kept ? *kept : *known;
  if (mlirOperationIsNull(op) || !is_number(mlirValueGetType(value)))
    return false;
  bool result = is_constant(op) || tp__op_is(op, "tensor.from_elements") ||
                tp__op_is(op, "linalg.fill") ||
                (tp__op_is(op, "linalg.generic") && computes(k, op));
  k->no_memory |= !tp__value_add(&k->known, value, result);
  return result;
}

/* ---- carried values ---- */

static void add_carried(keeper *k, MlirValue value, int n_sources, MlirValue first,
                        MlirValue second) {
  if (!is_number(mlirValueGetType(value)))
    return;
  if (tp__grow((void **)&k->items, &k->capacity, k->n + 1, sizeof *k->items) != TP_OK ||
      !tp__value_add(&k->kept, value, 1)) {
    k->no_memory = true;
    return;
  }
  k->items[k->n++] = (carried){value, {first, second}, n_sources};
}

static MlirOperation end_of(MlirOperation op, int region) {
  return mlirBlockGetTerminator(tp__region_block(op, region));
}

static void add_while(keeper *k, MlirOperation op) {
  MlirOperation condition = end_of(op, 0), yield = end_of(op, 1);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    add_carried(k, mlirBlockGetArgument(tp__region_block(op, 0), i), 2,
                mlirOperationGetOperand(op, i), mlirOperationGetOperand(yield, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue source = mlirOperationGetOperand(condition, i + 1);
    add_carried(k, mlirBlockGetArgument(tp__region_block(op, 1), i), 1, source, source);
    add_carried(k, mlirOperationGetResult(op, i), 1, source, source);
  }
}

static void add_for(keeper *k, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue first = mlirOperationGetOperand(op, 3 + i),
              next = mlirOperationGetOperand(end_of(op, 0), i);
    add_carried(k, mlirBlockGetArgument(tp__region_block(op, 0), 1 + i), 2, first, next);
    add_carried(k, mlirOperationGetResult(op, i), 2, first, next);
  }
}

static tp_status collect(MlirOperation op, void *data) {
  keeper *k = data;
  if (tp__op_is(op, "scf.while"))
    add_while(k, op);
  else if (tp__op_is(op, "scf.for"))
    add_for(k, op);
  return TP_OK;
}

/* Starts with all carried values as candidates and removes those with other sources until nothing
 * changes. */
static void decide(keeper *k) {
  for (bool changed = true; changed && !k->no_memory;) {
    changed = false;
    tp__value_map_destroy(&k->known);
    k->known = (tp__value_map){0};
    for (size_t i = 0; i < k->n; i++) {
      int64_t *kept = tp__value_find(&k->kept, k->items[i].value);
      bool may = follows(k, k->items[i].sources[0]) &&
                 (k->items[i].n_sources < 2 || follows(k, k->items[i].sources[1]));
      changed |= *kept && !may;
      *kept = may;
    }
  }
}

static bool is_kept(const keeper *k, MlirValue value) {
  const int64_t *kept = tp__value_find(&k->kept, value);
  return kept && *kept;
}

/* ---- converting to scalars ---- */

static MlirValue build_read(MlirOperation where, MlirValue tensor) {
  MlirType type = tp__element_type(mlirValueGetType(tensor));
  MlirOperation read = tp__create(&(tp_build){.name = "tensor.extract",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = 1,
                                              .operands = &tensor,
                                              .n_results = 1,
                                              .results = &type});
  tp__insert_before(where, read);
  return mlirOperationGetResult(read, 0);
}

static void read_operand(MlirOperation op, intptr_t i) {
  mlirOperationSetOperand(op, i, build_read(op, mlirOperationGetOperand(op, i)));
}

/* Changes the type of `value` to a scalar. Its tensor users get a tensor built from it before
 * `where`, on the device, because a tensor built by the host would have to be copied. */
static void make_scalar(keeper *k, MlirValue value, MlirOperation where) {
  MlirType tensor = mlirValueGetType(value);
  MlirValue init = tp__empty(where, tensor);
  MlirContext context = mlirOperationGetContext(where);
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapZeroResultGet(context, 0, 0));
  MlirOperation made = tp__build_generic(&(tp_generic){.where = where,
                                                       .location = mlirOperationGetLocation(where),
                                                       .n_inputs = 0,
                                                       .n_inits = 1,
                                                       .operands = &init,
                                                       .maps = &map});
  mlirValueReplaceAllUsesOfWith(value, mlirOperationGetResult(made, 0));
  mlirValueSetType(value, tp__element_type(tensor));
  mlirOperationSetOperands(tp__build_generic_body(made), 1, &value);
  k->pass->statistics[STAT_KEPT]++;
}

static void convert_while(keeper *k, MlirOperation op) {
  MlirBlock before = tp__region_block(op, 0), body = tp__region_block(op, 1);
  MlirOperation condition = end_of(op, 0), yield = end_of(op, 1),
                next = mlirOperationGetNextInBlock(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    if (!is_kept(k, mlirBlockGetArgument(before, i)))
      continue;
    read_operand(op, i);
    read_operand(yield, i);
    make_scalar(k, mlirBlockGetArgument(before, i), mlirBlockGetFirstOperation(before));
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    if (!is_kept(k, mlirOperationGetResult(op, i)))
      continue;
    read_operand(condition, i + 1);
    make_scalar(k, mlirBlockGetArgument(body, i), mlirBlockGetFirstOperation(body));
    make_scalar(k, mlirOperationGetResult(op, i), next);
  }
}

static void convert_for(keeper *k, MlirOperation op) {
  MlirBlock body = tp__region_block(op, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    if (!is_kept(k, mlirOperationGetResult(op, i)))
      continue;
    read_operand(op, 3 + i);
    read_operand(end_of(op, 0), i);
    make_scalar(k, mlirBlockGetArgument(body, 1 + i), mlirBlockGetFirstOperation(body));
    make_scalar(k, mlirOperationGetResult(op, i), mlirOperationGetNextInBlock(op));
  }
}

static tp_status collect_loop(MlirOperation op, void *data) {
  return tp__op_is(op, "scf.while") || tp__op_is(op, "scf.for") ? tp__op_list_add(data, op) : TP_OK;
}

/* ---- reads ---- */

static MlirValue scalar_of(keeper *k, MlirValue tensor);

/* Clones the body of a one-element op to scalar ops before it. Returns the result. */
static MlirValue compute(keeper *k, MlirOperation op) {
  intptr_t n_inputs = mlirOperationGetNumOperands(op) - 1;
  MlirOperation copy = mlirOperationClone(op);
  MlirBlock copied = tp__region_block(copy, 0);
  for (intptr_t i = 0; i < n_inputs; i++) {
    MlirValue input = mlirOperationGetOperand(op, i);
    bool is_tensor = mlirTypeIsAShaped(mlirValueGetType(input));
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(copied, i),
                                  is_tensor ? scalar_of(k, input) : input);
  }
  MlirOperation end = mlirBlockGetTerminator(copied);
  MlirValue result = mlirOperationGetOperand(end, 0);
  for (MlirOperation at = mlirBlockGetFirstOperation(copied); !mlirOperationEqual(at, end);) {
    MlirOperation behind = mlirOperationGetNextInBlock(at);
    mlirOperationMoveBefore(at, op);
    at = behind;
  }
  mlirOperationDestroy(copy);
  return result;
}

static MlirValue make(keeper *k, MlirValue tensor) {
  MlirOperation op = tp__defining_op(tensor);
  if (tp__op_is(op, "linalg.generic"))
    return compute(k, op);
  if (!tp__op_is(op, "arith.constant"))
    return mlirOperationGetOperand(op, 0);
  MlirAttribute value = mlirDenseElementsAttrGetSplatValue(tp__inherent(op, "value"));
  return tp__constant(op, tp__element_type(mlirValueGetType(tensor)), value);
}

/* Returns the scalar of a tensor that depends only on constants. */
static MlirValue scalar_of(keeper *k, MlirValue tensor) {
  const int64_t *number = tp__value_find(&k->scalar_of, tensor);
  if (number)
    return k->scalars[*number];
  MlirValue scalar = make(k, tensor);
  if (tp__grow((void **)&k->scalars, &k->scalar_capacity, k->n_scalars + 1, sizeof *k->scalars) !=
          TP_OK ||
      !tp__value_add(&k->scalar_of, tensor, (int64_t)k->n_scalars))
    k->no_memory = true;
  else
    k->scalars[k->n_scalars++] = scalar;
  return scalar;
}

static tp_status collect_read(MlirOperation op, void *data) {
  bool reads = tp__op_is(op, "tensor.extract") &&
               is_number(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  return reads ? tp__op_list_add(data, op) : TP_OK;
}

static void replace_reads(keeper *k) {
  for (size_t i = 0; i < k->reads.n && !k->no_memory; i++) {
    MlirOperation read = k->reads.items[i];
    MlirValue tensor = mlirOperationGetOperand(read, 0);
    if (!follows(k, tensor))
      continue;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(read, 0), scalar_of(k, tensor));
    mlirOperationDestroy(read);
    k->pass->statistics[STAT_READS]++;
  }
}

/* ---- the pass ---- */

static tp_status keep(keeper *k) {
  tp_op_list loops = {0};
  tp_status status = tp__walk(k->pass->module, collect, k);
  decide(k);
  if (status == TP_OK)
    status = tp__walk(k->pass->module, collect_loop, &loops);
  for (size_t i = 0; i < loops.n && status == TP_OK && !k->no_memory; i++)
    (tp__op_is(loops.items[i], "scf.while") ? convert_while : convert_for)(k, loops.items[i]);
  tp__free(loops.items);
  tp__value_map_destroy(&k->kept); /* carried values are scalars now */
  tp__value_map_destroy(&k->known);
  k->kept = k->known = (tp__value_map){0};
  if (status == TP_OK)
    status = tp__walk(k->pass->module, collect_read, &k->reads);
  if (status == TP_OK)
    replace_reads(k);
  return status;
}

static tp_status run(tp_pass *pass) {
  keeper k = {.pass = pass};
  tp_status status = keep(&k);
  if (status == TP_OK && k.no_memory)
    status = tp__out_of_memory(pass->module);
  tp__value_map_destroy(&k.kept);
  tp__value_map_destroy(&k.known);
  tp__value_map_destroy(&k.scalar_of);
  tp__free(k.items);
  tp__free(k.scalars);
  tp__free(k.reads.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_KEPT] = {"kept", "loop arguments and results that became scalars"},
    [STAT_READS] = {"reads", "tensor element reads replaced by scalars"},
};

const tp_pass_row tp__keep_scalars_row = {
    .name = "tp-keep-scalars",
    .summary =
        "Carry loop counters as scalars, so that GPU programs need not copy them to the host",
    .description =
        "Requires: nothing. Establishes: scf.while and scf.for carry integer and boolean tensors "
        "of rank 0 as scalars if they derive from constants, also by arithmetic in loops; "
        "conditions and offsets are computed from the scalars. Breaks: nothing; where the tensor "
        "is still needed, it is built from the scalar.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
