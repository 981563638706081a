// One element read from a split tensor, or put into it: a slice of one element. The tensor is not gathered, a loop that writes element by element
// does so in place.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3,y=2
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow --launch processes
// RUN: shard-run %s --mesh x=7 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_gather
// CHECK: shard.all_reduce {{.*}} : tensor<1x1xf32>
// CHECK-NOT: shard.all_gather
// CHECK: scf.for
// CHECK: tensor.insert_slice
// CHECK-NOT: shard.all_
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<301x220xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<13xi64> {tp.sharding = [["x"]]}, %at: tensor<2xi32>)
    -> (tensor<f32>, tensor<13xi64> {tp.sharding = [["x"]]}, tensor<301x220xf32> {tp.sharding = [["x"], ["y"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c13 = arith.constant 13 : index
  %c150 = arith.constant 150 : index
  %c7 = arith.constant 7 : i64
  %zero = arith.constant 0 : i32
  %last = arith.constant 219 : i32
  %raw = tensor.extract %at[%c1] : tensor<2xi32>
  %low = arith.maxsi %raw, %zero : i32
  %high = arith.minsi %low, %last : i32
  %j = arith.index_cast %high : i32 to index
  %x = tensor.extract %a[%c150, %j] : tensor<301x220xf32>
  %r = tensor.from_elements %x : tensor<f32>
  %squares = scf.for %i = %c0 to %c13 step %c1 iter_args(%v = %b) -> tensor<13xi64> {
    %n = arith.index_cast %i : index to i64
    %s = arith.muli %n, %c7 : i64
    %w = tensor.insert %s into %v[%i] : tensor<13xi64>
    scf.yield %w : tensor<13xi64>
  }
  %one = tensor.insert %x into %a[%c0, %c150] : tensor<301x220xf32>
  return %r, %squares, %one : tensor<f32>, tensor<13xi64>, tensor<301x220xf32>
}
