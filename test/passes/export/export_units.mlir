// What torch-mlir writes: dimensions of size 1 that a reduction keeps, diagonals, and integers divided downwards and upwards.
// Imported again, the program gives the same results.
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: rm -rf %t && mkdir %t && shard-run %s --mesh 1 --output @%t/o.0.npy --output @%t/o.1.npy --output @%t/o.2.npy --output @%t/o.3.npy --output @%t/o.4.npy --output @%t/o.5.npy --output @%t/o.6.npy
// RUN: shard-run %t.mlir --mesh 1 --expected-output @%t/o.0.npy --expected-output @%t/o.1.npy --expected-output @%t/o.2.npy --expected-output @%t/o.3.npy --expected-output @%t/o.4.npy --expected-output @%t/o.5.npy --expected-output @%t/o.6.npy
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=2},tp-export-stablehlo)' -o %t.local.mlir
// RUN: shard-run %t.local.mlir --expected-output @%t/o.0.npy --expected-output @%t/o.1.npy --expected-output @%t/o.2.npy --expected-output @%t/o.3.npy --expected-output @%t/o.4.npy --expected-output @%t/o.5.npy --expected-output @%t/o.6.npy

// What is reduced is the tensor, not the sum of it and 0.
// CHECK: "func.func"
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8x6xf32>,
// CHECK: %[[SUM:.*]] = "stablehlo.reduce"(%[[X]],
// CHECK: "stablehlo.reshape"(%[[SUM]]) : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
// CHECK: %[[DOT:.*]] = "stablehlo.dot_general"
// CHECK: "stablehlo.reshape"(%[[DOT]]) : (tensor<4x4xf32>) -> tensor<4x1x4xf32>
// CHECK: "stablehlo.reduce_window"
// CHECK: "stablehlo.convolution"

// The diagonal is every seventh element of 36.
// CHECK: %[[FLAT:.*]] = "stablehlo.reshape"(%{{.*}}) : (tensor<6x6x4xf32>) -> tensor<36x4xf32>
// CHECK: "stablehlo.slice"(%[[FLAT]]) {{.*}}strides = array<i64: 7, 1>
// CHECK: "stablehlo.remainder"

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#kept = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#window = affine_map<(d0, d1, d2) -> (d1 + d2, d0)>
func.func @main(%x: tensor<4x8x6xf32>, %y: tensor<6x4x6xf32>)
    -> (tensor<4x1x6xf32>, tensor<4x1x4xf32>, tensor<1x6x6xf32>, tensor<4x1x6xf32>, tensor<6x4xf32>, tensor<8x6xi32>, tensor<4x1x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32

  // a sum whose dimension is kept
  %e0 = tensor.empty() : tensor<4x1x6xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  %sum = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<4x8x6xf32>) outs(%f0 : tensor<4x1x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x1x6xf32>

  // a product with a dimension of size 1 in its middle
  %left = tensor.extract_slice %x[0, 0, 0] [4, 1, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<4x6xf32>
  %right = tensor.extract_slice %y[0, 0, 0] [1, 4, 6] [1, 1, 1] : tensor<6x4x6xf32> to tensor<4x6xf32>
  %e1 = tensor.empty() : tensor<4x1x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%left, %right : tensor<4x6xf32>, tensor<4x6xf32>) outs(%f1 : tensor<4x1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x1x4xf32>

  // the largest of a window, and a convolution
  %image = tensor.extract_slice %x[0, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<8x6xf32>
  %e2 = tensor.empty() : tensor<1x6x6xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %reach = tensor.empty() : tensor<3xf32>
  %largest = linalg.generic {indexing_maps = [#window, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (0, d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %reach : tensor<8x6xf32>, tensor<3xf32>) outs(%f2 : tensor<1x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.maximumf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<1x6x6xf32>
  %kernel = tensor.extract_slice %y[0, 0, 0] [4, 3, 6] [1, 1, 1] : tensor<6x4x6xf32> to tensor<4x3x6xf32>
  %convolved = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1 + d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d1)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%image, %kernel : tensor<8x6xf32>, tensor<4x3x6xf32>) outs(%f0 : tensor<4x1x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x1x6xf32>

  // a diagonal whose dimensions are not neighbours
  %e4 = tensor.empty() : tensor<6x4xf32>
  %diagonal = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<6x4x6xf32>) outs(%e4 : tensor<6x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<6x4xf32>

  // divisions of positive and negative numbers: the sum of three tells each from the others
  %e5 = tensor.empty() : tensor<8x6xi32>
  %divided = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e5 : tensor<8x6xi32>) {
  ^bb0(%b: i32):
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c100 = arith.constant 100 : i32
    %c10000 = arith.constant 10000 : i32
    %one = arith.constant 1 : i32
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %r = arith.index_cast %row : index to i32
    %c = arith.index_cast %column : index to i32
    %n = arith.subi %r, %c4 : i32
    %c3 = arith.subi %c, %c2 : i32
    %nothing = arith.constant 0 : i32
    %by_zero = arith.cmpi eq, %c3, %nothing : i32
    %d = arith.select %by_zero, %c4, %c3 : i32
    %down = arith.floordivsi %n, %d : i32
    %up = arith.ceildivsi %n, %d : i32
    %positive = arith.addi %c, %one : i32
    %unsigned = arith.ceildivui %r, %positive : i32
    %p = arith.muli %up, %c100 : i32
    %q = arith.muli %unsigned, %c10000 : i32
    %s = arith.addi %down, %p : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<8x6xi32>

  // a reduction that is no combination: each step halves what was before
  %unrolled = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<4x8x6xf32>) outs(%f0 : tensor<4x1x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %half = arith.constant 0.5 : f32
    %h = arith.mulf %b, %half : f32
    %s = arith.addf %a, %h : f32
    linalg.yield %s : f32
  } -> tensor<4x1x6xf32>
  return %sum, %product, %largest, %convolved, %diagonal, %divided, %unrolled
    : tensor<4x1x6xf32>, tensor<4x1x4xf32>, tensor<1x6x6xf32>, tensor<4x1x6xf32>, tensor<6x4xf32>, tensor<8x6xi32>, tensor<4x1x6xf32>
}
