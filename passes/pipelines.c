/* The table of pipelines: texts in which {name} passes an option of the pipeline on to a pass. */
#include "ir/ir.h"
#include "ir/pass.h"

/* Parts that pipelines share: the conversion from tensors to buffers with runtime calls, and the
 * conversion to the LLVM dialect. */
#define TO_BUFFERS                                                                                 \
  "tp-clone-inits,tp-lower-to-runtime,"                                                            \
  "one-shot-bufferize{bufferize-function-boundaries=1 "                                            \
  "function-boundary-type-conversion=identity-layout-map "                                         \
  "allow-return-allocs-from-loops=1},"                                                             \
  "tp-order-globals,canonicalize,cse,tp-lower-contractions"
#define TO_LLVM(function, target)                                                                  \
  "convert-complex-to-standard," function                                                          \
  "(math-expand-ops{ops=rsqrt,fpowi,clampf}),math-extend-to-supported-types,"                      \
  "arith-emulate-unsupported-floats{source-types=bf16,f8E4M3FN "                                   \
  "target-type=f32},tp-expand-float8,tp-expand-math{target=" target                                \
  "},arith-expand{include-bf16=1},"                                                                \
  "expand-strided-metadata,lower-affine,convert-scf-to-cf,tp-return-errors,convert-math-to-funcs," \
  "convert-math-to-llvm,"                                                                          \
  "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts,canonicalize"

