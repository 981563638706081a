/* The table of all ops of StableHLO and CHLO, by their files. */
#include "passes/import/stablehlo/hlo.h"

#include "tp/stablehlo.h"

static const tp_hlo_row *const tables[] = {
    tp__hlo_elementwise_rows, tp__hlo_shape_rows,  tp__hlo_control_rows, tp__hlo_reduce_rows,
    tp__hlo_contraction_rows, tp__hlo_window_rows, tp__hlo_index_rows,   tp__hlo_scatter_rows,
    tp__hlo_random_rows,      tp__hlo_sort_rows,   tp__hlo_custom_rows,  tp__hlo_collective_rows,
    tp__hlo_fourier_rows,     tp__hlo_expand_rows, tp__hlo_refused_rows,
};

const tp_hlo_row *tp__hlo_row(MlirOperation op) {
  MlirStringRef name = tp__op_name(op);
  for (int t = 0; t < TP_LEN(tables); t++)
    for (const tp_hlo_row *row = tables[t]; row->name; row++)
      if (tp__name_is(name, row->name))
        return row;
  return NULL;
}

int tp_stablehlo_count(void) {
  int n = 0;
  for (int t = 0; t < TP_LEN(tables); t++)
    for (const tp_hlo_row *row = tables[t]; row->name; row++)
      n++;
  return n;
}

tp_stablehlo_info tp_stablehlo_get(int i) {
  for (int t = 0; t < TP_LEN(tables); t++)
    for (const tp_hlo_row *row = tables[t]; row->name; row++)
      if (i-- == 0)
        return (tp_stablehlo_info){row->name, row->convert != NULL, row->becomes,
                                   row->convert == NULL && row->detail != NULL};
  return (tp_stablehlo_info){0};
}
