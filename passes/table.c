/* The pass table and the pipeline table. Documentation is printed from them. */
#include "passes/table.h"

#include "ir/ir.h"

const tp_pass_row *const *tp__pass_rows(int *n) {
  static const tp_pass_row *const rows[] = {&tp__normalize_row, &tp__propagate_row, &tp__partition_row};
  *n = TP_LEN(rows);
  return rows;
}

const tp_pipeline_row *tp__pipeline_rows(int *n) {
  static const tp_option_row spmd_options[] = {
      {"mesh", "", "sizes of the mesh, see tp-propagate"},
      {"strategy", "plan", "plan or follow, see tp-propagate"},
      {"topology", "cpu", "cost model, see tp-propagate"},
      {"unknown-ops", "refuse", "refuse or replicate, see tp-propagate"},
  };
  static const tp_pipeline_row rows[] = {
      {.name = "tp-spmd",
       .summary = "Plan, insert collectives and partition: the program of one device out of an annotated or plain program",
       .options = spmd_options,
       .n_options = TP_LEN(spmd_options),
       .text = "tp-propagate{{mesh} {strategy} {topology} {unknown-ops}},tp-partition{{topology} {unknown-ops}}"},
  };
  *n = TP_LEN(rows);
  return rows;
}
