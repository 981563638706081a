// A product whose result is wanted whole. Gathering the result sends 6144 bytes, gathering %x first 1536, but then every device computes the whole product: 196,608 operations more. At the
// default price of 20 operations a byte that is worth 9,830 bytes, at 2,000 it is worth 98.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{objective=bytes})' | FileCheck %s --check-prefix=SPLIT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{objective=bytes byte-flops=2000})' | FileCheck %s --check-prefix=WHOLE
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{objective=bytes byte-flops=2000 report=%t.json})' -o %t.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{objective=bytes byte-flops=2000 report=%t.md})' -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.mlir report=%t.json -- \
// RUN:   'report["byte_flops"] == 2000' 'plan.bound_ps == plan.cost_ps' \
// RUN:   '0 <= plan.cost_ps - (1536 * 10000 + 2 * 8 * 64 * 256 * 10000 // 2000) < 10000'

// SPLIT: linalg.matmul {{.*}}tensor<2x256xf32>
// SPLIT: shard.all_gather {{.*}} tensor<2x256xf32> -> tensor<8x256xf32>
// WHOLE: shard.all_gather {{.*}} tensor<2x64xf32> -> tensor<8x64xf32>
// WHOLE: linalg.matmul {{.*}}tensor<8x256xf32>
// TEXT: A byte that a device sends costs 0.01 us, and so do 2000 operations of contractions or 3000 others.
module {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @main(%x: tensor<8x64xf32> {tp.sharding = [["tp"], []]}, %w: tensor<64x256xf32> {tp.sharding = [[], []]}) -> (tensor<8x256xf32> {tp.sharding = [[], []]}) {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<8x256xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x256xf32>) -> tensor<8x256xf32>
    %y = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x256xf32>) outs(%fill : tensor<8x256xf32>) -> tensor<8x256xf32>
    return %y : tensor<8x256xf32>
  }
}
