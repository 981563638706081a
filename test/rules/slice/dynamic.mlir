// A slice at an offset that is known only at run time, or of few elements, of a dimension that is split: each device takes, or changes, what it has
// of it. The shards are uneven.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3,y=2
// RUN: shard-run %s --mesh x=5 --strategy follow
// RUN: shard-run %s --mesh x=3,y=2 --strategy follow
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: all_gather
// CHECK: tensor.extract %arg0
// CHECK-NOT: all_gather
// CHECK: shard.all_reduce
// CHECK-NOT: all_gather
// CHECK: tensor.insert_slice {{.*}} into %arg0[0, %{{.*}}] [16, 3] [1, 1] : tensor<16x3xf32> into tensor<16x53xf32>
// CHECK-NOT: all_gather
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<16x211xf32> {tp.sharding = [[], ["x", "y"]]}, %at: tensor<i32>, %b: tensor<16x3xf32> {tp.sharding = [[], []]})
    -> (tensor<16x3xf32> {tp.sharding = [[], []]}, tensor<16x4xf32> {tp.sharding = [[], []]}, tensor<16x211xf32> {tp.sharding = [[], ["x", "y"]]}) {
  %c0 = arith.constant 0 : i32
  %c208 = arith.constant 208 : i32
  %raw = tensor.extract %at[] : tensor<i32>
  %low = arith.maxsi %raw, %c0 : i32
  %high = arith.minsi %low, %c208 : i32
  %i = arith.index_cast %high : i32 to index
  %cut = tensor.extract_slice %a[0, %i] [16, 3] [1, 1] : tensor<16x211xf32> to tensor<16x3xf32>
  %few = tensor.extract_slice %a[0, 104] [16, 4] [1, 1] : tensor<16x211xf32> to tensor<16x4xf32>
  %put = tensor.insert_slice %b into %a[0, %i] [16, 3] [1, 1] : tensor<16x3xf32> into tensor<16x211xf32>
  return %cut, %few, %put : tensor<16x3xf32>, tensor<16x4xf32>, tensor<16x211xf32>
}
