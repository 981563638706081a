/* tensor.extract_slice and tensor.insert_slice. A dimension that the slice takes whole may be sharded; one that it cuts stays whole. */
#include "rules/families.h"
#include "rules/rule.h"

static bool is_insert(MlirOperation op) { return tp__op_is(op, "tensor.insert_slice"); }

static bool matches(MlirOperation op) { return is_insert(op) || tp__op_is(op, "tensor.extract_slice"); }

typedef struct slice {
  int rank; /* of the large tensor */
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
} slice;

static bool read_slice(MlirOperation op, slice *s) {
  s->rank = tp__int_list(tp__inherent(op, "static_offsets"), TP_MAX_RANK, s->offsets);
  return s->rank >= 0 && tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, s->sizes) == s->rank &&
         tp__int_list(tp__inherent(op, "static_strides"), TP_MAX_RANK, s->strides) == s->rank;
}

/* The slice may drop dimensions of size 1 (rank reduction): dimension of the small tensor for each of the large one, -1 for a dropped one.
 * Drops as late as possible, which is how MLIR matches shapes when sizes of 1 repeat; those are never sharded, so the choice is free. */
static bool match_dims(const slice *s, const tp_value_map *small, int *small_dim) {
  int k = 0;
  for (int d = 0; d < s->rank; d++) {
    int left = s->rank - d, need = small->rank - k;
    bool take = k < small->rank && small->shape[k] == s->sizes[d] && (s->sizes[d] != 1 || left == need || small->shape[k] == 1);
    small_dim[d] = take ? k++ : -1;
    if (!take && s->sizes[d] != 1)
      return false;
  }
  return k == small->rank;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  slice s;
  int small_dim[TP_MAX_RANK];
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  tp_value_map *small = is_insert(op) ? &rule->operands[0] : &rule->results[0];
  tp_value_map *large = is_insert(op) ? &rule->operands[1] : &rule->operands[0];
  if (!read_slice(op, &s) || !match_dims(&s, small, small_dim))
    return tp__error(op, TP_UNSUPPORTED, "cannot match the dimensions of the slice with those of the tensor");
  for (int d = 0; d < s.rank; d++) {
    bool whole = s.offsets[d] == 0 && s.strides[d] == 1 && s.sizes[d] == large->shape[d] && small_dim[d] >= 0;
    if (!whole)
      continue;
    int f = tp__rule_factor(rule, large->shape[d], TP_PARALLEL);
    tp__dim_set(large, d, f);
    tp__dim_set(small, small_dim[d], f);
    if (is_insert(op))
      tp__dim_set(&rule->results[0], d, f);
  }
  tp__rule_variant(rule, TP_SUM, is_insert(op) ? 3 : 1);
  rule->scalar_ops = (double)tp__shape_elements(small->rank, small->shape);
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  slice s;
  read_slice(rule->op, &s);
  const tp_value_map *large = is_insert(rule->op) ? &rule->operands[1] : &rule->operands[0];
  for (int d = 0; d < s.rank; d++)
    if (large->dims[d].n_factors)
      s.sizes[d] = tp__strategy_local(rule, local->mesh, local->strategy, large->dims[d].factors[0]);
  mlirOperationSetInherentAttributeByName(rule->op, tp__ref("static_sizes"),
                                          tp__attr_i64s(mlirOperationGetContext(rule->op), s.rank, s.sizes));
  return TP_OK;
}

const tp_family tp__slice_family = {
    .name = "slice",
    .ops = "tensor.extract_slice, tensor.insert_slice",
    .summary = "Dimensions that the slice takes whole. Dimensions that it cuts stay whole, also with dynamic offsets.",
    .communication = "None.",
    .test = "test/rules/slice",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
