// What is put into a split dimension: whole in one shard, over several, at both ends; larger than a shard; with strides; into two dimensions at once;
// of a small tensor without some of the dimensions; of integers and of truth values. Shards are even, uneven and empty.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 7x1 --strategy follow --launch processes
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<13xf32> {tp.sharding = [["x", "y"]]}, %b: tensor<9x10xi32> {tp.sharding = [["x"], ["y"]]},
                %c: tensor<13xi64> {tp.sharding = [["y"]]}, %one: tensor<1xf32> {tp.sharding = [[]]}, %s: tensor<f32>,
                %twelve: tensor<12xf32> {tp.sharding = [[]]}, %four: tensor<4xf32> {tp.sharding = [[]]}, %p: tensor<3x4xi32> {tp.sharding = [[], []]},
                %q: tensor<4xi32> {tp.sharding = [[]]}, %r: tensor<3xi32> {tp.sharding = [[]]}, %t: tensor<5xi64> {tp.sharding = [[]]})
    -> (tensor<13xf32> {tp.sharding = [["x", "y"]]}, tensor<13xf32> {tp.sharding = [["x", "y"]]}, tensor<13xf32> {tp.sharding = [["x", "y"]]},
        tensor<13xf32> {tp.sharding = [["x", "y"]]}, tensor<13xf32> {tp.sharding = [["x", "y"]]}, tensor<9x10xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<9x10xi32> {tp.sharding = [["x"], ["y"]]}, tensor<9x10xi32> {tp.sharding = [["x"], ["y"]]}, tensor<13xi64> {tp.sharding = [["y"]]},
        tensor<13xi1> {tp.sharding = [["y"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c12 = arith.constant 12 : index
  %first = tensor.insert_slice %one into %a[%c0] [1] [1] : tensor<1xf32> into tensor<13xf32>
  %last = tensor.insert_slice %s into %a[%c12] [1] [1] : tensor<f32> into tensor<13xf32>
  %most = tensor.insert_slice %twelve into %a[%c1] [12] [1] : tensor<12xf32> into tensor<13xf32>
  %thirds = tensor.insert_slice %four into %a[%c1] [4] [3] : tensor<4xf32> into tensor<13xf32>
  %known = tensor.insert_slice %one into %a[6] [1] [1] : tensor<1xf32> into tensor<13xf32>
  %block = tensor.insert_slice %p into %b[%c5, %c3] [3, 4] [1, 1] : tensor<3x4xi32> into tensor<9x10xi32>
  %row = tensor.insert_slice %q into %b[%c3, %c5] [1, 4] [1, 1] : tensor<4xi32> into tensor<9x10xi32>
  %column = tensor.insert_slice %r into %b[%c5, 7] [3, 1] [1, 1] : tensor<3xi32> into tensor<9x10xi32>
  %wide = tensor.insert_slice %t into %c[%c5] [5] [1] : tensor<5xi64> into tensor<13xi64>
  %zeros = arith.constant dense<0> : tensor<13xi64>
  %zero = arith.constant dense<0> : tensor<5xi64>
  %ones = arith.constant dense<1> : tensor<13xi64>
  %bits = arith.andi %c, %ones : tensor<13xi64>
  %less = arith.cmpi eq, %bits, %zeros : tensor<13xi64>
  %one_of = arith.constant dense<1> : tensor<5xi64>
  %bits_of = arith.andi %t, %one_of : tensor<5xi64>
  %more = arith.cmpi eq, %bits_of, %zero : tensor<5xi64>
  %truth = tensor.insert_slice %more into %less[%c5] [5] [1] : tensor<5xi1> into tensor<13xi1>
  return %first, %last, %most, %thirds, %known, %block, %row, %column, %wide, %truth
      : tensor<13xf32>, tensor<13xf32>, tensor<13xf32>, tensor<13xf32>, tensor<13xf32>, tensor<9x10xi32>, tensor<9x10xi32>, tensor<9x10xi32>, tensor<13xi64>, tensor<13xi1>
}
