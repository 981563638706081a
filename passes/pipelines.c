/* The table of pipelines, with the options of their passes that they have. */
#include "passes/registry.h"

#include "ir/ir.h"

/* Parts that pipelines share: import and planning, the conversion from tensors to buffers with
 * runtime calls, and the conversion to the LLVM dialect. */
#define TO_PLAN                                                                                    \
  "tp-import,tp-import-stablehlo{*},tp-lower-tosa{*},tp-decompose,tp-inline-calls{*},"             \
  "tp-unroll-loops,tp-raise,cse,tp-hoist-invariants,tp-lift-constants{*},tp-group-rows,"           \
  "tp-propagate{*}"
#define TO_BUFFERS(contractions)                                                                   \
  "tp-drop-barriers,tp-expand-sorts,tp-expand-switches,tp-inline-calls{fused=keep},tp-clone-"      \
  "inits,"                                                                                         \
  "tp-lower-to-runtime,"                                                                           \
  "one-shot-bufferize{bufferize-function-boundaries=1 "                                            \
  "function-boundary-type-conversion=identity-layout-map "                                         \
  "allow-return-allocs-from-loops=1},"                                                             \
  "tp-order-globals,canonicalize{top-down=false},cse,tp-lower-contractions" contractions
#define EMULATE_FLOATS                                                                             \
  "math-extend-to-supported-types,"                                                                \
  "arith-emulate-unsupported-floats{source-types=bf16,f8E4M3FN,f8E5M2 "                            \
  "target-type=f32}"
#define TO_LLVM                                                                                    \
  "convert-complex-to-standard,func.func(math-expand-ops{ops=rsqrt,fpowi})," EMULATE_FLOATS        \
  ",tp-expand-float8,tp-expand-math{target=host},arith-expand{include-bf16=1},"                    \
  "expand-strided-metadata,lower-affine,convert-scf-to-cf,tp-return-errors,convert-math-to-funcs," \
  "convert-math-to-llvm,"                                                                          \
  "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts,tp-store-bools,canonicalize"
/* The same for kernels. Passes that change one kernel at a time run on all of them at once. Half of
 * the ops compute what another one computes, mostly an index. */
#define KERNELS_TO_LLVM                                                                            \
  "any(cse,convert-complex-to-standard,math-expand-ops{ops=rsqrt,fpowi}," EMULATE_FLOATS           \
  "),tp-expand-float8,tp-expand-math{target=cuda},"                                                \
  "any(arith-expand{include-bf16=1},expand-strided-metadata,lower-affine,convert-scf-to-"          \
  "cf),convert-math-to-funcs,any(convert-math-to-llvm),convert-math-to-libm,"                      \
  "convert-func-to-llvm,any(convert-to-llvm,reconcile-unrealized-casts),tp-store-bools,"           \
  "any(canonicalize)"

