/* The table of all passes, in the order in which they are documented. */
#include "passes/registry.h"

#include "ir/ir.h"

const tp_pass_row *const *tp__pass_rows(int *n) {
  static const tp_pass_row *const rows[] = {
      &tp__import_row,
      &tp__import_stablehlo_row,
      &tp__lower_tosa_row,
      &tp__decompose_row,
      &tp__normalize_row,
      &tp__drop_shardings_row,
      &tp__inline_calls_row,
      &tp__raise_row,
      &tp__hoist_invariants_row,
      &tp__lift_constants_row,
      &tp__propagate_row,
      &tp__partition_row,
      &tp__restore_constants_row,
      &tp__simplify_collectives_row,
      &tp__stage_collectives_row,
      &tp__fuse_collectives_row,
      &tp__expand_messages_row,
      &tp__expand_sorts_row,
      &tp__expand_switches_row,
      &tp__keep_scalars_row,
      &tp__tile_attention_row,
      &tp__fuse_epilogues_row,
      &tp__name_contractions_row,
      &tp__widen_sums_row,
      &tp__lower_to_runtime_row,
      &tp__lower_contractions_row,
      &tp__schedule_collectives_row,
      &tp__export_stablehlo_row,
      &tp__keep_original_row,
      &tp__export_constraints_row,
      &tp__assign_buffers_row,
      &tp__split_reductions_row,
      &tp__fuse_nests_row,
      &tp__outline_kernels_row,
      &tp__return_errors_row,
      &tp__clone_inits_row,
      &tp__order_globals_row,
      &tp__expand_float8_row,
      &tp__expand_math_row,
      &tp__prepare_fusion_row,
      &tp__expand_scatters_row,
      &tp__order_loops_row,
      &tp__map_kernels_row,
      &tp__embed_kernels_row,
  };
  *n = TP_LEN(rows);
  return rows;
}
