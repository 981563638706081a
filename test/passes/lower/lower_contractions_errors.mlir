// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-lower-contractions)'

// expected-error @below {{'func.func': has no runtime context; run tp-lower-to-runtime first}}
func.func @no_context(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}
