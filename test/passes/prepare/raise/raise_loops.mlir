// A parallel loop on which a result does not depend is a reduction; fusion took its iterations for
// independent, so that each began with the initial value.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise)' | FileCheck %s
// RUN: shard-run %s --function sums --mesh 1 --reference=evaluator | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function sums --mesh 4 --reference=evaluator | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function last --mesh 4 --reference=evaluator | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function both --mesh 4 --reference=evaluator | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function single --mesh 4 --reference=evaluator | FileCheck %s --check-prefix=RESULT
// RESULT: verified
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func @sums
// CHECK: iterator_types = ["reduction", "parallel"]
func.func @sums(%a: tensor<40x32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<40x32xf32>) outs(%f : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<32xf32>
  return %s : tensor<32xf32>
}

// What came last stays.
// CHECK-LABEL: func @last
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @last(%a: tensor<40x32xf32>) -> tensor<40xf32> {
  %e = tensor.empty() : tensor<40xf32>
  %s = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<40x32xf32>) outs(%e : tensor<40xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<40xf32>
  return %s : tensor<40xf32>
}

// One result has an element of its own for each iteration, the other one does not.
// CHECK-LABEL: func @both
// CHECK: iterator_types = ["reduction", "parallel"]
func.func @both(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %s:2 = linalg.generic {indexing_maps = [#id, #id, #columns], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%e, %b : tensor<8x4xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %y = arith.addf %p, %x : f32
    linalg.yield %y, %y : f32, f32
  } -> (tensor<8x4xf32>, tensor<4xf32>)
  return %s#0, %s#1 : tensor<8x4xf32>, tensor<4xf32>
}

// A loop of one iteration stays.
// CHECK-LABEL: func @single
// CHECK: iterator_types = ["parallel", "parallel"]
func.func @single(%a: tensor<1x4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %s = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1x4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
