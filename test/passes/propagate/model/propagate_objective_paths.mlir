// The planner prices a reshard by the path that is written, which may use parts of axes. From rows over x to rows over y such a path sends 96 bytes.
// The paths over whole axes send more, for which computing the whole product on every device would be cheaper (172.8 bytes of work instead of 43.2).
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=cpu objective=bytes report=%t.json})' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.mlir report=%t.json -- \
// RUN:   'plan.bound_ps == plan.cost_ps' \
// RUN:   'report["functions"][0]["bytes_per_device"] == 96' \
// RUN:   '0 < plan.cost_ps - (96 * 10000 + 2 * 12 * 12 * 12 // 4 * 10000 // 20) < 10000'
// What runs sends as much.
// RUN: shard-run %s --objective bytes --topology cpu --report %t.run.json
// RUN: %python -B %S/../../Inputs/relations.py run=%t.run.json -- 'run["bytes_per_device"] == 96'

// CHECK: linalg.matmul {tp.sharding = {{\[\["x"\], \[\]\]}}}
module {
  shard.grid @mesh(shape = 4x6) {tp.axes = ["x", "y"]}
  func.func @main(%a: tensor<12x12xf32> {tp.sharding = [[], []]}, %b: tensor<12x12xf32> {tp.sharding = [[], []]})
      -> (tensor<12x12xf32> {tp.sharding = [["x"], []]}, tensor<12x12xf32> {tp.sharding = [["y"], []]}) {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<12x12xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x12xf32>) -> tensor<12x12xf32>
    %c = linalg.matmul ins(%a, %b : tensor<12x12xf32>, tensor<12x12xf32>) outs(%fill : tensor<12x12xf32>) -> tensor<12x12xf32>
    return %c, %c : tensor<12x12xf32>, tensor<12x12xf32>
  }
}
