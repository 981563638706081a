// Reads at computed indices in bodies that do more than read: masked, scaled, two of one table and of two, summed over a bag, weights of experts,
// negative indices, compared. tp-raise makes lookups of them, whose tables are split by rows.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise)' | FileCheck %s --check-prefix=RAISED
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=2x4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x2 --launch processes

#t = affine_map<(d0) -> (d0)>
#td0 = affine_map<(d0, d1) -> (d0)>
#td = affine_map<(d0, d1) -> (d0, d1)>
#b = affine_map<(d0, d1, d2) -> (d0, d1)>
#bd = affine_map<(d0, d1, d2) -> (d0, d2)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// RAISED-LABEL: func.func @main
// RAISED: %[[A:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<7xi32>)
// RAISED: cf.assert
// RAISED: tensor.extract %[[TABLE:.*]][
// RAISED-NEXT: linalg.yield
// RAISED: linalg.generic {{.*}} ins(%{{.*}}, %[[A]] : tensor<7xi32>, tensor<7x6xf32>)
// RAISED-NOT: tensor.extract
// RAISED: linalg.yield
// CHECK-LABEL: func.func @main
// CHECK: tensor.extract %{{.*}} : tensor<501x6xf32>
func.func @main(%ids: tensor<7xi32>, %bags: tensor<5x3xi32>, %table: tensor<10003x6xf32> {tp.sharding = [["dp", "tp"], []]},
                %other: tensor<2001x6xf32> {tp.sharding = [["tp"], []]}, %experts: tensor<3x4x6xf32> {tp.sharding = [["tp"], [], []]},
                %x: tensor<7x4xf32>)
    -> (tensor<7x6xf32> {tp.sharding = [[], []]}, tensor<7x6xf32>, tensor<7x6xf32>, tensor<5x6xf32>, tensor<7x6xf32>, tensor<7xi1>, tensor<7x6xf32>) {
  %rows = arith.constant 10003 : i32
  %few = arith.constant 2001 : i32
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x6xf32>
  %e1 = tensor.empty() : tensor<7xi1>
  %e5 = tensor.empty() : tensor<5x6xf32>
  // Masked: ids that are not of this table give zero. The assertion goes with the read.
  %0 = linalg.generic {indexing_maps = [#td0, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %rows : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 1 : index
    %size = arith.constant 10003 : index
    %in = arith.cmpi ult, %i, %size : index
    cf.assert %in, "row out of range"
    %v = tensor.extract %table[%i, %j] : tensor<10003x6xf32>
    %odd = arith.remui %id, %three : i32
    %c = arith.cmpi ne, %odd, %zero : i32
    %s = arith.select %c, %v, %f0 : f32
    linalg.yield %s : f32
  } -> tensor<7x6xf32>
  // Two reads of one table.
  %1 = linalg.generic {indexing_maps = [#td0, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %rows : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 1 : index
    %last = arith.constant 10002 : index
    %k = arith.subi %last, %i : index
    %v = tensor.extract %table[%i, %j] : tensor<10003x6xf32>
    %w = tensor.extract %table[%k, %j] : tensor<10003x6xf32>
    %s = arith.mulf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<7x6xf32>
  // Of two tables, one of which is split otherwise; the index of the second is clamped.
  %2 = linalg.generic {indexing_maps = [#td0, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %rows : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 1 : index
    %last = arith.constant 2000 : index
    %p = arith.minui %i, %last : index
    %v = tensor.extract %table[%i, %j] : tensor<10003x6xf32>
    %w = tensor.extract %other[%p, %j] : tensor<2001x6xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<7x6xf32>
  // A bag of rows is summed up.
  %s5 = linalg.fill ins(%f0 : f32) outs(%e5 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %3 = linalg.generic {indexing_maps = [#b, #bd], iterator_types = ["parallel", "reduction", "parallel"]} ins(%bags : tensor<5x3xi32>) outs(%s5 : tensor<5x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %r = arith.remui %id, %few : i32
    %i = arith.index_castui %r : i32 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %other[%i, %j] : tensor<2001x6xf32>
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<5x6xf32>
  // The weights of the expert that a token goes to, in a contraction.
  %s7 = linalg.fill ins(%f0 : f32) outs(%e : tensor<7x6xf32>) -> tensor<7x6xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0)>, #b, #bd], iterator_types = ["parallel", "reduction", "parallel"]} ins(%ids, %x : tensor<7xi32>, tensor<7x4xf32>) outs(%s7 : tensor<7x6xf32>) {
  ^bb0(%id: i32, %a: f32, %o: f32):
    %r = arith.remui %id, %three : i32
    %i = arith.index_castui %r : i32 to index
    %k = linalg.index 1 : index
    %j = linalg.index 2 : index
    %v = tensor.extract %experts[%i, %k, %j] : tensor<3x4x6xf32>
    %m = arith.mulf %a, %v : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<7x6xf32>
  // Not linear in what is read. A negative index counts from the end.
  %5 = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel"]} ins(%ids : tensor<7xi32>) outs(%e1 : tensor<7xi1>) {
  ^bb0(%id: i32, %o: i1):
    %r = arith.remsi %id, %rows : i32
    %neg = arith.cmpi slt, %r, %zero : i32
    %wrapped = arith.addi %r, %rows : i32
    %n = arith.select %neg, %wrapped, %r : i32
    %i = arith.index_cast %n : i32 to index
    %j = arith.constant 2 : index
    %v = tensor.extract %table[%i, %j] : tensor<10003x6xf32>
    %c = arith.cmpf ogt, %v, %f0 : f32
    linalg.yield %c : i1
  } -> tensor<7xi1>
  // In a branch: it stays where it is.
  %6 = linalg.generic {indexing_maps = [#td0, #td], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_castui %id : i32 to index
    %j = linalg.index 1 : index
    %c = arith.cmpi ult, %id, %rows : i32
    %s = scf.if %c -> f32 {
      %v = tensor.extract %table[%i, %j] : tensor<10003x6xf32>
      scf.yield %v : f32
    } else {
      scf.yield %f0 : f32
    }
    linalg.yield %s : f32
  } -> tensor<7x6xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>, tensor<5x6xf32>, tensor<7x6xf32>, tensor<7xi1>, tensor<7x6xf32>
}
