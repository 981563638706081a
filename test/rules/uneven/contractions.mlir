// Contractions with uneven rows, columns, inner and batch dimensions; one operand without the inner dimension, which is infinite: times
// the zero of a mask that is NaN; a quantized product, whose body follows from its name and which is gathered. tp.factors: with sizes like
// these it would be cheaper to gather all of it first.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4

#ik = affine_map<(i, k) -> (i, k)>
#i = affine_map<(i, k) -> (i)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<7x10xf32> {tp.sharding = [["dp"], ["tp"]]}, %b: tensor<10x5xf32> {tp.sharding = [["tp"], []]},
                %c: tensor<3x5x6xf32> {tp.sharding = [["tp"], ["dp"], []]}, %d: tensor<3x6x7xf32> {tp.sharding = [["tp"], [], []]},
                %g: tensor<7x10xi32> {tp.sharding = [["dp"], ["tp"]]}, %h: tensor<10x5xi32> {tp.sharding = [["tp"], []]},
                %v: tensor<7xf32> {tp.sharding = [["dp"]]}, %q: tensor<7x10xi8> {tp.sharding = [["dp"], ["tp"]]}, %r: tensor<10x5xi8> {tp.sharding = [["tp"], []]})
    -> (tensor<7x5xf32>, tensor<3x5x7xf32>, tensor<7x5xi32>, tensor<7xf32>, tensor<10xf32>, tensor<7x5xi32>, tensor<7x5xf32> {tp.sharding = [[], ["tp"]]}) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<7x5xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<7x5xf32>) -> tensor<7x5xf32>
  %0 = linalg.matmul {tp.factors = {dp = 0, tp = 2}} ins(%a, %b : tensor<7x10xf32>, tensor<10x5xf32>) outs(%f0 : tensor<7x5xf32>) -> tensor<7x5xf32>
  %e1 = tensor.empty() : tensor<3x5x7xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %1 = linalg.batch_matmul {tp.factors = {tp = 0, dp = 1}} ins(%c, %d : tensor<3x5x6xf32>, tensor<3x6x7xf32>) outs(%f1 : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %e2 = tensor.empty() : tensor<7x5xi32>
  %f2 = linalg.fill ins(%zi : i32) outs(%e2 : tensor<7x5xi32>) -> tensor<7x5xi32>
  %2 = linalg.matmul {tp.factors = {dp = 0, tp = 2}} ins(%g, %h : tensor<7x10xi32>, tensor<10x5xi32>) outs(%f2 : tensor<7x5xi32>) -> tensor<7x5xi32>
  %e3 = tensor.empty() : tensor<7xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<7xf32>) -> tensor<7xf32>
  %big = arith.constant dense<1.0e6> : tensor<7xf32>
  %vv = arith.mulf %v, %v : tensor<7xf32>
  %bv = arith.mulf %vv, %big : tensor<7xf32>
  %n = math.exp %bv : tensor<7xf32>
  %aa = arith.mulf %a, %a : tensor<7x10xf32>
  %3 = linalg.generic {indexing_maps = [#ik, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%aa, %n : tensor<7x10xf32>, tensor<7xf32>) outs(%f3 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  %e4 = tensor.empty() : tensor<10xf32>
  %f4 = linalg.fill ins(%z : f32) outs(%e4 : tensor<10xf32>) -> tensor<10xf32>
  %4 = linalg.vecmat {tp.factors = {tp = 0, dp = 1}} ins(%v, %a : tensor<7xf32>, tensor<7x10xf32>) outs(%f4 : tensor<10xf32>) -> tensor<10xf32>
  %5 = linalg.quantized_matmul ins(%q, %r, %zi, %zi : tensor<7x10xi8>, tensor<10x5xi8>, i32, i32) outs(%f2 : tensor<7x5xi32>) -> tensor<7x5xi32>
  %6 = linalg.matmul ins(%a, %b : tensor<7x10xf32>, tensor<10x5xf32>) outs(%f0 : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<7x5xf32>, tensor<3x5x7xf32>, tensor<7x5xi32>, tensor<7xf32>, tensor<10xf32>, tensor<7x5xi32>, tensor<7x5xf32>
}
