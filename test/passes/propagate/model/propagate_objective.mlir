// Two products of rows that lie split, wanted whole. In least time x is gathered, once, and all devices compute everything: a latency is saved. With fewest bytes
// the products are gathered, which are smaller than x.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{topology=h100})' | FileCheck %s --check-prefix=TIME
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{topology=h100 objective=bytes})' | FileCheck %s --check-prefix=BYTES
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=bytes report=%t.md})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=bytes report=%t.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// A cost is a price for bytes, 10,000 a byte, and for operations, of which 20 cost what a byte
// costs, and times, of which a millisecond counts as a byte. Here it is 2 * 3/4 * 64 * 4 * 4 bytes,
// and the 2 * 16 * 64 * 4 operations of each product. test/sharding/cost_test.c (objective_bytes)
// has these prices for all collectives and topologies.
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.mlir report=%t.json 'text=%t.md~It costs ([0-9.]+) us by the objective' -- \
// RUN:   'plan.bound_ps == plan.cost_ps == round(report["functions"][0]["solution"]["cost_seconds"] * 1e12)' \
// RUN:   'report["functions"][0]["bytes_per_device"] == 2 * 3 * 64 * 4' \
// RUN:   '0 < plan.cost_ps - (2 * 3 * 64 * 4 * 10000 + 2 * 2 * 16 * 64 * 4 * 10000 // 20) < 10000' \
// RUN:   'abs(text - plan.cost_ps / 1e6) < 0.00051'
// The step and its parts are times, not prices.
// RUN: %python -B %S/../../Inputs/relations.py report=%t.json 'step=%t.md~A step takes ([0-9.]+) us' 'gathers=%t.md~all_gather over tp .* ([0-9.]+) us' -- \
// RUN:   'abs(step - report["functions"][0]["step"]["seconds"] * 1e6) < 0.00051' \
// RUN:   'abs(gathers - report["functions"][0]["traffic"][0]["modelled_seconds"] * 1e6) < 0.00051' \
// RUN:   'report["functions"][0]["step"]["seconds"] != report["functions"][0]["solution"]["cost_seconds"]'
// The plan names no objective that is the default.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 objective=time})' | FileCheck %s --check-prefix=DEFAULT

// TIME: shard.all_gather %arg0
// TIME-NOT: shard.all_gather

// BYTES-NOT: shard.all_gather %arg0
// BYTES: linalg.matmul {{.*}}tensor<16x4xf32>
// BYTES: shard.all_gather {{.*}} tensor<16x4xf32> -> tensor<64x4xf32>
// BYTES: shard.all_gather {{.*}} tensor<16x4xf32> -> tensor<64x4xf32>

// PLAN: tp.plan = {{{.*}}objective = "bytes"
// DEFAULT: tp.plan =
// DEFAULT-NOT: objective

// TEXT: Mesh tp=4, topology h100, strategy plan.
// TEXT: Objective bytes: costs of plans and decisions are not times. A byte that a device sends costs 0.01 us, and so do 20 operations of
// TEXT: A step takes {{[0-9]+\.[0-9]+}} us in the model: {{[0-9.]+}} % compute, {{[0-9.]+}} % collectives
// TEXT: A device sends 1.5 KiB and holds
// TEXT: It costs {{[0-9]+\.[0-9]+}} us by the objective. Proven: no plan with these annotations costs less (
// TEXT: | compute
// TEXT: | all_gather over tp {{ *}}| {{[0-9]+\.[0-9]+}} us |

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