const tp_pipeline_row *tp__pipeline_rows(int *n) {
  /* a plan alone keeps the signature of the program */
  static const tp_exposed_row plan_options[] = {{&tp__propagate_row, NULL, NULL},
                                                {&tp__lift_constants_row, NULL, "never"}};
  static const tp_exposed_row spmd_options[] = {
      {&tp__propagate_row, NULL, NULL},
      {&tp__lift_constants_row, NULL, NULL},
      {&tp__fuse_collectives_row, "fuse", "no"},
  };
  static const tp_exposed_row optimize_options[] = {{&tp__inline_calls_row, "fused", NULL}};
  static const tp_exposed_row run_options[] = {
      {&tp__schedule_collectives_row, "overlap", "false"},
      {&tp__schedule_collectives_row, "topology", NULL},
      {&tp__schedule_collectives_row, "memory-limit", NULL},
      {&tp__schedule_collectives_row, "least", NULL},
  };
  static const tp_exposed_row cuda_options[] = {
      {&tp__embed_kernels_row, "chip", NULL},
      {&tp__assign_buffers_row, "tf32", NULL},
      {&tp__schedule_collectives_row, "overlap", "false"},
      {&tp__schedule_collectives_row, "topology", "h100"},
      {&tp__schedule_collectives_row, "memory-limit", NULL},
      {&tp__schedule_collectives_row, "least", NULL},
  };
  static const tp_pipeline_row rows[] = {
      {.name = "tp-optimize-local",
       .summary = "Inline, clean up and fuse a single-device or per-device program, on tensors",
       .exposed = optimize_options,
       .n_exposed = TP_LEN(optimize_options),
       .text = "tp-bound-rows,tp-decompose,tp-inline-calls{*},tp-unroll-loops,tp-raise,"
               "canonicalize,cse,"
               "convert-elementwise-to-linalg,"
               "tp-keep-scalars,tp-fuse-attention{*},tp-tile-attention{*},tp-fuse-epilogues{*},"
               "tp-name-contractions{*},"
               "tp-widen-sums,convert-elementwise-to-linalg,tp-prepare-fusion,"
               "linalg-fuse-elementwise-ops,tp-inline-calls{*},tp-expand-messages,canonicalize,"
               "cse"},
      {.name = "tp-local-to-runtime",
       .summary = "Lower an optimized program to the LLVM dialect with runtime calls",
       .exposed = run_options,
       .n_exposed = TP_LEN(run_options),
       .text = TO_BUFFERS(
           "") ",tp-schedule-collectives{*},tp-assign-buffers,tp-expand-scatters,tp-order-loops,"
               "func.func(linalg-generalize-named-ops),tp-tile-transposes,"
               "tp-outline-kernels,"
               "func.func(convert-linalg-to-loops)," TO_LLVM},
      {.name = "tp-local-to-cuda",
       .summary = "Lower an optimized program to the LLVM dialect with runtime calls, and its loop "
                  "nests to NVIDIA GPU kernels",
       .exposed = cuda_options,
       .n_exposed = TP_LEN(cuda_options),
       .text = TO_BUFFERS(
           "{target=cuda}") ",func.func(linalg-generalize-named-ops),tp-keep-offsets,tp-order-"
                            "loops,"
                            "tp-split-reductions,tp-fuse-nests,"
                            "tp-schedule-collectives{*},tp-assign-buffers{target=cuda *},"
                            "func.func(linalg-generalize-named-ops),tp-order-loops,tp-outline-"
                            "kernels{asserts=true},"
                            "tp-map-kernels,builtin.module(" KERNELS_TO_LLVM
                            "),tp-embed-kernels{*}," TO_LLVM},
      {.name = "tp-to-runtime",
       .summary =
           "Lower a single-device or per-device program to the LLVM dialect with runtime calls",
       .exposed = run_options,
       .n_exposed = TP_LEN(run_options),
       .text = "tp-optimize-local,tp-local-to-runtime{*}"},
      {.name = "tp-to-cuda",
       .summary = "Lower a single-device or per-device program to the LLVM dialect with NVIDIA GPU "
                  "kernels",
       .exposed = cuda_options,
       .n_exposed = TP_LEN(cuda_options),
       .text = "tp-optimize-local{fused=keep},tp-local-to-cuda{*}"},
      {.name = "tp-plan",
       .summary = "Import an annotated or plain program and plan it, as tp-spmd does, without "
                  "partitioning it",
       .exposed = plan_options,
       .n_exposed = TP_LEN(plan_options),
       .text = TO_PLAN},
      {.name = "tp-constrain",
       .summary = "Plan a StableHLO program, and write the plan into it as sharding constraints",
       .exposed = plan_options,
       .n_exposed = TP_LEN(plan_options),
       .text = "tp-keep-original," TO_PLAN ",tp-export-constraints"},
      {.name = "tp-spmd",
       .summary = "Plan, insert collectives and partition: turn an annotated or plain program into "
                  "the per-device program",
       .exposed = spmd_options,
       .n_exposed = TP_LEN(spmd_options),
       .text = TO_PLAN ",tp-partition{*},tp-restore-constants,tp-simplify-collectives,"
                       "tp-stage-collectives{*},tp-fuse-collectives{*}"},
      {.name = "tp-spmd-to-runtime",
       .summary = "tp-spmd, then tp-to-runtime: lower an annotated or plain program to a "
                  "per-device program in the LLVM dialect",
       .exposed = spmd_options,
       .n_exposed = TP_LEN(spmd_options),
       .text = "tp-spmd{*},tp-to-runtime{*}"},
  };
  *n = TP_LEN(rows);
  return rows;
}
