/* The list of all passes, in the order in which they are documented. An entry foo_bar is the pass
 * tp-foo-bar, whose row is tp__foo_bar_row and whose constructor is tp_create_foo_bar. */
#ifndef TP_PASS_LIST_H
#define TP_PASS_LIST_H

/* clang-format off */
#define TP_PASS_LIST(X) \
  X(import) \
  X(import_stablehlo) \
  X(lower_tosa) \
  X(decompose) \
  X(normalize) \
  X(drop_shardings) \
  X(inline_calls) \
  X(unroll_loops) \
  X(raise) \
  X(hoist_invariants) \
  X(lift_constants) \
  X(group_rows) \
  X(propagate) \
  X(partition) \
  X(restore_constants) \
  X(simplify_collectives) \
  X(stage_collectives) \
  X(fuse_collectives) \
  X(bound_rows) \
  X(expand_messages) \
  X(expand_sorts) \
  X(expand_switches) \
  X(drop_barriers) \
  X(keep_scalars) \
  X(fuse_attention) \
  X(tile_attention) \
  X(fuse_epilogues) \
  X(name_contractions) \
  X(widen_sums) \
  X(lower_to_runtime) \
  X(lower_contractions) \
  X(schedule_collectives) \
  X(export_stablehlo) \
  X(keep_original) \
  X(export_constraints) \
  X(assign_buffers) \
  X(keep_offsets) \
  X(split_reductions) \
  X(fuse_nests) \
  X(outline_kernels) \
  X(return_errors) \
  X(store_bools)   \
  X(clone_inits) \
  X(order_globals) \
  X(expand_float8) \
  X(expand_math) \
  X(prepare_fusion) \
  X(expand_scatters) \
  X(order_loops) \
  X(tile_transposes) \
  X(map_kernels) \
  X(embed_kernels)
/* clang-format on */

#endif
