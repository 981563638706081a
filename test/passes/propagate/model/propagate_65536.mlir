// 65,536 devices on four axes: shards, groups and the permute that names every device.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{topology=h100})' 2>&1 | FileCheck %s

// CHECK: shard.grid @mesh(shape = 8x16x16x32)
// CHECK: func.func @large(%arg0: tensor<64x256xbf16>
// CHECK-SAME: %arg1: tensor<256x4096xbf16>
// CHECK-SAME: -> (tensor<64x512xbf16>
// CHECK-SAME: tp.plan = {bound_ps = [[COST:[0-9]+]] : i64, cost_ps = [[COST]]
// CHECK: call @tp.permute.64x512xbf16
// CHECK-SAME: [65535, 65535]]}

shard.grid @mesh(shape = 8x16x16x32) {tp.axes = ["a", "b", "c", "d"]}
func.func @large(%x: tensor<32768x32768xbf16> {tp.sharding = [["d", "b"], ["c", "a"]]}, %w: tensor<32768x65536xbf16> {tp.sharding = [["c", "a"], ["b"]]})
    -> (tensor<32768x65536xbf16> {tp.sharding = [["b", "d"], ["a", "c"]]}) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<32768x65536xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<32768x65536xbf16>) -> tensor<32768x65536xbf16>
  %y = linalg.matmul ins(%x, %w : tensor<32768x32768xbf16>, tensor<32768x65536xbf16>) outs(%f : tensor<32768x65536xbf16>) -> tensor<32768x65536xbf16>
  return %y : tensor<32768x65536xbf16>
}
