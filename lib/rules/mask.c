/* Builds masks for uneven shards: valid sizes, masked operands, accumulators and traps. */
#include "rules/mask.h"

#include "ir/collectives.h"

#include <mlir-c/AffineMap.h>

/* ---- valid sizes ---- */

uint32_t tp__uneven_factors(const tp_local *local) {
  uint32_t uneven = 0;
  for (int f = 0; f < local->rule->n_factors; f++)
    if (!local->rule->factors[f].repeats_work &&
        local->rule->factors[f].size %
                tp__strategy_shards(local->rule, local->mesh, local->strategy, f) !=
            0)
      uneven |= UINT32_C(1) << f;
  return uneven;
}

/* Returns the size of a shard after one more split along `axis`. Sizes are split axis by axis;
 * `buffer` is the size before. */
static int64_t split(const tp_local *local, int axis, int64_t buffer) {
  int64_t parts = local->mesh->axes[axis].size;
  return buffer / parts + (buffer % parts != 0);
}

static MlirValue skipped(const tp_local *local, int axis, int64_t buffer) {
  MlirOperation where = local->rule->op;
  return tp__binary(where, "arith.muli", tp__build_group_index(where, local->mesh, 1, &axis),
                    tp__index_constant(where, buffer));
}

MlirValue tp__shard_index(const tp_local *local, int f) {
  int axes[TP_MAX_AXES], n = tp__strategy_axes(local->mesh, local->strategy, f, axes);
  return n ? tp__build_group_index(local->rule->op, local->mesh, n, axes) : (MlirValue){NULL};
}

MlirValue tp__shard_offset(const tp_local *local, int f) {
  MlirOperation where = local->rule->op;
  int axes[TP_MAX_AXES], n = tp__strategy_axes(local->mesh, local->strategy, f, axes);
  int64_t size = local->rule->factors[f].size,
          shards = tp__strategy_shards(local->rule, local->mesh, local->strategy, f);
  if (n == 0)
    return (MlirValue){NULL};
  if (size % shards == 0)
    return tp__binary(where, "arith.muli", tp__shard_index(local, f),
                      tp__index_constant(where, size / shards));
  MlirValue offset = {NULL};
  for (int i = 0; i < n; i++) {
    size = split(local, axes[i], size);
    MlirValue skip = skipped(local, axes[i], size);
    offset = i ? tp__binary(where, "arith.addi", offset, skip) : skip;
  }
  return offset;
}

MlirValue tp__valid_size(const tp_local *local, int f) {
  MlirOperation where = local->rule->op;
  int axes[TP_MAX_AXES], n = tp__strategy_axes(local->mesh, local->strategy, f, axes);
  int64_t buffer = local->rule->factors[f].size;
  MlirValue left = tp__index_constant(where, buffer);
  for (int i = 0; i < n; i++) {
    buffer = split(local, axes[i], buffer);
    left = tp__binary(where, "arith.subi", left, skipped(local, axes[i], buffer));
    left = tp__binary(where, "arith.minsi", left, tp__index_constant(where, buffer));
  }
  return left;
}

/* ---- building ops in bodies ---- */

/* Builds the test that the index of loop `dim` is below `valid`, and combines it with `all` (null:
 * no test yet). */
static MlirValue and_below(MlirOperation where, MlirValue all, int dim, MlirValue valid) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirIndexTypeGet(context);
  MlirNamedAttribute attr = tp__named(context, "dim", tp__attr_i64(context, dim));
  MlirOperation index = tp__create(&(tp_build){.name = "linalg.index",
                                               .location = mlirOperationGetLocation(where),
                                               .n_results = 1,
                                               .results = &type,
                                               .n_attributes = 1,
                                               .attributes = &attr});
  tp__insert_before(where, index);
  MlirValue below = tp__compare(where, TP_SLT, mlirOperationGetResult(index, 0), valid);
  return mlirValueIsNull(all) ? below : tp__binary(where, "arith.andi", all, below);
}

/* Builds a flag at the start of the body that is true in valid iterations. */
static MlirValue valid_iteration(const tp_local *local, const tp_body *body, uint32_t factors) {
  MlirOperation where = mlirBlockGetFirstOperation(body->block);
  MlirValue valid = {NULL};
  for (int f = 0; f < local->rule->n_factors; f++)
    if (factors >> f & 1)
      valid = and_below(where, valid, f, tp__valid_size(local, f));
  return valid;
}

/* ---- masked copies ---- */

/* The body has an empty yield. */
static MlirOperation elementwise_generic(MlirOperation where, MlirValue in, MlirValue out) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(in));
  MlirAttribute map =
      mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(mlirOperationGetContext(where), rank));
  return tp__build_generic(&(tp_generic){.where = where,
                                         .location = mlirOperationGetLocation(where),
                                         .n_inputs = 1,
                                         .n_inits = 1,
                                         .operands = (MlirValue[]){in, out},
                                         .maps = (MlirAttribute[]){map, map}});
}

