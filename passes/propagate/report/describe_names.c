/* Names that the program has: of arguments, results, values of the source, and locations. */
#include "passes/propagate/report/describer.h"

#include <ctype.h>
#include <string.h>

/* True if `own` is what MLIR calls values of this op by itself, such as %expanded_12. */
static bool is_from_mlir(const char *own, const char *printed) {
  size_t n = strlen(own), m = strlen(printed);
  while (n > 0 && (isdigit((unsigned char)own[n - 1]) || own[n - 1] == '_'))
    n--;
  while (m > 0 && (isdigit((unsigned char)printed[m - 1]) || printed[m - 1] == '_'))
    m--;
  return n == m && strncmp(own, printed, n) == 0;
}

/* The name in the source, without %; NULL if it has none there. */
static const char *source_name(const tp_describer *d, MlirValue value) {
  const char *own = tp__report_name(d->r, value);
  return *own == '%' && !is_from_mlir(own, tp__report_printed_name(d->r, value)) ? own + 1 : NULL;
}

void tp__describe_arguments(tp_describer *d) {
  MlirBlock entry = tp__region_block(d->graph->func, 0);
  for (int i = 0; i < d->graph->n_args; i++)
    d->has_roles |=
        strcmp(tp__described_attribute(d->r, tp__arg_attr(d->graph->func, i, "tp.role")),
               "param") == 0;
  for (int i = 0; i < d->graph->n_args; i++) {
    MlirValue value = mlirBlockGetArgument(entry, i);
    int number = tp__func_graph_number(d->graph, value);
    if (number < 0)
      continue;
    const char *role = tp__described_attribute(d->r, tp__arg_attr(d->graph->func, i, "tp.role"));
    d->values[number].is_weight = !d->has_roles || strcmp(role, "param") == 0;
    tp__describe_by_name(d, number, tp__report_arg_name(d->r, d->p, value));
    tp__describe_by_name(d, number, source_name(d, value));
    tp__describe_by_name(d, number, tp__report_text(d->r, "argument %d", i));
  }
}

void tp__describe_results(tp_describer *d) {
  MlirOperation end = tp__described_return(d);
  for (int i = 0; i < d->graph->n_results; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(end, i));
    d->results[i] = tp__described_attribute(d->r, tp__result_attr(d->graph->func, i, "tp.name"));
    if (number >= 0 && mlirAttributeIsNull(tp__result_attr(d->graph->func, i, "tp.updates")) &&
        mlirAttributeIsNull(tp__result_attr(d->graph->func, i, "tp.gradient")))
      tp__describe_by_name(d, number, d->results[i]);
  }
}

void tp__describe_named(tp_describer *d) {
  tp_value_table seen = {0};
  for (int k = 0; k < d->n; k++) {
    const tp_name_stack *stack = &d->values[k].stack;
    tp__describe_by_name(d, k, source_name(d, tp__described_value(d, k)));
    if (d->has_stacks || !*stack->op)
      continue;
    MlirAttribute key =
        mlirStringAttrGet(mlirOperationGetContext(d->graph->func), tp__ref(stack->op));
    int other = tp__table_get(&seen, key.ptr);
    d->failed |= tp__table_put(&seen, key.ptr, other < 0 ? 1 : other + 1) != TP_OK;
  }
  for (int k = 0; k < d->n && !d->has_stacks; k++) {
    const tp_name_stack *stack = &d->values[k].stack;
    MlirAttribute key =
        mlirStringAttrGet(mlirOperationGetContext(d->graph->func), tp__ref(stack->op));
    if (*stack->op && tp__table_get(&seen, key.ptr) == 1)
      tp__describe_by_name(d, k, stack->op);
  }
  tp__table_destroy(&seen);
}