const tp_pipeline_row *tp__pipeline_rows(int *n) {
  static const tp_option_row spmd_options[] = {
      {"mesh", "", "sizes of the mesh, see tp-propagate"},
      {"strategy", "plan", "plan or follow, see tp-propagate"},
      {"topology", "cpu", "cost model, see tp-propagate"},
      {"objective", "time", "time or bytes, see tp-propagate"},
      {"unknown-ops", "refuse", "refuse or replicate, see tp-propagate"},
      {"memory-limit", "", "bytes that a device may hold, see tp-propagate"},
      {"remark-bytes", "67108864", "size from which on tensors are remarked, see tp-propagate"},
      {"effort", "1", "how long to plan with a memory limit, see tp-propagate"},
      {"gap", "0", "how far from the cheapest a plan may be, see tp-propagate"},
      {"time-limit", "", "seconds for planning, see tp-propagate"},
      {"overlap", "false",
       "true: plan for communication beside compute, see tp-propagate, and, where the program is "
       "lowered, do it"},
      {"fuse", "no",
       "no, faster or always: fuse sums over devices with what follows, see tp-fuse-collectives"},
      {"report", "", "file for the report of the plan, see tp-propagate"},
      {"explain", "", "value to explain, see tp-propagate"},
      {"report-alternatives", "4", "how many next best plans it has, see tp-propagate"},
  };
  static const tp_option_row run_options[] = {
      {"overlap", "false", "true: collectives run beside compute, see tp-schedule-collectives"},
      {"topology", "cpu", "cost model, see tp-propagate"},
      {"memory-limit", "", "bytes that overlap may use, see tp-schedule-collectives"},
      {"least", "20", "microseconds that overlap has to hide, see tp-schedule-collectives"},
  };
  static const tp_option_row optimize_options[] = {
      {"fused", "inline",
       "functions of tp-fuse-collectives: inline, or keep, for tp-local-to-cuda; see "
       "tp-inline-calls"},
  };
  static const tp_option_row cuda_options[] = {
      {"chip", "sm_80", "oldest compute capability that the kernels are to run on"},
      {"overlap", "false", "true: collectives run beside compute, see tp-schedule-collectives"},
      {"topology", "h100", "cost model, see tp-propagate"},
      {"memory-limit", "", "bytes that overlap may use, see tp-schedule-collectives"},
      {"least", "20", "microseconds that overlap has to hide, see tp-schedule-collectives"},
  };
  static const tp_pipeline_row rows[] = {
      {.name = "tp-optimize-local",
       .summary = "Inline, clean up and fuse the program of one device, on tensors",
       .options = optimize_options,
       .n_options = TP_LEN(optimize_options),
       .text = "tp-decompose,tp-inline-calls{{fused}},canonicalize,cse,convert-elementwise-to-"
               "linalg,tp-keep-scalars,tp-tile-"
               "attention,tp-fuse-epilogues{{fused}},tp-name-"
               "contractions,tp-widen-sums,"
               "convert-elementwise-to-linalg,tp-prepare-fusion,linalg-fuse-elementwise-ops,tp-"
               "inline-calls{{fused}},tp-expand-"
               "messages,"
               "canonicalize,cse"},
      {.name = "tp-local-to-runtime",
       .summary =
           "From the optimized program of one device to the LLVM dialect, calling the runtime",
       .options = run_options,
       .n_options = TP_LEN(run_options),
       .text = TO_BUFFERS
       ",tp-schedule-collectives{{overlap} {topology} {memory-limit} "
       "{least}},tp-assign-buffers,tp-order-loops,"
       "tp-outline-kernels,func.func(convert-linalg-to-loops)," TO_LLVM("func.func", "host")},
      {.name = "tp-local-to-cuda",
       .summary = "From the optimized program of one device to the LLVM dialect, with its loop "
                  "nests as kernels of NVIDIA GPUs",
       .options = cuda_options,
       .n_options = TP_LEN(cuda_options),
       .text = TO_BUFFERS
       ",func.func(linalg-generalize-named-ops),tp-order-loops,tp-split-reductions,tp-fuse-nests,"
       "tp-"
       "schedule-collectives{{overlap} {topology} "
       "{memory-limit} {least}},tp-assign-buffers{target=cuda},"
       "func.func(linalg-generalize-named-ops),tp-order-loops,tp-outline-kernels{asserts=true},"
       "tp-map-kernels,builtin.module(" TO_LLVM(
           "llvm.func", "cuda") "),tp-embed-kernels{{chip}}," TO_LLVM("func.func", "host")},
      {.name = "tp-to-runtime",
       .summary = "From the program of one device, partitioned or not, to the LLVM dialect, "
                  "calling the runtime",
       .options = run_options,
       .n_options = TP_LEN(run_options),
       .text =
           "tp-optimize-local,tp-local-to-runtime{{overlap} {topology} {memory-limit} {least}}"},
      {.name = "tp-to-cuda",
       .summary = "From the program of one device, partitioned or not, to the LLVM dialect, with "
                  "kernels of NVIDIA GPUs",
       .options = cuda_options,
       .n_options = TP_LEN(cuda_options),
       .text = "tp-optimize-local{fused=keep},tp-local-to-cuda{{chip} {overlap} {topology} "
               "{memory-limit} {least}}"},
      {.name = "tp-spmd",
       .summary = "Plan, insert collectives and partition: the program of one device out of an "
                  "annotated or plain program",
       .options = spmd_options,
       .n_options = TP_LEN(spmd_options),
       .text = "tp-import,tp-decompose,tp-inline-calls{{mesh}},tp-raise,tp-hoist-invariants,tp-"
               "propagate{{mesh} {strategy} "
               "{topology} {objective} {unknown-ops} {memory-limit} {effort} {gap} {time-limit} "
               "{overlap} {remark-bytes} {report} "
               "{report-alternatives} "
               "{explain}},"
               "tp-partition{{topology} {objective} "
               "{unknown-ops}},tp-simplify-collectives,tp-stage-collectives{{topology} "
               "{objective}},tp-fuse-collectives{{fuse} {topology}}"},
      {.name = "tp-spmd-to-runtime",
       .summary = "tp-spmd, then tp-to-runtime: from an annotated or plain program to the LLVM "
                  "dialect of one device",
       .options = spmd_options,
       .n_options = TP_LEN(spmd_options),
       .text = "tp-spmd{{mesh} {strategy} {topology} {objective} {unknown-ops} {memory-limit} "
               "{effort} {gap} {time-limit} "
               "{overlap} "
               "{remark-bytes} {report} "
               "{report-alternatives} "
               "{explain} {fuse}},tp-to-runtime{{overlap} {topology} {memory-limit}}"},
  };
  *n = TP_LEN(rows);
  return rows;
}