void tp__mask_operand(const tp_local *local, int i, uint32_t factors, MlirAttribute other) {
  MlirOperation where = local->rule->op;
  const tp_value_map *map = &local->rule->operands[i];
  MlirValue in = mlirOperationGetOperand(where, i), valid[TP_MAX_RANK];
  MlirType type = mlirValueGetType(in), element = tp__element_type(type);
  for (int d = 0; d < map->rank; d++) {
    bool masked = map->dims[d].n_factors == 1 && factors >> map->dims[d].factors[0] & 1;
    valid[d] = masked ? tp__valid_size(local, map->dims[d].factors[0]) : (MlirValue){NULL};
  }
  MlirValue outside = tp__constant(where, element, other);
  MlirOperation op = elementwise_generic(where, in, tp__empty(where, type));
  MlirOperation yield = tp__build_generic_body(op);
  MlirValue inside = {NULL}, result = mlirBlockGetArgument(mlirOperationGetBlock(yield), 0);
  for (int d = 0; d < map->rank; d++)
    if (!mlirValueIsNull(valid[d]))
      inside = and_below(yield, inside, d, valid[d]);
  if (!mlirValueIsNull(inside))
    result = tp__select(yield, inside, result, outside);
  mlirOperationSetOperands(yield, 1, &result);
  mlirOperationSetOperand(where, i, mlirOperationGetResult(op, 0));
}

/* ---- accumulators ---- */

void tp__mask_yields(const tp_local *local, const tp_body *body, uint32_t factors) {
  MlirValue valid = valid_iteration(local, body, factors);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(body->yield); k++) {
    MlirValue accumulator = mlirBlockGetArgument(body->block, body->n_inputs + k);
    MlirValue value = mlirOperationGetOperand(body->yield, k);
    mlirOperationSetOperand(body->yield, k, tp__select(body->yield, valid, value, accumulator));
  }
}

/* ---- traps ---- */

typedef enum safe_value { SAFE_ZERO, SAFE_ONE, SAFE_LOWER_BOUND } safe_value;

enum { ALL_FROM_1 = -1 };

/* Ops that may trap or branch on an operand, and a harmless value for it. */
static const struct trap {
  const char *op;
  int operand;
  safe_value safe;
} traps[] = {
    {"tensor.extract", ALL_FROM_1, SAFE_ZERO}, /* indices out of range */
    {"arith.divsi", 1, SAFE_ONE},
    {"arith.divui", 1, SAFE_ONE},
    {"arith.remsi", 1, SAFE_ONE},
    {"arith.remui", 1, SAFE_ONE},
    {"arith.ceildivsi", 1, SAFE_ONE},
    {"arith.ceildivui", 1, SAFE_ONE},
    {"arith.floordivsi", 1, SAFE_ONE},
    {"math.ipowi", 0, SAFE_ONE}, /* 0 to a negative power divides by zero */
    {"cf.assert", 0, SAFE_ONE},
    {"scf.for", 1, SAFE_LOWER_BOUND}, /* no iteration */
    {"scf.condition", 0, SAFE_ZERO},
};

static const struct trap *find_trap(MlirOperation op) {
  for (int i = 0; i < TP_LEN(traps); i++)
    if (tp__op_is(op, traps[i].op))
      return &traps[i];
  return NULL;
}

static MlirValue safe_of(MlirOperation op, const struct trap *trap, MlirType type) {
  if (trap->safe == SAFE_LOWER_BOUND)
    return mlirOperationGetOperand(op, 0);
  return tp__constant(op, type, mlirIntegerAttrGet(type, trap->safe == SAFE_ONE));
}

static tp_status mask_trap(MlirOperation op, void *data) {
  MlirValue valid = *(MlirValue *)data;
  const struct trap *trap = find_trap(op);
  if (!trap)
    return TP_OK;
  intptr_t first = trap->operand == ALL_FROM_1 ? 1 : trap->operand;
  intptr_t end = trap->operand == ALL_FROM_1 ? mlirOperationGetNumOperands(op) : first + 1;
  for (intptr_t i = first; i < end; i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    mlirOperationSetOperand(
        op, i, tp__select(op, valid, value, safe_of(op, trap, mlirValueGetType(value))));
  }
  return TP_OK;
}

void tp__mask_traps(const tp_local *local, const tp_body *body, uint32_t factors) {
  MlirValue valid = valid_iteration(local, body, factors);
  (void)tp__walk(local->rule->op, mask_trap, &valid); /* the visitor does not fail */
}

void tp__mask_divisors(const tp_local *local, uint32_t factors) {
  const struct trap *trap = find_trap(local->rule->op);
  if (!trap || trap->safe != SAFE_ONE || !local->rule->operands[trap->operand].is_tensor)
    return;
  MlirType element = tp__element_type(mlirValueGetType(local->rule->operands[trap->operand].value));
  tp__mask_operand(local, trap->operand, factors, mlirIntegerAttrGet(element, 1));
}

/* ---- supported ops in bodies ---- */

static bool can_mask(MlirOperation op) {
  static const char *const dialects[] = {"arith", "math", "complex"};
  static const char *const names[] = {"linalg.index",     "linalg.yield", "scf.if",
                                      "scf.index_switch", "scf.while",    "scf.yield"};
  bool known = find_trap(op) != NULL;
  for (int i = 0; i < TP_LEN(dialects); i++)
    known |= tp__op_has_dialect(op, dialects[i]);
  for (int i = 0; i < TP_LEN(names); i++)
    known |= tp__op_is(op, names[i]);
  return known;
}

typedef struct body_facts {
  bool can_mask, has_traps;
} body_facts;

static tp_status check_op(MlirOperation op, void *data) {
  body_facts *facts = data;
  facts->can_mask &= can_mask(op);
  facts->has_traps |= find_trap(op) != NULL;
  return TP_OK;
}

static body_facts facts_of(const tp_body *body) {
  body_facts facts = {true, false};
  /* the visitor does not fail */
  (void)tp__walk(mlirBlockGetParentOperation(body->block), check_op, &facts);
  return facts;
}

bool tp__body_can_mask(const tp_body *body) { return facts_of(body).can_mask; }

bool tp__body_has_traps(const tp_body *body) { return facts_of(body).has_traps; }
