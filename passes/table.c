/* The pass table and the pipeline table. Documentation is printed from them. */
#include "passes/table.h"

#include "ir/ir.h"

const tp_pass_row *const *tp__pass_rows(int *n) {
  static const tp_pass_row *const rows[] = {&tp__normalize_row, &tp__partition_row};
  *n = TP_LEN(rows);
  return rows;
}

const tp_pipeline_row *tp__pipeline_rows(int *n) {
  *n = 0;
  return NULL;
}
