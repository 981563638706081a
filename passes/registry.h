/* Declares the table rows of all passes. */
#ifndef TP_PASSES_REGISTRY_H
#define TP_PASSES_REGISTRY_H

#include "ir/pass.h"

extern const tp_pass_row tp__import_row;
extern const tp_pass_row tp__import_stablehlo_row;
extern const tp_pass_row tp__lower_tosa_row;
extern const tp_pass_row tp__normalize_row;
extern const tp_pass_row tp__partition_row;
extern const tp_pass_row tp__propagate_row;
extern const tp_pass_row tp__raise_row;
extern const tp_pass_row tp__simplify_collectives_row;
extern const tp_pass_row tp__stage_collectives_row;
extern const tp_pass_row tp__fuse_collectives_row;
extern const tp_pass_row tp__drop_shardings_row;
extern const tp_pass_row tp__expand_messages_row;
extern const tp_pass_row tp__expand_sorts_row;
extern const tp_pass_row tp__expand_switches_row;
extern const tp_pass_row tp__hoist_invariants_row;
extern const tp_pass_row tp__lift_constants_row;
extern const tp_pass_row tp__restore_constants_row;
extern const tp_pass_row tp__keep_scalars_row;
extern const tp_pass_row tp__fuse_epilogues_row;
extern const tp_pass_row tp__name_contractions_row;
extern const tp_pass_row tp__lower_to_runtime_row;
extern const tp_pass_row tp__lower_contractions_row;
extern const tp_pass_row tp__assign_buffers_row;
extern const tp_pass_row tp__return_errors_row;
extern const tp_pass_row tp__split_reductions_row;
extern const tp_pass_row tp__fuse_nests_row;
extern const tp_pass_row tp__outline_kernels_row;
extern const tp_pass_row tp__inline_calls_row;
extern const tp_pass_row tp__decompose_row;
extern const tp_pass_row tp__clone_inits_row;
extern const tp_pass_row tp__widen_sums_row;
extern const tp_pass_row tp__order_globals_row;
extern const tp_pass_row tp__expand_float8_row;
extern const tp_pass_row tp__expand_math_row;
extern const tp_pass_row tp__prepare_fusion_row;
extern const tp_pass_row tp__expand_scatters_row;
extern const tp_pass_row tp__order_loops_row;
extern const tp_pass_row tp__map_kernels_row;
extern const tp_pass_row tp__embed_kernels_row;
extern const tp_pass_row tp__tile_attention_row;
extern const tp_pass_row tp__schedule_collectives_row;
extern const tp_pass_row tp__export_stablehlo_row;
extern const tp_pass_row tp__keep_original_row;
extern const tp_pass_row tp__export_constraints_row;

#endif
