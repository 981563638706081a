/* tensor.extract_slice and tensor.insert_slice.
 *
 * A dimension that the slice covers is an ordinary dimension. A dimension that it cuts may be split
 * as well:
 * - Extract at static offsets: the points of the result fetch the elements that they read (a
 *   window).
 * - Extract of one or a few elements, or at a dynamic offset: each device takes the part of the
 *   slice that it owns and a neutral value elsewhere, and the results are summed. The sum is exact,
 *   since all terms but one are neutral.
 * - Insert: each device updates the part of the slice that it owns, in place, and the small tensor
 *   is whole. A small tensor is split with the dimension if it covers much of it (a window), unless
 *   all its elements are one constant, or if it has an element per stride (a dimension of two
 *   factors). */
#include "rules/slice.h"
#include "rules/families.h"
#include "rules/in_place.h"
#include "rules/owner_reads.h"

static bool is_insert(MlirOperation op) { return tp__op_is(op, "tensor.insert_slice"); }

static bool matches(MlirOperation op) {
  return is_insert(op) || tp__op_is(op, "tensor.extract_slice");
}

/* ---- the rule ---- */

static bool is_fixed(tp_mixed number) { return mlirValueIsNull(number.value); }

/* True if the slice takes only few of many elements, so that there may be more devices than
 * elements. */
static bool takes_few(const tp_slice *s, int d, int64_t size) {
  return s->sizes[d] <= 8 && 8 * s->sizes[d] <= size;
}

static tp_status cut_extract(tp_rule *rule, const tp_slice *s, int d, tp__arena *arena) {
  tp_value_map *large = &rule->operands[0], *small = &rule->results[0];
  tp_combiner combiner;
  bool has_sum = tp__owner_combiner(tp__element_type(mlirValueGetType(large->value)), &combiner);
  bool known = is_fixed(s->offsets[d]) && is_fixed(s->strides[d]) && s->strides[d].fixed > 0 &&
               s->sizes[d] > 1;
  if (known && !(has_sum && takes_few(s, d, large->shape[d]))) {
    int f = tp__rule_factor(rule, s->sizes[d], TP_PARALLEL);
    tp__dim_set(small, s->small_dim[d], f);
    return tp__dim_window(
        rule, large, d, f,
        (tp_window){.stride = s->strides[d].fixed, .offset = s->offsets[d].fixed, .extent = 1},
        arena);
  }
  if (large->shape[d] == 1 || !has_sum)
    return TP_OK;
  int f = tp__rule_factor(rule, large->shape[d], TP_REDUCTION);
  rule->factors[f].repeats_work = true; /* every device iterates over all points of the slice */
  tp__dim_set(large, d, f);
  small->has_combiner = true;
  small->combiner = combiner;
  return TP_OK;
}

/* True if an insert covers much of a dimension. Then it uses a window: it iterates over the whole
 * shard, and moves the small tensor between devices. Without a window, only the slice is updated in
 * place, but the small tensor is whole on every device. */
static bool covers_much(const tp_slice *s, int d, int64_t size) {
  return is_fixed(s->offsets[d]) && tp__mixed_is(s->strides[d], 1) && s->sizes[d] > 1 &&
         4 * s->sizes[d] >= size;
}

/* True for a constant all of whose elements are equal: every device has what it inserts. */
static bool is_splat(MlirValue value) {
  MlirOperation op = tp__defined_by(value, "arith.constant");
  MlirAttribute elements =
      mlirOperationIsNull(op) ? mlirAttributeGetNull() : tp__inherent(op, "value");
  return !mlirAttributeIsNull(elements) && mlirAttributeIsADenseElements(elements) &&
         mlirDenseElementsAttrIsSplat(elements);
}

/* True if the slice has one element per stride, over all strides. The dimension then consists of
 * two factors: the strides, and the elements within a stride. The offset is less than a stride,
 * since the slice is inside of the tensor. */
static bool is_interleaved(const tp_slice *s, int d, int64_t size) {
  int64_t stride = s->strides[d].fixed;
  return is_fixed(s->offsets[d]) && is_fixed(s->strides[d]) && stride > 1 &&
         s->offsets[d].fixed < stride && s->sizes[d] > 1 && size % stride == 0 &&
         size / stride == s->sizes[d];
}

static void interleave(tp_rule *rule, const tp_slice *s, int d) {
  tp_value_map *maps[] = {&rule->operands[1], &rule->results[0]};
  int outer = tp__rule_factor(rule, s->sizes[d], TP_PARALLEL),
      inner = tp__rule_factor(rule, s->strides[d].fixed, TP_FIXED);
  tp__dim_set(&rule->operands[0], s->small_dim[d], outer);
  for (int i = 0; i < TP_LEN(maps); i++)
    maps[i]->dims[d] = (tp_dim){.n_factors = 2, .factors = {(uint8_t)outer, (uint8_t)inner}};
}

