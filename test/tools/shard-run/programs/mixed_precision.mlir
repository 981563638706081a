// A sum in f32 that the program rounds to bf16, as mixed precision does: its parts are rounded on each device, and summed in bf16. The
// f32 result may be off as far as that explains, against the evaluator and against expected values, also on one device.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-run %s --output @%t.npy
// RUN: shard-run %s --mesh tp=1 --expected-output @%t.npy | FileCheck %s --check-prefix=EXPECTED
// A result that depends on no bf16 number has the tolerance of f32 alone.
// RUN: not shard-run %s --function plain --expected-output @%t.npy | FileCheck %s --check-prefix=PLAIN

// CHECK: all_reduce
// CHECK: against one device differs: error 0.00{{.*}}; the evaluator decides
// CHECK: against the evaluator ok: error 0.00
// CHECK: {{^}}verified
// EXPECTED: against expected ok: error 0.00{{[0-9]*}} (at most {{[1-5]}}e-02)
// EXPECTED: {{^}}verified
// PLAIN: against expected MISMATCH: error 0.00{{[0-9]*}} (at most 1e-04)
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x: tensor<16x64xbf16> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x8xbf16> {tp.sharding = [["tp"], []]})
    -> (tensor<16x8xf32> {tp.sharding = [[], []]}) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<16x64xbf16>, tensor<64x8xbf16>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  %b = arith.truncf %m : tensor<16x8xf32> to tensor<16x8xbf16>
  %r = arith.extf %b : tensor<16x8xbf16> to tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}
func.func @plain(%x: tensor<16x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x8xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<16x8xf32> {tp.sharding = [[], []]}) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %m : tensor<16x8xf32>
}
