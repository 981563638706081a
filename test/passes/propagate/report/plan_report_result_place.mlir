// A collective that makes a result of the function has the place of what computes the value. The place of func.return is that of the
// whole function, or of the tool that traced it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json})' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.json
// CHECK: "collectives": [
// CHECK: "kind": "all_gather"
// CHECK: "location": "\"dot_general\"(\"model.py\":20:1)"
// CHECK-NEXT: "at": "dot_general (model.py:20)"
// CHECK: "consumer": {
// CHECK-NEXT: "op": "func.return"

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x4096xf32> {tp.sharding = [["tp"], []]}, %w: tensor<4096x8xf32> {tp.sharding = [[], []]})
    -> (tensor<64x8xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x4096xf32>, tensor<4096x8xf32>) outs(%init : tensor<64x8xf32>) -> tensor<64x8xf32>
      loc("dot_general"("model.py":20:1))
  return %y : tensor<64x8xf32> loc("jit(step)"("trace.py":15:6))
}