static tp_status cut_insert(tp_rule *rule, const tp_slice *s, int d, tp__arena *arena) {
  tp_value_map *small = &rule->operands[0], *large = &rule->operands[1];
  if (large->shape[d] == 1 || !is_fixed(s->strides[d]) || s->strides[d].fixed < 1)
    return TP_OK;
  /* one factor for each of the other dimensions */
  bool has_room = rule->n_factors + 2 + (s->rank - d - 1) <= TP_MAX_FACTORS;
  if (is_interleaved(s, d, large->shape[d]) && has_room) {
    interleave(rule, s, d);
    return TP_OK;
  }
  int f = tp__rule_factor(rule, large->shape[d], TP_PARALLEL);
  tp__dim_set(large, d, f);
  tp__dim_set(&rule->results[0], d, f);
  bool is_large = covers_much(s, d, large->shape[d]);
  if (is_large && !is_splat(small->value))
    return tp__dim_window(rule, small, s->small_dim[d], f,
                          (tp_window){.stride = 1, .offset = -s->offsets[d].fixed, .extent = 1},
                          arena);
  rule->factors[f].repeats_work = tp__mixed_is(s->strides[d], 1) && !is_large;
  return TP_OK;
}

/* Returns the number of points that the local form iterates over on one device. */
static double work_of(const tp_rule *rule, const tp_slice *s, const tp_value_map *large) {
  double points = 1;
  for (int d = 0; d < s->rank; d++) {
    bool all = s->is_insert && large->dims[d].n_factors == 1 &&
               !rule->factors[large->dims[d].factors[0]].repeats_work;
    points *= (double)(all ? large->shape[d] : s->sizes[d]);
  }
  return points;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_slice s;
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  tp_value_map *small = is_insert(op) ? &rule->operands[0] : &rule->results[0];
  tp_value_map *large = is_insert(op) ? &rule->operands[1] : &rule->operands[0];
  if (!tp__slice_read(op, small, &s))
    return tp__error(op, TP_UNSUPPORTED,
                     "cannot match the dimensions of the slice with those of the tensor");
  for (int d = 0; d < s.rank && status == TP_OK; d++) {
    if (tp__slice_is_whole(&s, d, large->shape[d])) {
      int f = tp__rule_factor(rule, large->shape[d], TP_PARALLEL);
      tp__dim_set(large, d, f);
      tp__dim_set(small, s.small_dim[d], f);
      if (s.is_insert)
        tp__dim_set(&rule->results[0], d, f);
    } else if (s.sizes[d] > 0) {
      status = s.is_insert ? cut_insert(rule, &s, d, arena) : cut_extract(rule, &s, d, arena);
    }
  }
  tp__rule_variant(rule, TP_SUM, s.is_insert ? 3 : 1);
  if (status == TP_OK && !s.is_insert) {
    status = tp__rule_in_place(rule, arena);
    tp__drop_padded_variants(rule);
  }
  rule->scalar_ops = work_of(rule, &s, large);
  tp__rule_traffic(rule);
  rule->points = (double)tp__shape_elements(small->rank, small->shape);
  return status;
}

/* ---- localize ---- */

tp_cut tp__slice_cut(const tp_local *local, const tp_slice *s, int d) {
  const tp_rule *rule = local->rule;
  const tp_value_map *small = s->is_insert ? &rule->operands[0] : &rule->results[0];
  const tp_value_map *large = s->is_insert ? &rule->operands[1] : &rule->operands[0];
  bool has_window = large->dims[d].window != NULL; /* then the slice may cover a padded dimension */
  if ((tp__slice_is_whole(s, d, large->shape[d]) && !has_window) || large->dims[d].n_factors > 1)
    return TP_CUT_WHOLE;
  if (!large->dims[d].n_factors ||
      tp__strategy_shards(rule, local->mesh, local->strategy, large->dims[d].factors[0]) == 1)
    return TP_CUT_KEPT;
  return s->small_dim[d] >= 0 && small->dims[s->small_dim[d]].n_factors ? TP_CUT_WINDOW
                                                                        : TP_CUT_OWNED;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  tp_slice s;
  const tp_value_map *small = is_insert(rule->op) ? &rule->operands[0] : &rule->results[0];
  if (!tp__slice_read(rule->op, small, &s))
    return tp__error(rule->op, TP_INTERNAL, "is no longer a slice");
  return s.is_insert ? tp__slice_localize_insert(local, &s) : tp__slice_localize_extract(local, &s);
}

const tp_family tp__slice_family = {
    .name = "slice",
    .ops = "tensor.extract_slice, tensor.insert_slice",
    .summary = "Every dimension. An extract at static offsets: split together with the result. An "
               "extract of few elements, or at an offset known only at run time: each device "
               "extracts from its own shard, and the results are summed. An insert: each device "
               "updates its own shard in place; an inserted tensor that covers a quarter or more "
               "of the dimension, and is no constant with equal elements, is split with it.",
    .communication = "Permutes of parts that other devices hold, where both tensors are split "
                     "along a sliced dimension.",
    .test = "test/rules/slice",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
