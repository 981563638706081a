// Products and elementwise ops on dimensions that were joined for them, and are taken apart behind them, have the dimensions apart.
// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise,cse)" | FileCheck %s

// A linear layer of PyTorch with a bias that is scaled: numbers, broadcasts and what is computed from them are made again in the new shape.
// CHECK-LABEL: func.func @linear
// CHECK-NOT: collapse_shape
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<6x8x16xf32>, tensor<16x4xf32>) outs(%{{.*}} : tensor<6x8x4xf32>)
// CHECK: arith.mulf %[[PRODUCT]], %{{.*}} : tensor<6x8x4xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<6x8x4xf32>)
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : tensor<6x8x4xf32>
// CHECK-NOT: expand_shape
// CHECK: return %[[SUM]]
func.func @linear(%x: tensor<6x8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>, %s: f32) -> tensor<6x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x4xf32>) -> tensor<48x4xf32>
  %scale = linalg.fill ins(%s : f32) outs(%e : tensor<48x4xf32>) -> tensor<48x4xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<6x8x16xf32> into tensor<48x16xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<48x16xf32>, tensor<16x4xf32>) outs(%f : tensor<48x4xf32>) -> tensor<48x4xf32>
  %scaled = arith.mulf %y, %scale : tensor<48x4xf32>
  %bias = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4xf32>) outs(%e : tensor<48x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<48x4xf32>
  %sum = arith.addf %scaled, %bias : tensor<48x4xf32>
  %r = tensor.expand_shape %sum [[0, 1], [2]] output_shape [6, 8, 4] : tensor<48x4xf32> into tensor<6x8x4xf32>
  return %r : tensor<6x8x4xf32>
}

// -----

// Other dimensions that the same reshapes join or take apart stay reshaped; another use gets the dimension joined.
// CHECK-LABEL: func.func @others
// CHECK-SAME: (%[[X:.*]]: tensor<3x2x4x5xf32>, %{{.*}}: tensor<20x20xf32>, %[[MORE:.*]]: tensor<3x2x20xf32>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]] : tensor<3x2x4x5xf32> into tensor<3x2x20xf32>
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %{{.*}} : tensor<3x2x20xf32>, tensor<20x20xf32>)
// CHECK: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[MORE]] : tensor<3x2x20xf32>
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %[[SUM]] {{\[\[}}0, 1], [2]] : tensor<3x2x20xf32> into tensor<6x20xf32>
// CHECK: %[[APART:.*]] = tensor.expand_shape %[[SUM]] {{\[\[}}0], [1], [2, 3]] output_shape [3, 2, 10, 2]
// CHECK: return %[[APART]], %[[JOINED]]
func.func @others(%x: tensor<3x2x4x5xf32>, %w: tensor<20x20xf32>, %m: tensor<3x2x20xf32>) -> (tensor<3x2x10x2xf32>, tensor<6x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x20xf32>) -> tensor<6x20xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<3x2x4x5xf32> into tensor<6x20xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<6x20xf32>, tensor<20x20xf32>) outs(%f : tensor<6x20xf32>) -> tensor<6x20xf32>
  %more = tensor.collapse_shape %m [[0, 1], [2]] : tensor<3x2x20xf32> into tensor<6x20xf32>
  %sum = arith.addf %y, %more : tensor<6x20xf32>
  %r = tensor.expand_shape %sum [[0, 1], [2, 3]] output_shape [3, 2, 10, 2] : tensor<6x20xf32> into tensor<3x2x10x2xf32>
  return %r, %sum : tensor<3x2x10x2xf32>, tensor<6x20xf32>
}

// -----

// Nothing is taken apart that way behind, or only in other parts; a layout is given; the body asks for the row; nothing is multiplied; the
// other factor would have to be reshaped.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-6: tensor.collapse_shape {{.*}} : tensor<3x2x5xf32> into tensor<6x5xf32>
// CHECK: return
func.func @kept(%x: tensor<3x2x5xf32>, %w: tensor<5x5xf32>, %v: tensor<6x5xf32>)
    -> (tensor<6x5xf32>, tensor<2x3x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<3x2x5xf32> into tensor<6x5xf32>
  %joined = linalg.matmul ins(%a, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  %b = tensor.collapse_shape %x [[0, 1], [2]] {tp.other = 1} : tensor<3x2x5xf32> into tensor<6x5xf32>
  %y = linalg.matmul ins(%b, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  %other = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2]] {tp.sharding = [["x"], []]} : tensor<3x2x5xf32> into tensor<6x5xf32>
  %z = linalg.matmul ins(%c, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  %given = tensor.expand_shape %z [[0, 1], [2]] output_shape [3, 2, 5] : tensor<6x5xf32> into tensor<3x2x5xf32>
  %d = tensor.collapse_shape %x [[0, 1], [2]] {tp.other = 2} : tensor<3x2x5xf32> into tensor<6x5xf32>
  %row = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) {
  ^bb0(%in: f32, %o: f32, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %n_f = arith.sitofp %n : i32 to f32
    %m = arith.mulf %in, %o : f32
    %s = arith.addf %m, %n_f : f32
    %r = arith.addf %out, %s : f32
    linalg.yield %r : f32
  } -> tensor<6x5xf32>
  %apart = tensor.expand_shape %row [[0, 1], [2]] output_shape [3, 2, 5] : tensor<6x5xf32> into tensor<3x2x5xf32>
  %g = tensor.collapse_shape %x [[0, 1], [2]] {tp.other = 3} : tensor<3x2x5xf32> into tensor<6x5xf32>
  %exp = math.exp %g : tensor<6x5xf32>
  %map = tensor.expand_shape %exp [[0, 1], [2]] output_shape [3, 2, 5] : tensor<6x5xf32> into tensor<3x2x5xf32>
  %h = tensor.collapse_shape %x [[0, 1], [2]] {tp.other = 4} : tensor<3x2x5xf32> into tensor<6x5xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %dots = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%h, %v : tensor<6x5xf32>, tensor<6x5xf32>) outs(%f1 : tensor<6xf32>) {
  ^bb0(%in: f32, %u: f32, %out: f32):
    %m = arith.mulf %in, %u : f32
    %r = arith.addf %out, %m : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %rows = tensor.expand_shape %dots [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  return %joined, %other, %given, %apart, %map, %rows
      : tensor<6x5xf32>, tensor<2x3x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2xf32>
}

// -----

// The joined batch and heads of an attention: one loop each.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: collapse_shape
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>)
// CHECK-NOT: expand_shape
func.func @heads(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %a = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x6x8xf32> into tensor<8x6x8xf32>
  %b = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x8x6xf32> into tensor<8x8x6xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<8x6x8xf32>, tensor<8x8x6xf32>) outs(%f : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %r = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}
