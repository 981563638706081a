/* Structured ops that scatter (ir/scatter.h), as stablehlo.scatter. */
#include "passes/export/export_nest.h"

#include "ir/scatter.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

typedef struct scattering {
  tp_scatter match;
  uint32_t targets; /* loops that positions replace */
  uint32_t outer;   /* loops that positions depend on */
  int n_scattered;  /* dimensions of the result that positions give */
  int64_t scattered[TP_NEST_MAX_LOOPS];
  MlirValue positions[TP_NEST_MAX_LOOPS]; /* of each of them; null: the iteration of its loop */
  int n_windows;
  int64_t windows[TP_NEST_MAX_LOOPS]; /* loops of the other dimensions */
} scattering;

/* Reads how the result's dimensions are given. False if it is no scatter of one result. */
static bool read_scattering(const tp_nest *n, scattering *s) {
  int64_t loops[TP_NEST_MAX_LOOPS];
  int count = (int)mlirAffineMapGetNumResults(n->maps[n->n_operands - 1]);
  *s = (scattering){0};
  if (!tp__scatter_match(n->op, &s->match) || s->match.n_outputs != 1)
    return false;
  for (int i = 0; i < s->match.n_targets; i++) {
    s->targets |= UINT32_C(1) << s->match.targets[i].loop;
    s->outer |= s->match.targets[i].depends;
  }
  for (int d = 0; d < count; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(n->maps[n->n_operands - 1], d);
    if (!mlirAffineExprIsADim(expr))
      return false;
    loops[d] = mlirAffineDimExprGetPosition(expr);
    bool is_target = s->targets >> loops[d] & 1;
    if (!is_target && !(s->outer >> loops[d] & 1)) {
      s->windows[s->n_windows++] = loops[d];
      continue;
    }
    for (int i = 0; is_target && i < s->match.n_targets; i++)
      if (s->match.targets[i].loop == loops[d])
        s->positions[s->n_scattered] = s->match.targets[i].position;
    s->scattered[s->n_scattered++] = d;
  }
  return true;
}

/* True if loop l of the part goes over a window of the updates. */
static bool is_window(const tp_nest *part, const scattering *s, int l) {
  for (int w = 0; w < s->n_windows; w++)
    if (part->number[s->windows[w]] == l)
      return true;
  return false;
}

/* Drops the dimensions of windows, along which positions are equal. */
static MlirValue without_windows(tp_export *x, const tp_nest *part, const scattering *s,
                                 MlirValue value) {
  int64_t sizes[TP_NEST_MAX_LOOPS];
  int n_kept = 0;
  if (tp__value_rank(value) == 0)
    value = tp__nest_full(x, part, value);
  for (int l = 0; l < part->n_loops; l++) {
    if (is_window(part, s, l))
      value = tp__nest_pick(x, value, l, 0, 1, 1);
    else
      sizes[n_kept++] = part->sizes[l];
  }
  sizes[n_kept++] = 1;
  return tp__export_reshape(x, value, n_kept, sizes);
}

/* The update's position along each scattered dimension; outside of the result where another
 * condition does not hold. */
static tp_status build_positions(tp_export *x, tp_nest *part, const scattering *s,
                                 MlirValue *indices) {
  MlirValue parts[TP_NEST_MAX_LOOPS], condition;
  MlirType truth = tp__export_tensor(mlirIntegerTypeGet(x->context, 1), 0, NULL);
  for (int i = 0; i < s->match.n_targets; i++) {
    const tp_scatter_target *target = &s->match.targets[i];
    int64_t *entry = tp__value_add(&part->memo, mlirOperationGetResult(target->compare, 0), 0);
    if (!entry)
      return tp__out_of_memory(part->op);
    *entry = (int64_t)(uintptr_t)tp__export_int(x, truth, 1).ptr;
  }
  TP_TRY(tp__nest_evaluate(x, part, s->match.condition, &condition));
  for (int i = 0; i < s->n_scattered; i++) {
    MlirValue at;
    if (mlirValueIsNull(s->positions[i])) {
      int64_t loop = mlirAffineDimExprGetPosition(
          mlirAffineMapGetResult(part->maps[part->n_operands - 1], s->scattered[i]));
      at = tp__nest_iota(x, part, part->number[loop]);
    } else {
      TP_TRY(tp__nest_evaluate(x, part, s->positions[i], &at));
    }
    for (int k = 0; k < s->match.n_targets; k++) {
      const tp_scatter_target *target = &s->match.targets[k];
      if (mlirValueIsNull(s->positions[i]) || !mlirValueEqual(target->position, s->positions[i]) ||
          mlirValueIsNull(target->offset))
        continue;
      MlirValue offset = tp__export_value(x, target->offset);
      if (tp__value_rank(at) > 0)
        offset = tp__export_broadcast(x, offset, mlirValueGetType(at), NULL);
      at = tp__export_binary(x, "stablehlo.subtract", at, offset);
    }
    at = without_windows(x, part, s, at);
    MlirValue meets = without_windows(x, part, s, condition);
    at = tp__export_build(x, "stablehlo.select", mlirValueGetType(at), 3,
                          (MlirValue[]){meets, at, tp__export_int(x, mlirValueGetType(at), -1)}, 0,
                          NULL);
    parts[i] = at;
  }
  *indices = tp__export_concat(x, s->n_scattered, parts, tp__value_rank(parts[0]) - 1);
  return TP_OK;
}

