// Two products of rows that lie split, wanted whole. In least time x is gathered, once, and all devices compute everything: a latency is saved. With fewest bytes
// the products are gathered, which are smaller than x.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{topology=h100})' | FileCheck %s --check-prefix=TIME
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{topology=h100 objective=bytes})' | FileCheck %s --check-prefix=BYTES
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=bytes report=%t.md})' | FileCheck %s --check-prefix=PLAN
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=bytes report=%t.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// The plan names no objective that is the default.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=time})' | FileCheck %s --check-prefix=DEFAULT

// TIME: shard.all_gather %arg0
// TIME-NOT: shard.all_gather

// BYTES-NOT: shard.all_gather %arg0
// BYTES: linalg.matmul {{.*}}tensor<16x4xf32>
// BYTES: shard.all_gather {{.*}} tensor<16x4xf32> -> tensor<64x4xf32>
// BYTES: shard.all_gather {{.*}} tensor<16x4xf32> -> tensor<64x4xf32>

// 1536 bytes at 10,000, and 2 * 2 * 16 * 64 * 4 operations at 500; times, of which a millisecond counts as a byte, are some hundreds.
// PLAN: tp.plan = {bound_ps = 2355{{[0-9]+}} : i64, cost_ps = 2355{{[0-9]+}} : i64, {{.*}}objective = "bytes"
// DEFAULT: tp.plan =
// DEFAULT-NOT: objective

// TEXT: Mesh tp=4, topology h100, strategy plan.
// TEXT: Objective bytes: what plans and decisions cost is no time. A byte that a device sends costs 0.01 us, and so do 20 operations of
// TEXT: A step takes {{[2-9][0-9]}}.{{[0-9]+}} us in the model: {{[0-9.]+}} % compute, {{[0-9.]+}} % collectives
// TEXT: A device sends 1.5 KiB and holds
// TEXT: It costs 23.5{{[0-9]+}} us in the prices of the objective. Proven: no plan costs less (
// TEXT: | compute
// TEXT: | all_gather over tp {{ *}}| 2{{[0-9.]+}} us |

// JSON: "objective": "bytes"
// JSON: "shared_seconds": 0.0
module {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @main(%x: tensor<64x64xf32> {tp.sharding = [["tp"], []]}, %w: tensor<64x4xf32> {tp.sharding = [[], []]},
                  %v: tensor<64x4xf32> {tp.sharding = [[], []]})
      -> (tensor<64x4xf32> {tp.sharding = [[], []]}, tensor<64x4xf32> {tp.sharding = [[], []]}) {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x4xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x4xf32>) -> tensor<64x4xf32>
    %a = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x4xf32>) outs(%fill : tensor<64x4xf32>) -> tensor<64x4xf32>
    %b = linalg.matmul ins(%x, %v : tensor<64x64xf32>, tensor<64x4xf32>) outs(%fill : tensor<64x4xf32>) -> tensor<64x4xf32>
    return %a, %b : tensor<64x4xf32>, tensor<64x4xf32>
  }
}
