// Other reductions that pick: in linalg.reduce, along several loops at once, with a payload, a maximum that is written as a comparison.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4
// RUN: shard-run %s --mesh 4x3 --launch processes

#ijk = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#j = affine_map<(d0, d1, d2) -> (d1)>
#none = affine_map<(d0, d1, d2) -> ()>
#ji = affine_map<(d0, d1, d2) -> (d1, d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<5x3x7xf32> {tp.sharding = [["dp"], [], ["tp"]]}, %n: tensor<5x3x7xi32> {tp.sharding = [["dp"], [], ["tp"]]},
                %start: tensor<3xi32>, %at: tensor<3xi32>)
    -> (tensor<i32>, tensor<i64>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3x5xf32>, tensor<3x5xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %min = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %zl = arith.constant 0 : i64
  %ei = tensor.empty() : tensor<i32>
  %el = tensor.empty() : tensor<i64>
  %f3 = tensor.empty() : tensor<3xf32>
  %e35 = tensor.empty() : tensor<3x5xi32>
  %f35 = tensor.empty() : tensor<3x5xf32>
  %i0 = linalg.fill ins(%min : i32) outs(%ei : tensor<i32>) -> tensor<i32>
  %l0 = linalg.fill ins(%zl : i64) outs(%el : tensor<i64>) -> tensor<i64>
  %p3 = linalg.fill ins(%least : f32) outs(%f3 : tensor<3xf32>) -> tensor<3xf32>
  %u35 = linalg.fill ins(%zero : i32) outs(%e35 : tensor<3x5xi32>) -> tensor<3x5xi32>
  %t35 = linalg.fill ins(%least : f32) outs(%f35 : tensor<3x5xf32>) -> tensor<3x5xf32>
  // Over all elements, ties to the smaller index: the order of the loops does not matter, all three may be split.
  %0:2 = linalg.generic {indexing_maps = [#ijk, #none, #none], iterator_types = ["reduction", "reduction", "reduction"]} ins(%n : tensor<5x3x7xi32>) outs(%i0, %l0 : tensor<i32>, tensor<i64>) attrs = {tp.factors = {tp = 2, dp = 0}} {
  ^bb0(%in: i32, %out: i32, %k: i64):
    %i = linalg.index 0 : index
    %jx = linalg.index 1 : index
    %kx = linalg.index 2 : index
    %three = arith.constant 3 : index
    %seven = arith.constant 7 : index
    %four = arith.constant 4 : i32
    %r = arith.remsi %in, %four : i32
    %s = arith.muli %i, %three : index
    %t = arith.addi %s, %jx : index
    %u = arith.muli %t, %seven : index
    %v = arith.addi %u, %kx : index
    %w = arith.index_cast %v : index to i64
    %g = arith.cmpi sgt, %r, %out : i32
    %e = arith.cmpi eq, %r, %out : i32
    %m = arith.minsi %w, %k : i64
    %x = arith.select %e, %m, %k : i64
    %y = arith.select %g, %w, %x : i64
    %z = arith.maxsi %r, %out : i32
    linalg.yield %z, %y : i32, i64
  } -> (tensor<i32>, tensor<i64>)
  // The first of equals: only the outer loop of the reduction may be split. The second result comes with the best value. The initial values are
  // arguments, which may be better than all elements.
  %1:2 = linalg.generic {indexing_maps = [#ijk, #ijk, #j, #j], iterator_types = ["reduction", "parallel", "reduction"]} ins(%n, %a : tensor<5x3x7xi32>, tensor<5x3x7xf32>) outs(%start, %p3 : tensor<3xi32>, tensor<3xf32>) attrs = {tp.factors = {dp = 0}} {
  ^bb0(%in: i32, %x: f32, %out: i32, %b: f32):
    %four = arith.constant 4 : i32
    %r = arith.remsi %in, %four : i32
    %g = arith.cmpi sgt, %r, %out : i32
    %v = arith.select %g, %r, %out : i32
    %p = arith.select %g, %x, %b : f32
    linalg.yield %v, %p : i32, f32
  } -> (tensor<3xi32>, tensor<3xf32>)
  // A maximum by comparison, where a NaN never wins.
  %2 = linalg.generic {indexing_maps = [#ijk, #j], iterator_types = ["reduction", "parallel", "reduction"]} ins(%a : tensor<5x3x7xf32>) outs(%p3 : tensor<3xf32>) attrs = {tp.factors = {tp = 2, dp = 0}} {
  ^bb0(%in: f32, %out: f32):
    %g = arith.cmpf ogt, %in, %out : f32
    %v = arith.select %g, %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<3xf32>
  // The index as an operand of linalg.reduce, from an initial pair that takes part.
  %count = linalg.generic {indexing_maps = [#ijk], iterator_types = ["parallel", "parallel", "parallel"]} outs(%n : tensor<5x3x7xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %ten = arith.constant 10 : index
    %s = arith.muli %i, %ten : index
    %t = arith.addi %s, %k : index
    %u = arith.index_cast %t : index to i32
    linalg.yield %u : i32
  } -> tensor<5x3x7xi32>
  %3:2 = linalg.reduce ins(%n, %count : tensor<5x3x7xi32>, tensor<5x3x7xi32>) outs(%start, %at : tensor<3xi32>, tensor<3xi32>) dimensions = [0, 2] {tp.factors = {tp = 2, dp = 0}}
    (%in: i32, %k: i32, %out: i32, %best: i32) {
      %g = arith.cmpi ugt, %in, %out : i32
      %e = arith.cmpi eq, %in, %out : i32
      %l = arith.cmpi slt, %k, %best : i32
      %tie = arith.andi %e, %l : i1
      %take = arith.ori %g, %tie : i1
      %v = arith.select %take, %in, %out : i32
      %i = arith.select %take, %k, %best : i32
      linalg.yield %v, %i : i32, i32
    }
  // A result that is split along another loop and stands transposed.
  %4:2 = linalg.generic {indexing_maps = [#ijk, #ijk, #ji, #ji], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %count : tensor<5x3x7xf32>, tensor<5x3x7xi32>) outs(%t35, %u35 : tensor<3x5xf32>, tensor<3x5xi32>) attrs = {tp.factors = {tp = 2, dp = 0}} {
  ^bb0(%in: f32, %k: i32, %out: f32, %best: i32):
    %g = arith.cmpf ogt, %in, %out : f32
    %v = arith.select %g, %in, %out : f32
    %i = arith.select %g, %k, %best : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<3x5xf32>, tensor<3x5xi32>)
  return %0#0, %0#1, %1#0, %1#1, %2, %3#0, %3#1, %4#0, %4#1 : tensor<i32>, tensor<i64>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3x5xf32>, tensor<3x5xi32>
}
