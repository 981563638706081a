/* Lookups in the body of structured ops: reads of captured tensors, as stablehlo.gather. */
#include "passes/export/export_nest.h"

static MlirValue component(tp_export *x, const tp_nest *n, MlirValue value) {
  int64_t sizes[TP_NEST_MAX_LOOPS + 1];
  MlirType type = tp__nest_space(n, tp__element_type(mlirValueGetType(value)));
  if (tp__value_rank(value) == 0)
    value = tp__export_broadcast(x, value, type, NULL);
  memcpy(sizes, n->sizes, (size_t)n->n_loops * sizeof *sizes);
  sizes[n->n_loops] = 1;
  return tp__export_reshape(x, value, n->n_loops + 1, sizes);
}

/* tensor.extract of a captured tensor: a gather of one element per point. */
tp_status tp__nest_gather(tp_export *x, tp_nest *n, MlirOperation op, MlirValue *now) {
  MlirValue source = tp__export_operand(x, op, 0), parts[TP_MAX_RANK];
  int rank = tp__value_rank(source);
  int64_t ones[TP_MAX_RANK];
  tp__string list = {0};
  if (rank == 0) {
    *now = source;
    return TP_OK;
  }
  for (int d = 0; d < rank; d++) {
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(op, 1 + d), &parts[d]));
    parts[d] = component(x, n, parts[d]);
    ones[d] = 1;
    tp__string_printf(&list, "%s%d", d ? ", " : "", d);
  }
  MlirValue operands[] = {source, tp__export_concat(x, rank, parts, n->n_loops)};
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dimension_numbers",
                tp__export_attr(x,
                                "#stablehlo.gather<collapsed_slice_dims = [%s], start_index_map = "
                                "[%s], index_vector_dim = %d>",
                                list.failed ? "" : list.text, list.failed ? "" : list.text,
                                n->n_loops)),
      tp__export_list(x, "slice_sizes", rank, ones),
      tp__named(x->context, "indices_are_sorted", mlirBoolAttrGet(x->context, false)),
  };
  tp__string_destroy(&list);
  *now = tp__export_build(x, "stablehlo.gather",
                          tp__nest_space(n, tp__element_type(mlirValueGetType(source))), 2,
                          operands, TP_LEN(attrs), attrs);
  return TP_OK;
}
