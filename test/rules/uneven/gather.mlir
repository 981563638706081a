// An embedding lookup with a check of its indices, which in the padding are -1; a loop inside the body whose bound is an argument.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4 --launch processes

#t = affine_map<(d0, d1) -> (d0)>
#td = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%table: tensor<4x6xf32>, %ids: tensor<7xi32> {tp.sharding = [["dp", "tp"]]}) -> (tensor<7x6xf32> {tp.sharding = [["dp", "tp"], []]}, tensor<7xi32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<7x6xf32>
  %0 = linalg.generic {indexing_maps = [#t, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x6xf32>) {
  ^bb0(%x: i32, %o: f32):
    %zero = arith.constant 0 : index
    %four = arith.constant 4 : index
    %i = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %low = arith.cmpi sge, %i, %zero : index
    %high = arith.cmpi slt, %i, %four : index
    %in = arith.andi %low, %high : i1
    cf.assert %in, "token out of range"
    %v = tensor.extract %table[%i, %j] : tensor<4x6xf32>
    linalg.yield %v : f32
  } -> tensor<7x6xf32>
  %e1 = tensor.empty() : tensor<7xi32>
  %1 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%ids : tensor<7xi32>) outs(%e1 : tensor<7xi32>) {
  ^bb0(%x: i32, %o: i32):
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %c0 = arith.constant 1 : i32
    %n = arith.index_castui %x : i32 to index
    %s = scf.for %k = %zero to %n step %step iter_args(%acc = %c0) -> (i32) {
      %twice = arith.addi %acc, %acc : i32
      scf.yield %twice : i32
    }
    linalg.yield %s : i32
  } -> tensor<7xi32>
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<6xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<6xf32>) -> tensor<6xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%0 : tensor<7x6xf32>) outs(%f2 : tensor<6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<6xf32>
  return %0, %1, %2 : tensor<7x6xf32>, tensor<7xi32>, tensor<6xf32>
}
