/* Gathers the parts of ordered loops, and builds the op that iterates over them. */
#include "rules/ordered_reduction_parts.h"

#include "ir/collectives.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_OUTPUTS = 4 };

int tp__ordered_axes_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  int n = 0;
  for (int f = 0; f < rule->n_factors; f++)
    for (int o = 0; o < mesh->n_axes && rule->factors[f].kind == TP_ORDERED; o++) {
      int a = s->order[o];
      if (s->choices[a].kind == TP_CHOOSE_FACTOR && s->choices[a].index == f &&
          mesh->axes[a].size > 1)
        axes[n++] = a;
    }
  return n;
}

static int64_t group_size(const tp_mesh *mesh, int n, const int *axes) {
  int64_t size = 1;
  for (int i = 0; i < n; i++)
    size *= mesh->axes[axes[i]].size;
  return size;
}

tp_cost tp__parts_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s,
                       int k) {
  const tp_value_map *result = &rule->results[k];
  int axes[TP_MAX_AXES], n = tp__ordered_axes_of(rule, pricing->mesh, s, axes);
  int64_t elements = tp_spec_local_elements(
      pricing->mesh, tp__strategy_result(rule, pricing->mesh, s, k), result->rank, result->shape);
  return n == 0 ? 0
                : tp__price(pricing, TP_ALL_GATHER, n, axes,
                            group_size(pricing->mesh, n, axes) * elements, result->element_size);
}

/* Expands, for example, tensor<4x5> to tensor<1x4x5>. */
static MlirValue add_dimension(MlirOperation where, MlirValue value, MlirType type, int rank) {
  MlirContext context = mlirOperationGetContext(where);
  int64_t shape[TP_MAX_RANK] = {1};
  MlirAttribute groups[TP_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    MlirAttribute members[] = {tp__attr_i64(context, 0), tp__attr_i64(context, d + 1)};
    shape[d + 1] = mlirShapedTypeGetDimSize(type, d);
    groups[d] = mlirArrayAttrGet(context, d == 0 ? 2 : 1, d == 0 ? members : members + 1);
  }
  MlirType longer = tp__tensor_like(type, rank + 1, shape);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "reassociation", mlirArrayAttrGet(context, rank, groups)),
      tp__named(context, "static_output_shape", tp__attr_i64s(context, rank + 1, shape)),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.expand_shape",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &longer,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__gather_parts(const tp_local *local, MlirOperation where, int k, MlirValue value,
                           MlirType type) {
  const tp_value_map *result = &local->rule->results[k];
  tp_spec spec = tp__strategy_result(local->rule, local->mesh, local->strategy, k);
  tp_step step = {.kind = TP_STEP_ALL_GATHER, .dim = 0, .to_dim = -1};
  step.n_axes = tp__ordered_axes_of(local->rule, local->mesh, local->strategy, step.axes);
  int64_t shape[TP_MAX_RANK] = {group_size(local->mesh, step.n_axes, step.axes)};
  for (int d = 0; d < result->rank; d++) {
    int split[TP_MAX_AXES], n_split = tp_spec_dim_axes(local->mesh, spec, d, split);
    shape[d + 1] = result->shape[d];
    for (int i = 0; i < n_split; i++)
      tp_spec_append(&step.to, split[i], d + 1);
  }
  step.from = step.to;
  for (int i = 0; i < step.n_axes; i++)
    tp_spec_append(&step.from, step.axes[i], 0);
  MlirValue part = add_dimension(where, value, type, result->rank);
  return tp__build_step(where, local->module, part, local->mesh, &step, result->rank + 1, shape);
}

MlirOperation tp__parts_op(MlirOperation where, int n, const MlirValue *parts,
                           const MlirValue *inits) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(inits[0]));
  MlirContext context = mlirOperationGetContext(where);
  MlirValue operands[2 * MAX_OUTPUTS];
  MlirAttribute maps[2 * MAX_OUTPUTS];
  MlirAffineExpr points[TP_MAX_RANK];
  for (int d = 0; d <= rank; d++)
    points[d] = mlirAffineDimExprGet(context, d);
  for (int k = 0; k < n; k++) {
    operands[k] = parts[k];
    operands[n + k] = inits[k];
    maps[k] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank + 1));
    maps[n + k] = mlirAffineMapAttrGet(mlirAffineMapGet(context, rank + 1, 0, rank, points + 1));
  }
  MlirOperation op = tp__build_generic(&(tp_generic){.where = where,
                                                     .location = mlirOperationGetLocation(where),
                                                     .n_inputs = n,
                                                     .n_inits = n,
                                                     .operands = operands,
                                                     .maps = maps});
  tp__build_generic_body(op);
  return op;
}
