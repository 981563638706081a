// Parts follow each other in the order of the axes on the dimension, which may not be that of the mesh; sub-axes; empty shards.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x2
// RUN: shard-run %s --mesh 4x2 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%n: tensor<3x10xi32> {tp.sharding = [[], ["tp", "dp"]]}, %p: tensor<3x10xf32> {tp.sharding = [[], ["tp", "dp"]]},
                %m: tensor<3x10xi32> {tp.sharding = [[], ["tp:(1)2", "dp"]]})
    -> (tensor<3xi32>, tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>) {
  %min = arith.constant -2147483648 : i32
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<3xi32>
  %ef = tensor.empty() : tensor<3xf32>
  %v = linalg.fill ins(%min : i32) outs(%ei : tensor<3xi32>) -> tensor<3xi32>
  %l = linalg.fill ins(%least : f32) outs(%ef : tensor<3xf32>) -> tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ef : tensor<3xf32>) -> tensor<3xf32>
  // Two values only, so that what comes with the first of equals tells the order.
  %0:2 = linalg.generic {indexing_maps = [#ij, #ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%n, %p : tensor<3x10xi32>, tensor<3x10xf32>) outs(%v, %f : tensor<3xi32>, tensor<3xf32>) attrs = {tp.factors = {dp = 1, tp = 1}} {
  ^bb0(%in: i32, %x: f32, %out: i32, %b: f32):
    %one = arith.constant 1 : i32
    %r = arith.andi %in, %one : i32
    %g = arith.cmpi sgt, %r, %out : i32
    %w = arith.select %g, %r, %out : i32
    %y = arith.select %g, %x, %b : f32
    linalg.yield %w, %y : i32, f32
  } -> (tensor<3xi32>, tensor<3xf32>)
  %j = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<3x10xi32>) outs(%v : tensor<3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %g = arith.cmpi sgt, %in, %out : i32
    %w = arith.select %g, %in, %out : i32
    linalg.yield %w : i32
  } -> tensor<3xi32>
  // A sum that is rescaled depends on the order too.
  %1:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<3x10xf32>) outs(%l, %f : tensor<3xf32>, tensor<3xf32>) attrs = {tp.factors = {dp = 1, tp = 1}} {
  ^bb0(%x: f32, %g: f32, %s: f32):
    %n2 = arith.maximumf %g, %x : f32
    %d = arith.subf %g, %n2 : f32
    %e = math.exp %d : f32
    %b = arith.subf %x, %n2 : f32
    %q = math.exp %b : f32
    %t = arith.mulf %s, %e : f32
    %u = arith.addf %t, %q : f32
    linalg.yield %n2, %u : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %j, %1#0, %1#1 : tensor<3xi32>, tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>
}
