// The program computes the same with and without the pass.
//
// RUN: shard-opt %s --pass-pipeline="builtin.module(one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,convert-bufferization-to-memref,func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)" | mlir-runner -e main --entry-point-result=f32 | FileCheck %s
// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s --check-prefix=RAISED
// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-raise,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,convert-bufferization-to-memref,func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)" | mlir-runner -e main --entry-point-result=f32 | FileCheck %s

// CHECK: 1.431126e+06

// RAISED-LABEL: func.func @concat
// RAISED: tensor.concat
// RAISED-LABEL: func.func @wrapped
// RAISED: linalg.generic {{.*}} ins(%{{.*}} : tensor<5x3xf32>)
// RAISED-LABEL: func.func @maximum
// RAISED-NOT: i64
// RAISED-LABEL: func.func @main

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#col = affine_map<(d0, d1) -> (0, d1)>
#one = affine_map<(d0) -> (d0)>
#out = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// a, rows 1 to 3 of a, b
func.func @concat(%a: tensor<5x3xf32>, %b: tensor<2x3xf32>) -> tensor<10x3xf32> {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<10x3xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<10x3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %i, %c5 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<5x3xf32>
      scf.yield %x : f32
    } else {
      %last = arith.cmpi sgt, %i, %c7 : index
      %w = scf.if %last -> (f32) {
        %k = arith.subi %i, %c8 : index
        %x = tensor.extract %b[%k, %j] : tensor<2x3xf32>
        scf.yield %x : f32
      } else {
        %k = arith.subi %i, %c4 : index
        %x = tensor.extract %a[%k, %j] : tensor<5x3xf32>
        scf.yield %x : f32
      }
      scf.yield %w : f32
    }
    linalg.yield %v : f32
  } -> tensor<10x3xf32>
  return %r : tensor<10x3xf32>
}

// a[i, j], by iotas of which negative ones would count from the end.
func.func @wrapped(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %c0 = arith.constant 0 : i64
  %c5 = arith.constant 5 : i64
  %rows = arith.constant dense<[[0], [1], [2], [3], [4]]> : tensor<5x1xi64>
  %e3 = tensor.empty() : tensor<3xi64>
  %i3 = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e3 : tensor<3xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<3xi64>
  %cols = tensor.expand_shape %i3 [[0, 1]] output_shape [1, 3] : tensor<3xi64> into tensor<1x3xi64>
  %e = tensor.empty() : tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [#row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%rows, %cols : tensor<5x1xi64>, tensor<1x3xi64>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%row: i64, %col: i64, %out: f32):
    %negative = arith.cmpi slt, %row, %c0 : i64
    %wrapped = arith.addi %row, %c5 : i64
    %i0 = arith.select %negative, %wrapped, %row : i64
    %i = arith.index_cast %i0 : i64 to index
    %j = arith.index_cast %col : i64 to index
    %x = tensor.extract %a[%i, %j] : tensor<5x3xf32>
    linalg.yield %x : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// Maximum of each column; its index is not used.
func.func @maximum(%a: tensor<5x3xf32>) -> tensor<3xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %n = tensor.empty() : tensor<3xi64>
  %z = linalg.fill ins(%zero : i64) outs(%n : tensor<3xi64>) -> tensor<3xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #out, #out], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<5x3xf32>) outs(%f, %z : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%in: f32, %value: f32, %index: i64):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %value : f32
    %g = arith.cmpf ogt, %in, %value : f32
    %s = arith.select %g, %k, %index : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %r#0 : tensor<3xf32>
}

// The sum of all elements, each times its number: another order gives another sum.
func.func @checksum(%a: tensor<10x3xf32>, %init: tensor<f32>) -> tensor<f32> {
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<10x3xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i3 = arith.muli %i, %c3 : index
    %k = arith.addi %i3, %j : index
    %n = arith.addi %k, %c7 : index
    %n32 = arith.index_cast %n : index to i32
    %f = arith.sitofp %n32 : i32 to f32
    %p = arith.mulf %f, %in : f32
    %s = arith.addf %p, %sum : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func @main() -> f32 {
  %a = arith.constant dense<[[1.0, 4.0, 9.0], [16.0, 25.0, 36.0], [49.0, 64.0, 81.0], [100.0, 2.0, 3.0], [5.0, 7.0, 11.0]]> : tensor<5x3xf32>
  %b = arith.constant dense<[[-1.0, 3.0, 8.0], [0.5, 12.0, 13.0]]> : tensor<2x3xf32>
  %w = call @wrapped(%a) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %c = call @concat(%w, %b) : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<10x3xf32>
  %m = call @maximum(%w) : (tensor<5x3xf32>) -> tensor<3xf32>
  %e = tensor.empty() : tensor<10x3xf32>
  %s = linalg.generic {indexing_maps = [#id, #out, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %m : tensor<10x3xf32>, tensor<3xf32>) outs(%e : tensor<10x3xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<10x3xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = call @checksum(%s, %zero) : (tensor<10x3xf32>, tensor<f32>) -> tensor<f32>
  %x = tensor.extract %r[] : tensor<f32>
  return %x : f32
}
