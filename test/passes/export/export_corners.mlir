// Tensors and windows without elements, operands of two types, loops and switches over unusual indices. Imported again, the program gives the same results.
// RUN: rm -rf %t && mkdir %t
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t/main.mlir
// RUN: FileCheck %s --input-file %t/main.mlir
// RUN: shard-run %s --mesh 1 --output @%t/0.npy --output @%t/1.npy --output @%t/2.npy --output @%t/3.npy --output @%t/4.npy --output @%t/5.npy --output @%t/6.npy --output @%t/7.npy --output @%t/8.npy
// RUN: shard-run %t/main.mlir --mesh 1 --expected-output @%t/0.npy --expected-output @%t/1.npy --expected-output @%t/2.npy --expected-output @%t/3.npy --expected-output @%t/4.npy --expected-output @%t/5.npy --expected-output @%t/6.npy --expected-output @%t/7.npy --expected-output @%t/8.npy

// CHECK: "stablehlo.constant"() {{{.*}}tensor<0xf32>} : () -> tensor<0xf32>
// The types of a convolution are one.
// CHECK: %[[A:.*]] = "stablehlo.convert"(%{{.*}}) : (tensor<{{.*}}xf16>) -> tensor<{{.*}}xf32>
// CHECK: %[[B:.*]] = "stablehlo.convert"(%{{.*}}) : (tensor<{{.*}}xbf16>) -> tensor<{{.*}}xf32>
// CHECK: "stablehlo.convolution"(%[[A]], %[[B]])
// An unsigned counter.
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.compare"({{.*}} UNSIGNED>{{.*}} LT>} : (tensor<ui8>, tensor<ui8>)
// 2^32 is none of the cases.
// CHECK: "stablehlo.clamp"
// CHECK: "stablehlo.case"
// Towards zero.
// CHECK: "stablehlo.ceil"
// CHECK: "stablehlo.floor"
func.func @main(%x: tensor<4xf32>, %none: tensor<0xf32>, %three: tensor<3xf32>, %init: tensor<5xf32>, %image: tensor<7xf16>, %kernel: tensor<3xbf16>, %index: tensor<1xi64>)
    -> (tensor<0xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<0xf32>, tensor<5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<4xf32>) {
  %0 = tensor.from_elements : tensor<0xf32>
  // no element per window: as a reduction, a convolution, and otherwise
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %none : tensor<4xf32>, tensor<0xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %none : tensor<4xf32>, tensor<0xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %none : tensor<4xf32>, tensor<0xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %e = math.exp %p : f32
    %m = arith.mulf %e, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  // no window
  %two = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%two, %three : tensor<2xf32>, tensor<3xf32>) outs(%none : tensor<0xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<0xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%image, %kernel : tensor<7xf16>, tensor<3xbf16>) outs(%init : tensor<5xf32>) {
  ^bb0(%p: f16, %q: bf16, %o: f32):
    %a = arith.extf %p : f16 to f32
    %b = arith.extf %q : bf16 to f32
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %zero = arith.constant 0 : i8
  %fifty = arith.constant 50 : i8
  %high = arith.constant -56 : i8
  %none32 = arith.constant 0 : i32
  %one32 = arith.constant 1 : i32
  %count = scf.for unsigned %i = %zero to %high step %fifty iter_args(%c = %none32) -> (i32) : i8 {
    %n = arith.addi %c, %one32 : i32
    scf.yield %n : i32
  }
  %6 = tensor.from_elements %count : tensor<1xi32>
  %c0 = arith.constant 0 : index
  %any = tensor.extract %index[%c0] : tensor<1xi64>
  %nothing = arith.constant 0 : i64
  %large = arith.constant 4294967296 : i64
  %masked = arith.andi %any, %nothing : i64
  %far = arith.addi %masked, %large : i64
  %at = arith.index_cast %far : i64 to index
  %chosen = scf.index_switch %at -> i32
  case 0 {
    scf.yield %none32 : i32
  }
  default {
    scf.yield %one32 : i32
  }
  %7 = tensor.from_elements %chosen : tensor<1xi32>
  %8 = math.trunc %x : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<0xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<0xf32>, tensor<5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<4xf32>
}
