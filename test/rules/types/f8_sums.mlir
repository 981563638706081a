// No sum over devices is in f8: parts are rounded to it behind the sum, and what is added up in f8 is added up on one device. Largest values are exact.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s
// RUN: sed 's/f8E4M3FN/f8E5M2/g' %s > %t.mlir
// RUN: shard-opt %t.mlir --split-input-file --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %t.mlir

// CHECK-LABEL: func.func @rounded
// CHECK: shard.all_reduce {{.*}} : tensor<8x12xf32> -> tensor<8x12xf32>
// CHECK: arith.truncf
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @rounded(%a: tensor<8x65536xf8E4M3FN> {tp.sharding = [[], ["tp"]]}, %b: tensor<65536x12xf8E4M3FN> {tp.sharding = [["tp"], []]}) -> (tensor<8x12xf8E4M3FN> {tp.sharding = [[], []]}) {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x65536xf8E4M3FN>, tensor<65536x12xf8E4M3FN>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %n = arith.truncf %p : tensor<8x12xf32> to tensor<8x12xf8E4M3FN>
  return %n : tensor<8x12xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @rounded_in_a_body
// CHECK: shard.all_reduce {{.*}} : tensor<8xf32> -> tensor<8xf32>
// CHECK: arith.truncf
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @rounded_in_a_body(%a: tensor<8x65536xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<8xf8E4M3FN> {tp.sharding = [[]]}) {
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<8x65536xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<8xf8E4M3FN>
  %n = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%e : tensor<8xf8E4M3FN>) {
  ^bb0(%x: f32, %o: f8E4M3FN):
    %0 = arith.truncf %x : f32 to f8E4M3FN
    linalg.yield %0 : f8E4M3FN
  } -> tensor<8xf8E4M3FN>
  return %n : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @added
// CHECK-NOT: all_reduce
// CHECK: shard.all_to_all {{.*}} : tensor<8x32768xf8E4M3FN> -> tensor<4x65536xf8E4M3FN>
// CHECK-NOT: all_reduce
// CHECK: return
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @added(%a: tensor<8x65536xf8E4M3FN> {tp.sharding = [[], ["tp"]]}) -> (tensor<8xf8E4M3FN> {tp.sharding = [[]]}) {
  %z = arith.constant dense<0.0> : tensor<8xf8E4M3FN>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<8x65536xf8E4M3FN>) outs(%z : tensor<8xf8E4M3FN>) dimensions = [1]
  return %s : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @largest
// CHECK: shard.all_reduce {{.*}} reduction = {{ *}}max : tensor<8xf8E4M3FN> -> tensor<8xf8E4M3FN>
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @largest(%a: tensor<8x65536xf8E4M3FN> {tp.sharding = [[], ["tp"]]}) -> (tensor<8xf8E4M3FN> {tp.sharding = [[]]}) {
  %z = arith.constant dense<-448.0> : tensor<8xf8E4M3FN>
  %s = linalg.reduce { arith.maximumf } ins(%a : tensor<8x65536xf8E4M3FN>) outs(%z : tensor<8xf8E4M3FN>) dimensions = [1]
  return %s : tensor<8xf8E4M3FN>
}
