// Softmax over an uneven dimension; the largest and the sum at once, as two results of one op; linalg.reduce. tp.factors: it would be cheaper to
// gather first.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4 --launch processes

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<5x13xf32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<5x13xf32> {tp.sharding = [["dp"], ["tp"]]}, tensor<5xf32>, tensor<5xf32>, tensor<13xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %m = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x13xf32>) outs(%l : tensor<5xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maximumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %e2 = tensor.empty() : tensor<5x13xf32>
  %p = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<5x13xf32>, tensor<5xf32>) outs(%e2 : tensor<5x13xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  } -> tensor<5x13xf32>
  %s = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<5x13xf32>) outs(%z : tensor<5xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %q = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<5x13xf32>, tensor<5xf32>) outs(%e2 : tensor<5x13xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %v = arith.divf %x, %y : f32
    linalg.yield %v : f32
  } -> tensor<5x13xf32>
  %two:2 = linalg.generic {indexing_maps = [#id, #rows, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x13xf32>) outs(%l, %z : tensor<5xf32>, tensor<5xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32, %acc2: f32):
    %v = arith.maxnumf %acc, %x : f32
    %w = arith.addf %acc2, %x : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  %ec = tensor.empty() : tensor<13xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%ec : tensor<13xf32>) -> tensor<13xf32>
  %r = linalg.reduce ins(%a : tensor<5x13xf32>) outs(%zc : tensor<13xf32>) dimensions = [0]
    (%x: f32, %acc: f32) {
      %v = arith.addf %acc, %x : f32
      linalg.yield %v : f32
    }
  return %q, %two#0, %two#1, %r : tensor<5x13xf32>, tensor<5xf32>, tensor<5xf32>, tensor<13xf32>
}
