// The maximum with its index as PyTorch is exported: a NaN is the greatest value, and the index stays at the greatest before it. tp-raise adds the value
// at the index, so that the parts of the loop can be combined.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise)' | FileCheck %s --check-prefix=RAISED
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-raise,tp-propagate{mesh=tp=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 4 --strategy follow
// RUN: shard-run %s --mesh 8
// RUN: shard-run %s --mesh 2x4 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 1x4) {tp.axes = ["dp", "tp"]}
// RAISED-LABEL: func.func @main
// RAISED: %[[R:.*]]:3 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<6xf32>, tensor<6xi64>, tensor<6xf32>)
// RAISED-NEXT: ^bb0(%[[X:.*]]: f32, %[[V:.*]]: f32, %[[I:.*]]: i64, %[[W:.*]]: f32):
// RAISED: %[[C:.*]] = arith.cmpf ogt, %[[X]], %[[V]]
// RAISED: %[[S:.*]] = arith.select %[[C]], %[[X]], %[[W]]
// RAISED: linalg.yield %{{.*}}, %{{.*}}, %[[S]]
// CHECK-LABEL: func.func @main
// CHECK: shard.all_gather {{.*}} : tensor<1x6xf32> -> tensor<4x6xf32>
// CHECK: shard.all_gather {{.*}} : tensor<1x6xi64> -> tensor<4x6xi64>
// CHECK: shard.all_gather {{.*}} : tensor<1x6xf32> -> tensor<4x6xf32>
func.func @main(%a: tensor<6x4099xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<6xi64> {tp.sharding = [[]]}, tensor<6xf32> {tp.sharding = [[]]}, tensor<6xi64> {tp.sharding = [[]]}) {
  %least = arith.constant 0xFF800000 : f32
  %most = arith.constant 0x7F800000 : f32
  %zl = arith.constant 0 : i64
  %ef = tensor.empty() : tensor<6xf32>
  %el = tensor.empty() : tensor<6xi64>
  %f = linalg.fill ins(%least : f32) outs(%ef : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%most : f32) outs(%ef : tensor<6xf32>) -> tensor<6xf32>
  %l = linalg.fill ins(%zl : i64) outs(%el : tensor<6xi64>) -> tensor<6xi64>
  // The first row as it is; in the others NaNs from an element on, which is of another shard in each.
  %e = tensor.empty() : tensor<6x4099xf32>
  %nans = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x4099xf32>) outs(%e : tensor<6x4099xf32>) {
  ^bb0(%x: f32, %o: f32):
    %nan = arith.constant 0x7FC00000 : f32
    %step = arith.constant 850 : index
    %zero = arith.constant 0 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %from = arith.muli %i, %step : index
    %other = arith.cmpi ugt, %i, %zero : index
    %behind = arith.cmpi uge, %j, %from : index
    %is = arith.andi %other, %behind : i1
    %y = arith.select %is, %nan, %x : f32
    linalg.yield %y : f32
  } -> tensor<6x4099xf32>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%nans : tensor<6x4099xf32>) outs(%f, %l : tensor<6xf32>, tensor<6xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %v = arith.maximumf %in, %out : f32
    %c = arith.cmpf ogt, %in, %out : f32
    %i = arith.select %c, %k, %at : i64
    linalg.yield %v, %i : f32, i64
  } -> (tensor<6xf32>, tensor<6xi64>)
  %1:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%nans : tensor<6x4099xf32>) outs(%g, %l : tensor<6xf32>, tensor<6xi64>) attrs = {tp.sharding = [[[]], [[]]]} {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %v = arith.minimumf %out, %in : f32
    %c = arith.cmpf olt, %in, %out : f32
    %i = arith.select %c, %k, %at : i64
    linalg.yield %v, %i : f32, i64
  } -> (tensor<6xf32>, tensor<6xi64>)
  return %0#1, %1#0, %1#1 : tensor<6xi64>, tensor<6xf32>, tensor<6xi64>
}
