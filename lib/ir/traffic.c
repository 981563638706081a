/* Determines which elements of its operands an op touches, and where it writes them. */
#include "ir/traffic.h"

#include "ir/scatter.h"

/* ---- elements at points ---- */

tp_traffic tp__op_traffic(MlirOperation op) {
  static const struct row {
    const char *name;
    tp_traffic traffic;
  } rows[] = {
      {"tensor.extract_slice", {.read = 1 << 0}},
      {"tensor.extract", {.read = 1 << 0}},
      {"tensor.insert_slice", {.updated = 1 << 1, .n_moves = 1}},
      {"tensor.insert", {.updated = 1 << 1, .n_moves = 1}},
  };
  tp_scatter scatter;
  tp_traffic traffic = {0};
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return rows[i].traffic;
  if (!tp__op_is(op, "linalg.generic"))
    return traffic;
  intptr_t n_operands = mlirOperationGetNumOperands(op);
  traffic.read = n_operands < 64 ? UINT64_MAX << n_operands : 0; /* captured tensors */
  if (!tp__scatter_match(op, &scatter))
    return traffic;
  traffic.n_moves = 2;
  for (int i = 0; i < scatter.n_outputs && scatter.n_inputs + i < 64; i++)
    traffic.updated |= UINT64_C(1) << (scatter.n_inputs + i);
  for (int i = 0; i < scatter.n_targets; i++)
    traffic.skipped |= UINT32_C(1) << scatter.targets[i].loop;
  return traffic;
}

typedef struct read_count {
  MlirValue tensor;
  int n;
  bool whole; /* has other uses */
} read_count;

static tp_status count_reads(MlirOperation op, void *data) {
  static const char *const readers[] = {"tensor.extract", "memref.load"};
  read_count *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), r->tensor)) {
      r->n++;
      r->whole |= i > 0 || !tp__op_is_any(op, TP_LEN(readers), readers);
    }
  return TP_OK;
}

int tp__reads_per_point(MlirOperation op, MlirValue tensor) {
  enum { MANY = 64 }; /* beyond that a table counts as read as a whole */
  read_count r = {.tensor = tensor};
  if (mlirOperationGetNumRegions(op) == 0)
    return 1;                          /* a slice */
  (void)tp__walk(op, count_reads, &r); /* the visitor does not fail */
  return r.whole || r.n > MANY ? 0 : r.n;
}

/* ---- the memory of updates ---- */

/* Ops whose result has the elements of operand 0. */
static const char *const same_elements[] = {"shard.shard", "tensor.expand_shape",
                                            "tensor.collapse_shape", "tensor.cast",
                                            "bufferization.alloc_tensor"};

/* Looks through reshards and views. `alone` becomes false if another op uses the value. */
static MlirValue source_of(MlirValue value, bool *alone) {
  for (;;) {
    MlirOperation maker = tp__defining_op(value);
    *alone = *alone && tp__is_used_once(value);
    if (mlirOperationIsNull(maker) || !tp__op_is_any(maker, TP_LEN(same_elements), same_elements))
      return value;
    value = mlirOperationGetOperand(maker, 0);
  }
}

/* True if the op runs at most once for each time that the block is entered. */
static bool runs_once_in(MlirOperation op, MlirBlock block) {
  static const char *const branches[] = {"scf.if", "scf.index_switch"};
  while (!mlirBlockEqual(mlirOperationGetBlock(op), block)) {
    op = mlirOperationGetParentOperation(op);
    if (mlirOperationIsNull(op) || !tp__op_is_any(op, TP_LEN(branches), branches))
      return false;
  }
  return true;
}

/* True if some result of the function is the new value of argument i. */
static bool has_new_value(MlirOperation func, intptr_t i) {
  intptr_t n = mlirFunctionTypeGetNumResults(tp__func_type(func));
  for (intptr_t r = 0; r < n; r++) {
    MlirAttribute arg = tp__result_attr(func, (int)r, "tp.updates");
    if (!mlirAttributeIsNull(arg) && mlirAttributeIsAInteger(arg) &&
        mlirIntegerAttrGetValueInt(arg) == i)
      return true;
  }
  return false;
}

static bool may_overwrite_argument(MlirValue value) {
  MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  return tp__op_has_dialect(owner, "scf") ||
         (tp__op_is(owner, "func.func") &&
          has_new_value(owner, mlirBlockArgumentGetArgNumber(value)));
}

tp_update tp__update_of(MlirOperation op, int operand) {
  static const char *const numbers[] = {"linalg.fill", "tensor.splat", "arith.constant"};
  bool alone = true;
  MlirValue value = source_of(mlirOperationGetOperand(op, operand), &alone);
  MlirOperation maker = tp__defining_op(value);
  if (!mlirOperationIsNull(maker) && tp__op_is_any(maker, TP_LEN(numbers), numbers))
    return tp__is_stored_constant(maker) ? TP_UPDATE_COPY : TP_UPDATE_NEW;
  if (!runs_once_in(op, tp__block_of(value)))
    return TP_UPDATE_COPY;
  return (mlirOperationIsNull(maker) ? may_overwrite_argument(value) : alone) ? TP_UPDATE_IN_PLACE
                                                                              : TP_UPDATE_COPY;
}

double tp__update_bytes(tp_update update, int n_moves, double whole, double points) {
  /* A new value is written as a whole; a copy is also read. */
  static const double passes[TP_N_UPDATES] = {[TP_UPDATE_NEW] = 1, [TP_UPDATE_COPY] = 2};
  return passes[update] * whole + n_moves * (points < whole ? points : whole);
}

double tp__read_bytes(int reads, double whole, double points) {
  return reads == 0 || reads * points > whole ? whole : reads * points;
}

/* ---- views ---- */

/* True if the block that defines the value passes it on, itself or a view of it. */
static bool is_returned(MlirValue value) {
  static const char *const ends[] = {"func.return", "scf.yield", "scf.condition"};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tp__op_is_any(user, TP_LEN(ends), ends) ||
        (tp__op_is_any(user, TP_LEN(same_elements), same_elements) &&
         is_returned(mlirOperationGetResult(user, 0))))
      return true;
  }
  return false;
}

bool tp__slices_lasting(MlirOperation op) {
  bool alone = true;
  if (!tp__op_is(op, "tensor.extract_slice") || is_returned(mlirOperationGetResult(op, 0)))
    return false;
  MlirValue value = source_of(mlirOperationGetOperand(op, 0), &alone);
  MlirOperation maker = tp__defining_op(value);
  return mlirOperationIsNull(maker) || tp__is_stored_constant(maker) ||
         !mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(op));
}