/* The updates: dimensions of loops over them, then windows in the order of the result. */
static MlirValue order_updates(tp_export *x, const tp_nest *part, const scattering *s,
                               MlirValue value) {
  int64_t permutation[TP_NEST_MAX_LOOPS];
  int n = 0;
  if (tp__value_rank(value) == 0)
    value = tp__nest_full(x, part, value);
  for (int l = 0; l < part->n_loops; l++) {
    if (!is_window(part, s, l))
      permutation[n++] = l;
  }
  for (int w = 0; w < s->n_windows; w++)
    permutation[n++] = part->number[s->windows[w]];
  return tp__export_transpose(x, value, permutation);
}

static void append_numbers(tp__string *text, const char *name, int n, int64_t first,
                           const int64_t *numbers) {
  tp__string_printf(text, "%s = [", name);
  for (int i = 0; i < n; i++)
    tp__string_printf(text, "%s%lld", i ? ", " : "", (long long)(numbers ? numbers[i] : first + i));
  tp__string_append(text, "]");
}

static tp_status build_scatter(tp_export *x, tp_nest *n, const scattering *s, MlirValue indices,
                               MlirValue updates, bool combines, tp_combiner combiner) {
  tp__string text = {0};
  int n_updates = tp__value_rank(updates) - s->n_windows;
  tp__string_append(&text, "#stablehlo.scatter<");
  append_numbers(&text, "update_window_dims", s->n_windows, n_updates, NULL);
  append_numbers(&text, ", inserted_window_dims", s->n_scattered, 0, s->scattered);
  append_numbers(&text, ", scatter_dims_to_operand_dims", s->n_scattered, 0, s->scattered);
  tp__string_printf(&text, ", index_vector_dim = %d>", n_updates);
  MlirAttribute no = mlirBoolAttrGet(x->context, false);
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "scatter_dimension_numbers",
                tp__export_attr(x, "%s", text.failed ? "unit" : text.text)),
      tp__named(x->context, "indices_are_sorted", no),
      tp__named(x->context, "unique_indices", no),
  };
  tp__string_destroy(&text);
  MlirValue into = tp__export_operand(x, n->op, n->n_operands - 1);
  MlirType old = tp__element_type(mlirValueGetType(into));
  MlirType combined = combines ? tp__export_combined(old, combiner) : old;
  MlirValue operands[] = {tp__export_bitcast(x, into, combined), indices,
                          tp__export_bitcast(x, updates, combined)};
  MlirType type = mlirValueGetType(operands[0]);
  MlirType element = tp__export_tensor(combined, 0, NULL);
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = "stablehlo.scatter",
                                                         .n_operands = 3,
                                                         .operands = operands,
                                                         .n_results = 1,
                                                         .results = &type,
                                                         .n_attributes = TP_LEN(attrs),
                                                         .attributes = attrs,
                                                         .n_regions = 1});
  MlirBlock block = tp__export_region_block(x, now, 0, 2, (MlirType[]){element, element});
  if (combines) {
    TP_TRY(tp__export_combiner(x, n->op, combiner, block));
  } else {
    MlirValue update = mlirBlockGetArgument(block, 1);
    mlirBlockAppendOwnedOperation(block, tp__create(&(tp_build){.name = "stablehlo.return",
                                                                .location = x->location,
                                                                .n_operands = 1,
                                                                .operands = &update}));
  }
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, 0),
                        tp__export_bitcast(x, mlirOperationGetResult(now, 0), old));
}

tp_status tp__nest_scatter(tp_export *x, tp_nest *n, bool *done) {
  scattering s;
  tp_combiner combiner;
  MlirValue indices, updates;
  if (!read_scattering(n, &s))
    return TP_OK;
  MlirOperation select = tp__defining_op(mlirOperationGetOperand(n->body.yield, 0));
  MlirValue changed = mlirOperationGetOperand(select, 1);
  MlirType element = tp__element_type(tp__export_type(tp__result_type(n->op)));
  bool combines = tp__body_depends(&n->body, changed, UINT64_C(1) << (n->n_operands - 1));
  MlirAttribute identity = {NULL};
  if (combines && tp__body_combiner(&n->body, 0, &combiner))
    identity = tp__export_identity(element, combiner);
  if (combines && mlirAttributeIsNull(identity))
    return TP_OK;
  *done = true;
  tp_nest part = tp__nest_part(x, n, s.targets, NULL);
  if (combines)
    part.accumulators[0] = tp__export_splat(x, tp__export_tensor(element, 0, NULL), identity);
  tp_status status = build_positions(x, &part, &s, &indices);
  if (status == TP_OK)
    status = tp__nest_evaluate(x, &part, changed, &updates);
  if (status == TP_OK)
    updates = order_updates(x, &part, &s, updates);
  tp__value_map_destroy(&part.memo);
  return status == TP_OK ? build_scatter(x, n, &s, indices, updates, combines, combiner) : status;
}
