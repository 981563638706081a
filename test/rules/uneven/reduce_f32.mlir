// Each kind of reduction, along a dimension and along all, over uneven shards whose padding holds NaN or -1. tp.factors: with sizes like
// these it would be cheaper to gather first.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow

#in = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<7x10xf32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>) {
  %c0_0 = arith.constant 0.0 : f32
  %e0_0 = tensor.empty() : tensor<7xf32>
  %f0_0 = linalg.fill ins(%c0_0 : f32) outs(%e0_0 : tensor<7xf32>) -> tensor<7xf32>
  %r0_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f0_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c0_1 = arith.constant 0.0 : f32
  %e0_1 = tensor.empty() : tensor<f32>
  %f0_1 = linalg.fill ins(%c0_1 : f32) outs(%e0_1 : tensor<f32>) -> tensor<f32>
  %r0_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f0_1 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %c1_0 = arith.constant 1.0 : f32
  %e1_0 = tensor.empty() : tensor<7xf32>
  %f1_0 = linalg.fill ins(%c1_0 : f32) outs(%e1_0 : tensor<7xf32>) -> tensor<7xf32>
  %r1_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f1_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.mulf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c2_0 = arith.constant 0xFF800000 : f32
  %e2_0 = tensor.empty() : tensor<7xf32>
  %f2_0 = linalg.fill ins(%c2_0 : f32) outs(%e2_0 : tensor<7xf32>) -> tensor<7xf32>
  %r2_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f2_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maximumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c2_1 = arith.constant 0xFF800000 : f32
  %e2_1 = tensor.empty() : tensor<f32>
  %f2_1 = linalg.fill ins(%c2_1 : f32) outs(%e2_1 : tensor<f32>) -> tensor<f32>
  %r2_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f2_1 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maximumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %c3_0 = arith.constant 0x7F800000 : f32
  %e3_0 = tensor.empty() : tensor<7xf32>
  %f3_0 = linalg.fill ins(%c3_0 : f32) outs(%e3_0 : tensor<7xf32>) -> tensor<7xf32>
  %r3_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f3_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.minimumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c3_1 = arith.constant 0x7F800000 : f32
  %e3_1 = tensor.empty() : tensor<f32>
  %f3_1 = linalg.fill ins(%c3_1 : f32) outs(%e3_1 : tensor<f32>) -> tensor<f32>
  %r3_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f3_1 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.minimumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %c4_0 = arith.constant 0xFF800000 : f32
  %e4_0 = tensor.empty() : tensor<7xf32>
  %f4_0 = linalg.fill ins(%c4_0 : f32) outs(%e4_0 : tensor<7xf32>) -> tensor<7xf32>
  %r4_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f4_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maxnumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c4_1 = arith.constant 0xFF800000 : f32
  %e4_1 = tensor.empty() : tensor<f32>
  %f4_1 = linalg.fill ins(%c4_1 : f32) outs(%e4_1 : tensor<f32>) -> tensor<f32>
  %r4_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f4_1 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maxnumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %c5_0 = arith.constant 2.5 : f32
  %e5_0 = tensor.empty() : tensor<7xf32>
  %f5_0 = linalg.fill ins(%c5_0 : f32) outs(%e5_0 : tensor<7xf32>) -> tensor<7xf32>
  %r5_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f5_0 : tensor<7xf32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.minnumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<7xf32>
  %c5_1 = arith.constant 2.5 : f32
  %e5_1 = tensor.empty() : tensor<f32>
  %f5_1 = linalg.fill ins(%c5_1 : f32) outs(%e5_1 : tensor<f32>) -> tensor<f32>
  %r5_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xf32>) outs(%f5_1 : tensor<f32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.minnumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  return %r0_0, %r0_1, %r1_0, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1 : tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>
}
