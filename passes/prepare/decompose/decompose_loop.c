/* Widens the counters of scf.for loops over narrow integers, which are compiled wrongly in two
 * cases. Upstream's canonicalization computes the difference of the bounds in their type, so it
 * removes a loop from -100 to 100 in i8. And a step beyond the upper bound may overflow: then the
 * counter is less than the bound again, and the loop goes on. */
#include "passes/prepare/decompose/decompose.h"

enum { LOW, HIGH, STEP, N_BOUNDS };

static int width_of(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, LOW));
  return mlirTypeIsAIndex(type) ? 64 : (int)mlirIntegerTypeGetWidth(type);
}

static bool is_unsigned(MlirOperation op) {
  return !mlirAttributeIsNull(tp__inherent(op, "unsignedCmp"));
}

/* Returns the ranges of the bounds; false if one is unknown, or negative in an unsigned loop. */
static bool ranges_of(MlirOperation op, tp__range ranges[N_BOUNDS]) {
  for (int i = 0; i < N_BOUNDS; i++)
    if (!tp__index_range(mlirOperationGetOperand(op, i), &ranges[i]) ||
        (is_unsigned(op) && ranges[i].low < 0))
      return false;
  return true;
}

/* True if the difference of the bounds and the last value of the counter are at most `max`. */
static bool counts_within(const tp__range ranges[N_BOUNDS], int64_t max) {
  int64_t distance, last;
  return ranges[LOW].low >= ranges[HIGH].high ||
         (!__builtin_sub_overflow(ranges[HIGH].high, ranges[LOW].low, &distance) &&
          distance <= max &&
          !__builtin_add_overflow(ranges[HIGH].high - 1, ranges[STEP].high, &last) && last <= max);
}

bool tp__overflows_loop(MlirOperation op) {
  tp__range ranges[N_BOUNDS];
  return width_of(op) >= 64 && ranges_of(op, ranges) && !counts_within(ranges, INT64_MAX);
}

bool tp__wraps_loop(MlirOperation op) {
  tp__range ranges[N_BOUNDS];
  int width = width_of(op);
  return width < 64 &&
         (!ranges_of(op, ranges) || !counts_within(ranges, (INT64_C(1) << (width - 1)) - 1));
}

static MlirOperation convert(MlirOperation op, const char *name, MlirValue value, MlirType type) {
  return tp__create(&(tp_build){.name = name,
                                .location = mlirOperationGetLocation(op),
                                .n_operands = 1,
                                .operands = &value,
                                .n_results = 1,
                                .results = &type});
}

/* Returns a bound in the wide type. Constants stay constants, which gives trip counts. */
static MlirValue widen(MlirOperation op, MlirValue bound, MlirType wide) {
  tp__range range;
  if (tp__index_range(bound, &range) && range.low == range.high &&
      (range.low >= 0 || !is_unsigned(op)))
    return tp__constant(op, wide, mlirIntegerAttrGet(wide, range.low));
  MlirOperation cast = convert(op, is_unsigned(op) ? "arith.extui" : "arith.extsi", bound, wide);
  tp__insert_before(op, cast);
  return mlirOperationGetResult(cast, 0);
}

tp_status tp__decompose_loop(MlirOperation op) {
  MlirValue counter =
      mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), 0);
  MlirType narrow = mlirValueGetType(counter),
           wide = mlirIntegerTypeGet(mlirTypeGetContext(narrow), 64);
  for (int i = 0; i < N_BOUNDS; i++)
    mlirOperationSetOperand(op, i, widen(op, mlirOperationGetOperand(op, i), wide));
  mlirValueSetType(counter, wide);
  MlirOperation cast = convert(op, "arith.trunci", counter, narrow);
  tp__insert_before(mlirBlockGetFirstOperation(mlirBlockArgumentGetOwner(counter)), cast);
  tp__replace_uses_except(counter, mlirOperationGetResult(cast, 0), cast);
  return TP_OK;
}
