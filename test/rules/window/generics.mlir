// Generic ops whose maps shift, stride, reverse or slide: the local map counts from the first element that was fetched.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh y=5 --strategy follow
// RUN: shard-run %s --mesh 2x2

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<20x3xf32> {tp.sharding = [["x"], []]}, %b: tensor<20xi32> {tp.sharding = [["y"]]}, %k: tensor<4xf32>, %ki: tensor<3xi32>)
    -> (tensor<9x3xf32>, tensor<20x3xf32>, tensor<5x3xf32>, tensor<17xi32>, tensor<17x3xf32>, tensor<3x3xf32>, tensor<12x4x3xf32>, tensor<9xi32>, tensor<10x10xi32>, tensor<18xi32>, tensor<18xi32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  // A shift, with the global position added.
  %e1 = tensor.empty() : tensor<9x3xf32>
  %1 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [affine_map<(d0, d1) -> (d0 + 7, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<20x3xf32>) outs(%e1 : tensor<9x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = arith.addf %x, %f : f32
    linalg.yield %s : f32
  } -> tensor<9x3xf32>
  // A reversal, together with the tensor itself.
  %e2 = tensor.empty() : tensor<20x3xf32>
  %2 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [affine_map<(d0, d1) -> (19 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<20x3xf32>, tensor<20x3xf32>) outs(%e2 : tensor<20x3xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<20x3xf32>
  // Every fourth row, backwards.
  %e3 = tensor.empty() : tensor<5x3xf32>
  %3 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [affine_map<(d0, d1) -> (d0 * -4 + 17, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<20x3xf32>) outs(%e3 : tensor<5x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<5x3xf32>
  // A correlation with a kernel and the same turned around.
  %e4 = tensor.empty() : tensor<17xi32>
  %f4 = linalg.fill ins(%zi : i32) outs(%e4 : tensor<17xi32>) -> tensor<17xi32>
  %4 = linalg.generic {tp.sharding = [[["y"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (2 - d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b, %ki, %ki : tensor<20xi32>, tensor<3xi32>, tensor<3xi32>) outs(%f4 : tensor<17xi32>) {
  ^bb0(%x: i32, %w: i32, %v: i32, %o: i32):
    %q = arith.addi %w, %v : i32
    %p = arith.muli %x, %q : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<17xi32>
  // A convolution proper: the window goes back.
  %e5 = tensor.empty() : tensor<17x3xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<17x3xf32>) -> tensor<17x3xf32>
  %5 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [affine_map<(d0, d1, d2) -> (d0 - d2 + 3, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %k : tensor<20x3xf32>, tensor<4xf32>) outs(%f5 : tensor<17x3xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<17x3xf32>
  // A window that is larger than a shard, for fewer points than there are devices.
  %w = tensor.empty() : tensor<18xf32>
  %e6 = tensor.empty() : tensor<3x3xf32>
  %f6 = linalg.fill ins(%z : f32) outs(%e6 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<20x3xf32>, tensor<18xf32>) outs(%f6 : tensor<3x3xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  // All windows as a tensor: of the two loops that the result has, the longer one is split.
  %e7 = tensor.empty() : tensor<12x4x3xf32>
  %7 = linalg.generic {tp.sharding = [[["x"], [], []]], indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d1 * 2, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<20x3xf32>) outs(%e7 : tensor<12x4x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<12x4x3xf32>
  // Differences of neighbors: one operand, twice.
  %e8 = tensor.empty() : tensor<9xi32>
  %8 = linalg.generic {tp.sharding = [[["y"]]], indexing_maps = [affine_map<(d0) -> (d0 * 2 + 2)>, affine_map<(d0) -> (d0 * 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%b, %b : tensor<20xi32>, tensor<20xi32>) outs(%e8 : tensor<9xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %s = arith.subi %x, %y : i32
    linalg.yield %s : i32
  } -> tensor<9xi32>
  // A Hankel matrix: each loop could be split, not both.
  %e9 = tensor.empty() : tensor<10x10xi32>
  %9 = linalg.generic {tp.sharding = [[["y"], []]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<20xi32>) outs(%e9 : tensor<10x10xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<10x10xi32>
  // Two results of one window.
  %wi = tensor.empty() : tensor<3xi32>
  %e10 = tensor.empty() : tensor<18xi32>
  %f10 = linalg.fill ins(%zi : i32) outs(%e10 : tensor<18xi32>) -> tensor<18xi32>
  %10:2 = linalg.generic {tp.sharding = [[["y"]], [["y"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b, %wi : tensor<20xi32>, tensor<3xi32>) outs(%f10, %f10 : tensor<18xi32>, tensor<18xi32>) {
  ^bb0(%x: i32, %w0: i32, %o: i32, %q: i32):
    %s = arith.addi %o, %x : i32
    %m = arith.maxsi %q, %x : i32
    linalg.yield %s, %m : i32, i32
  } -> (tensor<18xi32>, tensor<18xi32>)
  return %1, %2, %3, %4, %5, %6, %7, %8, %9, %10#0, %10#1 : tensor<9x3xf32>, tensor<20x3xf32>, tensor<5x3xf32>, tensor<17xi32>, tensor<17x3xf32>, tensor<3x3xf32>, tensor<12x4x3xf32>, tensor<9xi32>, tensor<10x10xi32>, tensor<18xi32>, tensor<18xi32>
}
