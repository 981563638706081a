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
func.func @main(%a: tensor<7x10xi32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>) {
  %c0_0 = arith.constant 0 : i32
  %e0_0 = tensor.empty() : tensor<7xi32>
  %f0_0 = linalg.fill ins(%c0_0 : i32) outs(%e0_0 : tensor<7xi32>) -> tensor<7xi32>
  %r0_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f0_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.addi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c0_1 = arith.constant 0 : i32
  %e0_1 = tensor.empty() : tensor<i32>
  %f0_1 = linalg.fill ins(%c0_1 : i32) outs(%e0_1 : tensor<i32>) -> tensor<i32>
  %r0_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f0_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.addi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c1_0 = arith.constant 1 : i32
  %e1_0 = tensor.empty() : tensor<7xi32>
  %f1_0 = linalg.fill ins(%c1_0 : i32) outs(%e1_0 : tensor<7xi32>) -> tensor<7xi32>
  %r1_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f1_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.muli %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c1_1 = arith.constant 1 : i32
  %e1_1 = tensor.empty() : tensor<i32>
  %f1_1 = linalg.fill ins(%c1_1 : i32) outs(%e1_1 : tensor<i32>) -> tensor<i32>
  %r1_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f1_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.muli %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c2_0 = arith.constant -2147483648 : i32
  %e2_0 = tensor.empty() : tensor<7xi32>
  %f2_0 = linalg.fill ins(%c2_0 : i32) outs(%e2_0 : tensor<7xi32>) -> tensor<7xi32>
  %r2_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f2_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.maxsi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c2_1 = arith.constant -2147483648 : i32
  %e2_1 = tensor.empty() : tensor<i32>
  %f2_1 = linalg.fill ins(%c2_1 : i32) outs(%e2_1 : tensor<i32>) -> tensor<i32>
  %r2_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f2_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.maxsi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c3_0 = arith.constant 7 : i32
  %e3_0 = tensor.empty() : tensor<7xi32>
  %f3_0 = linalg.fill ins(%c3_0 : i32) outs(%e3_0 : tensor<7xi32>) -> tensor<7xi32>
  %r3_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f3_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.minsi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c3_1 = arith.constant 7 : i32
  %e3_1 = tensor.empty() : tensor<i32>
  %f3_1 = linalg.fill ins(%c3_1 : i32) outs(%e3_1 : tensor<i32>) -> tensor<i32>
  %r3_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f3_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.minsi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c4_0 = arith.constant 0 : i32
  %e4_0 = tensor.empty() : tensor<7xi32>
  %f4_0 = linalg.fill ins(%c4_0 : i32) outs(%e4_0 : tensor<7xi32>) -> tensor<7xi32>
  %r4_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f4_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.maxui %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c4_1 = arith.constant 0 : i32
  %e4_1 = tensor.empty() : tensor<i32>
  %f4_1 = linalg.fill ins(%c4_1 : i32) outs(%e4_1 : tensor<i32>) -> tensor<i32>
  %r4_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f4_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.maxui %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c5_0 = arith.constant -1 : i32
  %e5_0 = tensor.empty() : tensor<7xi32>
  %f5_0 = linalg.fill ins(%c5_0 : i32) outs(%e5_0 : tensor<7xi32>) -> tensor<7xi32>
  %r5_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f5_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.minui %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c5_1 = arith.constant -1 : i32
  %e5_1 = tensor.empty() : tensor<i32>
  %f5_1 = linalg.fill ins(%c5_1 : i32) outs(%e5_1 : tensor<i32>) -> tensor<i32>
  %r5_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f5_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.minui %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c6_0 = arith.constant -1 : i32
  %e6_0 = tensor.empty() : tensor<7xi32>
  %f6_0 = linalg.fill ins(%c6_0 : i32) outs(%e6_0 : tensor<7xi32>) -> tensor<7xi32>
  %r6_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f6_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.andi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c6_1 = arith.constant -1 : i32
  %e6_1 = tensor.empty() : tensor<i32>
  %f6_1 = linalg.fill ins(%c6_1 : i32) outs(%e6_1 : tensor<i32>) -> tensor<i32>
  %r6_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f6_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.andi %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c7_0 = arith.constant 0 : i32
  %e7_0 = tensor.empty() : tensor<7xi32>
  %f7_0 = linalg.fill ins(%c7_0 : i32) outs(%e7_0 : tensor<7xi32>) -> tensor<7xi32>
  %r7_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f7_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.ori %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c7_1 = arith.constant 0 : i32
  %e7_1 = tensor.empty() : tensor<i32>
  %f7_1 = linalg.fill ins(%c7_1 : i32) outs(%e7_1 : tensor<i32>) -> tensor<i32>
  %r7_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f7_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.ori %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %c8_0 = arith.constant 5 : i32
  %e8_0 = tensor.empty() : tensor<7xi32>
  %f8_0 = linalg.fill ins(%c8_0 : i32) outs(%e8_0 : tensor<7xi32>) -> tensor<7xi32>
  %r8_0 = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f8_0 : tensor<7xi32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.xori %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<7xi32>
  %c8_1 = arith.constant 5 : i32
  %e8_1 = tensor.empty() : tensor<i32>
  %f8_1 = linalg.fill ins(%c8_1 : i32) outs(%e8_1 : tensor<i32>) -> tensor<i32>
  %r8_1 = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<7x10xi32>) outs(%f8_1 : tensor<i32>) attrs = {tp.factors = {dp = 0, tp = 1}} {
  ^bb0(%x: i32, %acc: i32):
    %v = arith.xori %acc, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  return %r0_0, %r0_1, %r1_0, %r1_1, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1, %r6_0, %r6_1, %r7_0, %r7_1, %r8_0, %r8_1 : tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>, tensor<7xi32>, tensor<i32>
}
