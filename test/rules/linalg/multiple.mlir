// Several results of one loop nest: other combiners, other dimensions, sums and extremes under a condition. Every loop can be split, but for
// those of the last one.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4
// RUN: shard-run %s --mesh 4x3 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#ji = affine_map<(d0, d1) -> (d1, d0)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<5x7xf32> {tp.sharding = [["dp"], ["tp"]]}, %n: tensor<5x7xi32> {tp.sharding = [["dp"], ["tp"]]}, %low: f32,
                %start: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<7x5xf32>, tensor<7xf32>, tensor<f32>, tensor<5xi32>, tensor<5xi32>, tensor<f32>, tensor<5x7xi32>, tensor<5xi32>, tensor<5xi32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %one = arith.constant 1 : i32
  %z = arith.constant 0 : i32
  %e5 = tensor.empty() : tensor<5xf32>
  %e7 = tensor.empty() : tensor<7xf32>
  %e0 = tensor.empty() : tensor<f32>
  %e75 = tensor.empty() : tensor<7x5xf32>
  %n5 = tensor.empty() : tensor<5xi32>
  %s5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<5xf32>) -> tensor<5xf32>
  %m5 = linalg.fill ins(%least : f32) outs(%e5 : tensor<5xf32>) -> tensor<5xf32>
  %s7 = linalg.fill ins(%zero : f32) outs(%e7 : tensor<7xf32>) -> tensor<7xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %p5 = linalg.fill ins(%one : i32) outs(%n5 : tensor<5xi32>) -> tensor<5xi32>
  %x5 = linalg.fill ins(%z : i32) outs(%n5 : tensor<5xi32>) -> tensor<5xi32>
  // The sum, the sum of squares and the greatest element at once; the first from a value that enters once.
  %0:3 = linalg.generic {indexing_maps = [#ij, #i, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x7xf32>) outs(%start, %s5, %m5 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%x: f32, %s: f32, %q: f32, %m: f32):
    %t = arith.addf %x, %s : f32
    %y = arith.mulf %x, %x : f32
    %u = arith.addf %q, %y : f32
    %v = arith.maximumf %m, %x : f32
    linalg.yield %t, %u, %v : f32, f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
  // Results of all elements, of columns and of everything: along each loop one is split or partial. The scalar is no tensor.
  %1:3 = linalg.generic {indexing_maps = [#ij, #none, #ji, #j, #none], iterator_types = ["reduction", "reduction"]} ins(%a, %low : tensor<5x7xf32>, f32) outs(%e75, %s7, %s0 : tensor<7x5xf32>, tensor<7xf32>, tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %l: f32, %o: f32, %c: f32, %t: f32):
    %y = arith.mulf %x, %l : f32
    %p = arith.addf %c, %x : f32
    %q = arith.addf %t, %y : f32
    linalg.yield %y, %p, %q : f32, f32, f32
  } -> (tensor<7x5xf32>, tensor<7xf32>, tensor<f32>)
  // Under a condition: by select and by a branch.
  %2:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<5x7xi32>) outs(%p5, %x5 : tensor<5xi32>, tensor<5xi32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%x: i32, %p: i32, %o: i32):
    %three = arith.constant 3 : i32
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %c = arith.cmpi sgt, %x, %three : i32
    %b = arith.cmpi uge, %j, %two : index
    %t = arith.muli %p, %x : i32
    %u = arith.select %c, %t, %p : i32
    %w = scf.if %b -> i32 {
      %v = arith.xori %x, %o : i32
      %k = arith.select %c, %v, %o : i32
      scf.yield %k : i32
    } else {
      scf.yield %o : i32
    }
    linalg.yield %u, %w : i32, i32
  } -> (tensor<5xi32>, tensor<5xi32>)
  %3 = linalg.generic {indexing_maps = [#ij, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<5x7xf32>) outs(%s0 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %s: f32):
    %c = arith.cmpf ogt, %x, %zero : f32
    %t = arith.addf %x, %s : f32
    %u = arith.select %c, %t, %s : f32
    linalg.yield %u : f32
  } -> tensor<f32>
  // What has to stay whole along the second loop: a running sum, which looks at the accumulator of the sum; and a difference of products.
  %e57 = tensor.empty() : tensor<5x7xi32>
  %4:3 = linalg.generic {indexing_maps = [#ij, #ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<5x7xi32>) outs(%e57, %x5, %p5 : tensor<5x7xi32>, tensor<5xi32>, tensor<5xi32>) {
  ^bb0(%x: i32, %o: i32, %s: i32, %p: i32):
    %t = arith.addi %s, %x : i32
    %y = arith.muli %p, %x : i32
    %u = arith.subi %x, %y : i32
    linalg.yield %t, %t, %u : i32, i32, i32
  } -> (tensor<5x7xi32>, tensor<5xi32>, tensor<5xi32>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2, %2#0, %2#1, %3, %4#0, %4#1, %4#2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<7x5xf32>, tensor<7xf32>, tensor<f32>, tensor<5xi32>, tensor<5xi32>, tensor<f32>, tensor<5x7xi32>, tensor<5xi32>, tensor<5xi32>
}
