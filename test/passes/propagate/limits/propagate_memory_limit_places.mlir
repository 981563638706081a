// A value that is named only as the place of a fill is not kept for it: the compiled program has
// 9216 bytes too. A quarter of each argument, of the result and of two products (1024 each), and an
// argument that is gathered (4096).
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=9216B})' | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=5120B})' 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: memory-limit: a device may hold 5120 bytes, and no plan was found that fits (none exists by the planner's memory estimate
// RUN: shard-run %s --memory-limit 9216 --report %t.json
// RUN: FileCheck %s --check-prefix=COMPILED < %t.json
// COMPILED: "memory_per_device"
// COMPILED: "total": 9216

// CHECK-LABEL: func.func @main
// CHECK-SAME: peak_memory = 9216
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m2 = linalg.matmul ins(%m, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m3 = linalg.matmul ins(%m2, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %k = linalg.fill ins(%zero : f32) outs(%m : tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = linalg.matmul ins(%m3, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%k : tensor<32x32xf32>) -> tensor<32x32xf32>
  %q = linalg.matmul ins(%p, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %q : tensor<32x32xf32>
}
