// Tables whose rows do not divide, or lie on several axes, or are indexed in two dimensions; of i1, and of zeros with a sign. The results are
// constrained to be partial, so that no table is gathered.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=2x4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4 --launch processes

#t = affine_map<(d0, d1) -> (d0)>
#td = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// Ten rows on 2x4 are shards of 2, 2, 1, 0, 2, 2, 1, 0: a device asks for the valid size of its shard, not for that of its buffer.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<2x6xf32>
// CHECK: tensor.extract %{{.*}} : tensor<2x6xf32>
// CHECK: tensor.extract %{{.*}} : tensor<3x1xf32>
// CHECK: tensor.extract %{{.*}} : tensor<3xi1>
// CHECK: tensor.extract %{{.*}} : tensor<2x3xi64>
// CHECK: tensor.extract %{{.*}} : tensor<3xf32>
func.func @main(%ids: tensor<7xi32>, %uneven: tensor<10x6xf32> {tp.sharding = [["dp", "tp"], []]},
                %both: tensor<5x3xf32> {tp.sharding = [["dp"], ["tp"]]}, %bits: tensor<10xi1> {tp.sharding = [["tp"]]},
                %numbers: tensor<10x3xi64> {tp.sharding = [["tp", "dp"], []]})
    -> (tensor<7x6xf32> {tp.sharding = [[], []]}, tensor<7xf32>, tensor<7xi1>, tensor<7x3xi64>, tensor<7xf32>) {
  %s1 = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  %s2 = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %ten = arith.constant 10 : i32
  %five = arith.constant 5 : i32
  %three = arith.constant 3 : i32
  %e0 = tensor.empty() : tensor<7x6xf32>
  %0 = linalg.generic {indexing_maps = [#t, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e0 : tensor<7x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %ten : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %uneven[%i, %j] : tensor<10x6xf32>
    linalg.yield %v : f32
  } -> tensor<7x6xf32>
  %e1 = tensor.empty() : tensor<7xf32>
  %1 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%ids : tensor<7xi32>) outs(%e1 : tensor<7xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %five : i32
    %c = arith.remui %id, %three : i32
    %i = arith.index_castui %r : i32 to index
    %j = arith.index_castui %c : i32 to index
    %v = tensor.extract %both[%i, %j] : tensor<5x3xf32>
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %e2 = tensor.empty() : tensor<7xi1>
  %2 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%ids : tensor<7xi32>) outs(%e2 : tensor<7xi1>) {
  ^bb0(%id: i32, %o: i1):
    %r = arith.remui %id, %ten : i32
    %i = arith.index_castui %r : i32 to index
    %v = tensor.extract %bits[%i] : tensor<10xi1>
    linalg.yield %v : i1
  } -> tensor<7xi1>
  %e3 = tensor.empty() : tensor<7x3xi64>
  %3 = linalg.generic {indexing_maps = [#t, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e3 : tensor<7x3xi64>) {
  ^bb0(%id: i32, %o: i64):
    %r = arith.remui %id, %ten : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %numbers[%i, %j] : tensor<10x3xi64>
    linalg.yield %v : i64
  } -> tensor<7x3xi64>
  // The zeros of this table are negative, which dividing by them shows.
  %minus = arith.constant dense<-0.0> : tensor<10xf32>
  %table = shard.shard %minus to %s1 {tp.sharding = [["tp"]]} : tensor<10xf32>
  %e4 = tensor.empty() : tensor<7xf32>
  %zeros = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%ids : tensor<7xi32>) outs(%e4 : tensor<7xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %ten : i32
    %i = arith.index_castui %r : i32 to index
    %v = tensor.extract %table[%i] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %part = shard.shard %zeros to %s1 {tp.sharding = {dims = [[]], partial = {tp = "sum"}}} : tensor<7xf32>
  %4 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%part : tensor<7xf32>) outs(%e4 : tensor<7xf32>) {
  ^bb0(%z: f32, %o: f32):
    %sign = arith.constant 1.0 : f32
    %v = math.copysign %sign, %z : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %r0 = shard.shard %0 to %s2 {tp.sharding = {dims = [[], []], partial = {dp = "sum", tp = "sum"}}} : tensor<7x6xf32>
  %r1 = shard.shard %1 to %s1 {tp.sharding = {dims = [[]], partial = {dp = "sum", tp = "sum"}}} : tensor<7xf32>
  %r2 = shard.shard %2 to %s1 {tp.sharding = {dims = [[]], partial = {tp = "or"}}} : tensor<7xi1>
  %r3 = shard.shard %3 to %s2 {tp.sharding = {dims = [[], []], partial = {dp = "sum", tp = "sum"}}} : tensor<7x3xi64>
  return %r0, %r1, %r2, %r3, %4 : tensor<7x6xf32>, tensor<7xf32>, tensor<7xi1>, tensor<7x3xi64>, tensor<7xf32>
}
