// Two streams: the gather of the second weight runs beside the first matmul, which takes longer,
// and is not waited for. The plan costs the sum of matmuls and gather, and takes the time of the
// matmuls alone.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=true})' -o %t.overlap.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{overlap=true})' -o %t.spmd.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o %t.sum.mlir
// RUN: FileCheck %s --check-prefix=SUM --input-file=%t.sum.mlir
// RUN: %python -B %S/../../Inputs/relations.py overlap=%t.overlap.mlir spmd=%t.spmd.mlir sum=%t.sum.mlir report=%t.json -- \
// RUN:   'overlap.bound_ps == overlap.cost_ps == sum.cost_ps == sum.bound_ps' 'vars(spmd) == vars(overlap)' \
// RUN:   'overlap.overlapped_ps == round(report["functions"][0]["step"]["compute_seconds"] * 1e12)' \
// RUN:   'sum.cost_ps - overlap.overlapped_ps == round(report["functions"][0]["traffic"][0]["modelled_seconds"] * 1e12) > 0' \
// RUN:   '[t["kind"] for t in report["functions"][0]["traffic"]] == ["all_gather"]'

// SUM-NOT: overlapped_ps
// SUM: cost_ps
// SUM-NOT: overlapped_ps

// A plan that costs more in sum and takes less time: the bound stays that of the sum. It is
// executed. The plan with the least sum takes longer, and stays as it is with overlap, since its
// layouts are annotations then.
// RUN: shard-opt %S/propagate_sub_axes_heads.mlir --pass-pipeline='builtin.module(tp-decompose,tp-propagate{overlap=true})' -o %t.heads.mlir
// RUN: shard-run %t.heads.mlir --mesh tp=8
// RUN: shard-opt %S/propagate_sub_axes_heads.mlir --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' -o %t.least.mlir
// RUN: shard-opt %t.least.mlir --pass-pipeline='builtin.module(tp-propagate{overlap=true})' -o %t.again.mlir
// RUN: %python -B %S/../../Inputs/relations.py heads=%t.heads.mlir least=%t.least.mlir again=%t.again.mlir -- \
// RUN:   'heads.bound_ps == least.cost_ps == least.bound_ps == again.cost_ps < heads.cost_ps' \
// RUN:   'heads.overlapped_ps < again.overlapped_ps < again.cost_ps'

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<256x128xf32> {tp.sharding = [["tp"], []]}, %v: tensor<128x128xf32> {tp.sharding = [[], []]}, %w: tensor<128x128xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<256x128xf32> {tp.sharding = [["tp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %h = linalg.matmul ins(%x, %v : tensor<256x128xf32>, tensor<128x128xf32>) outs(%f : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e2 = tensor.empty() : tensor<256x128xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = linalg.matmul ins(%h, %w : tensor<256x128xf32>, tensor<128x128xf32>) outs(%f2 : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}
