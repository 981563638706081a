// The forms in which exporters write argmax: a maximum with its index, NaN, ties. Sharded along the loop of the reduction.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=2x4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// Each device compares the elements it has; the results of all are gathered and compared in the same way.
// CHECK-LABEL: func.func @main
// CHECK: %[[E0:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [1, 6] : tensor<6xf32> into tensor<1x6xf32>
// CHECK: shard.all_gather %[[E0]] on @mesh grid_axes = [1] gather_axis = 0 : tensor<1x6xf32> -> tensor<4x6xf32>
// CHECK: %[[E1:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [1, 6] : tensor<6xi32> into tensor<1x6xi32>
// CHECK: shard.all_gather %[[E1]] on @mesh grid_axes = [1] gather_axis = 0 : tensor<1x6xi32> -> tensor<4x6xi32>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
func.func @main(%a: tensor<6x11xf32> {tp.sharding = [[], ["tp"]]}, %n: tensor<6x11xi32> {tp.sharding = [[], ["tp"]]})
    -> (tensor<6xf32> {tp.sharding = [[]]}, tensor<6xi32> {tp.sharding = [[]]}, tensor<6xi64> {tp.sharding = [[]]}, tensor<6xi32> {tp.sharding = [[]]}, tensor<6xindex> {tp.sharding = [[]]}) {
  %least = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i32
  %zi = arith.constant 0 : index
  %min = arith.constant -2147483648 : i32
  %max = arith.constant 2147483647 : i32
  %ef = tensor.empty() : tensor<6xf32>
  %ei = tensor.empty() : tensor<6xi32>
  %ex = tensor.empty() : tensor<6xindex>
  %values = linalg.fill ins(%least : f32) outs(%ef : tensor<6xf32>) -> tensor<6xf32>
  %zeros = linalg.fill ins(%z : i32) outs(%ei : tensor<6xi32>) -> tensor<6xi32>
  %first = linalg.fill ins(%zi : index) outs(%ex : tensor<6xindex>) -> tensor<6xindex>
  %smallest = linalg.fill ins(%min : i32) outs(%ei : tensor<6xi32>) -> tensor<6xi32>
  // Every third element is the same, so that there are ties: JAX takes the smaller index, and the first NaN.
  %ec = tensor.empty() : tensor<6x11xi32>
  %ties = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<6x11xi32>) outs(%ec : tensor<6x11xi32>) {
  ^bb0(%x: i32, %o: i32):
    %three = arith.constant 3 : i32
    %r = arith.remsi %x, %three : i32
    linalg.yield %r : i32
  } -> tensor<6x11xi32>
  %et = tensor.empty() : tensor<6x11xf32>
  %special = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a, %n : tensor<6x11xf32>, tensor<6x11xi32>) outs(%et : tensor<6x11xf32>) {
  ^bb0(%x: f32, %k: i32, %o: f32):
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %nan = arith.constant 0x7FC00000 : f32
    %r = arith.remsi %k, %three : i32
    %row = linalg.index 0 : index
    %two = arith.constant 2 : index
    %odd = arith.cmpi ugt, %row, %two : index
    %is = arith.cmpi eq, %r, %one : i32
    %both = arith.andi %odd, %is : i1
    %y = arith.select %both, %nan, %x : f32
    linalg.yield %y : f32
  } -> tensor<6x11xf32>
  // JAX, the index as an operand that counts.
  %count = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%ec : tensor<6x11xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<6x11xi32>
  %0:2 = linalg.generic {indexing_maps = [#ij, #ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%special, %count : tensor<6x11xf32>, tensor<6x11xi32>) outs(%values, %zeros : tensor<6xf32>, tensor<6xi32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: f32, %k: i32, %out: f32, %at: i32):
    %g = arith.cmpf ogt, %out, %in : f32
    %u = arith.cmpf une, %out, %out : f32
    %keep = arith.ori %g, %u : i1
    %e = arith.cmpf oeq, %out, %in : f32
    %l = arith.cmpi slt, %at, %k : i32
    %tie = arith.andi %e, %l : i1
    %keep_at = arith.ori %keep, %tie : i1
    %v = arith.select %keep, %out, %in : f32
    %i = arith.select %keep_at, %at, %k : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  // The index of the least, the first of equals; only the index is used.
  %el = tensor.empty() : tensor<6xi64>
  %zl = arith.constant 0 : i64
  %zerosl = linalg.fill ins(%zl : i64) outs(%el : tensor<6xi64>) -> tensor<6xi64>
  %greatest = linalg.fill ins(%max : i32) outs(%ei : tensor<6xi32>) -> tensor<6xi32>
  %1:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%ties : tensor<6x11xi32>) outs(%greatest, %zerosl : tensor<6xi32>, tensor<6xi64>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: i32, %out: i32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi slt, %in, %out : i32
    %v = arith.minsi %in, %out : i32
    %i = arith.select %c, %k, %at : i64
    linalg.yield %v, %i : i32, i64
  } -> (tensor<6xi32>, tensor<6xi64>)
  // By branches, with an index of index type, ties to the larger one.
  %2:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%ties : tensor<6x11xi32>) outs(%smallest, %first : tensor<6xi32>, tensor<6xindex>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: i32, %out: i32, %at: index):
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %in, %out : i32
    %v:2 = scf.if %c -> (i32, index) {
      %e = arith.cmpi eq, %in, %out : i32
      %m = arith.maxui %at, %j : index
      %i = arith.select %e, %m, %j : index
      scf.yield %in, %i : i32, index
    } else {
      scf.yield %out, %at : i32, index
    }
    linalg.yield %v#0, %v#1 : i32, index
  } -> (tensor<6xi32>, tensor<6xindex>)
  return %0#0, %0#1, %1#1, %2#0, %2#1 : tensor<6xf32>, tensor<6xi32>, tensor<6xi64>, tensor<6xi32>, tensor<6xindex>
}
