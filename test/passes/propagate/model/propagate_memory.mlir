// The most that a device holds, as tp.plan says it: arguments and results all the time, other values from their op to their last use.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s

// Arguments 2 x 4096, result 4096; at the second matmul the product of the first (4096) is there too. The fills are made in the memory of
// what overwrites them.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: peak_memory = 16384
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @chain(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = linalg.matmul ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = linalg.matmul ins(%a, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %b : tensor<32x32xf32>
}

// -----

// A shard of each argument and of the result (1024 each), and the weight gathered for the only op that wants it (4096).
// CHECK-LABEL: func.func @gathered
// CHECK-SAME: peak_memory = 7168
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @gathered(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %w: tensor<32x32xf32> {tp.sharding = [["x"], []]})
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = linalg.matmul {tp.sharding = [["x"], []]} ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %a : tensor<32x32xf32>
}

// -----

// An uneven dimension counts with its padding (3 of 10 rows on 4 devices), elementwise ops in a row as their last one.
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: peak_memory = 240
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @uneven(%x: tensor<10x10xf32> {tp.sharding = [["x"], []]}) -> (tensor<10x10xf32> {tp.sharding = [["x"], []]}) {
  %a = math.exp %x : tensor<10x10xf32>
  %b = math.tanh %a : tensor<10x10xf32>
  %c = math.exp %b : tensor<10x10xf32>
  return %c : tensor<10x10xf32>
}

// -----

// Shards of arguments and result (3 x 1024), the gathered weight from in front of the loop to its end (4096), what the loop carries (1024), and
// what an iteration makes of it (1024).
// CHECK-LABEL: func.func @loop
// CHECK-SAME: peak_memory = 9216
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @loop(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %w: tensor<32x32xf32> {tp.sharding = [["x"], []]})
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<32x32xf32> {
    %e = tensor.empty() : tensor<32x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %b = linalg.matmul {tp.sharding = [["x"], []]} ins(%a, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %b : tensor<32x32xf32>
  }
  return %r : tensor<32x32xf32>
}

// -----

// A change of layout in three steps holds what a step reads and what it makes: beside argument and result (1024 each) half of the rows and half
// of the columns (2048 each), less the result that the last step makes.
// CHECK-LABEL: func.func @in_steps
// CHECK-SAME: peak_memory = 5120
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @in_steps(%x: tensor<32x32xf32> {tp.sharding = [["x", "y"], []]}) -> (tensor<32x32xf32> {tp.sharding = [["y"], ["x"]]}) {
  return %x : tensor<32x32xf32>
}
