// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-widen-sums)' | FileCheck %s
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The accumulator is f32, from a fill of f32 on; the sum is rounded once.
// CHECK-LABEL: func @sum
// CHECK: %[[ZERO:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[FILL]] : tensor<4xf32>)
// CHECK: ^bb0(%[[X:.*]]: bf16, %[[ACC:.*]]: f32):
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : bf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[SQUARE]] : bf16 to f32
// CHECK: arith.addf %[[ACC]], %[[WIDE]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : tensor<4xf32> to tensor<4xbf16>
// CHECK: return %[[ROUNDED]]
func.func @sum(%a: tensor<4x8xbf16>) -> tensor<4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4xbf16>
  %b = linalg.fill ins(%zero : bf16) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %q = arith.mulf %x, %x : bf16
    %w = arith.addf %o, %q : bf16
    linalg.yield %w : bf16
  } -> tensor<4xbf16>
  return %s : tensor<4xbf16>
}

// A sum of some of the numbers, from what the result was.
// CHECK-LABEL: func @masked
// CHECK: arith.extf %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @masked(%a: tensor<4x8xf16>, %b: tensor<4xf16>) -> tensor<4xf16> {
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf16>) outs(%b : tensor<4xf16>) {
  ^bb0(%x: f16, %o: f16):
    %c = arith.cmpf ogt, %x, %x : f16
    %w = arith.addf %x, %o : f16
    %v = arith.select %c, %w, %o : f16
    linalg.yield %v : f16
  } -> tensor<4xf16>
  return %s : tensor<4xf16>
}

// Maxima, sums that are read in between, elementwise sums and sums of f32 stay.
// CHECK-LABEL: func @others
// CHECK-NOT: arith.extf
func.func @others(%a: tensor<4x8xbf16>, %b: tensor<4xbf16>, %c: tensor<4x8xf32>, %d: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4x8xbf16>, tensor<4xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) dimensions = [1]
  %n = linalg.reduce ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) dimensions = [1] (%x: bf16, %o: bf16) {
    %h = arith.mulf %o, %x : bf16
    %w = arith.addf %o, %h : bf16
    linalg.yield %w : bf16
  }
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xbf16>) outs(%a : tensor<4x8xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %w = arith.addf %o, %x : bf16
    linalg.yield %w : bf16
  } -> tensor<4x8xbf16>
  %s = linalg.reduce { arith.addf } ins(%c : tensor<4x8xf32>) outs(%d : tensor<4xf32>) dimensions = [1]
  return %m, %n, %p, %s : tensor<4xbf16>, tensor<4xbf16>, tensor<4x8xbf16>, tensor<4xf32>
}

// Bools are accumulated in bytes.
// CHECK-LABEL: func @bools
// CHECK: %[[FALSE:.*]] = arith.extui %{{.*}} : i1 to i8
// CHECK: linalg.fill ins(%[[FALSE]] : i8)
// CHECK: %[[ANY:.*]] = linalg.generic
// CHECK: ^bb0(%[[C:.*]]: i1, %[[ACC:.*]]: i8):
// CHECK: %[[WIDE:.*]] = arith.extui %[[C]] : i1 to i8
// CHECK: arith.ori %[[ACC]], %[[WIDE]] : i8
// CHECK: arith.trunci %[[ANY]] : tensor<4xi8> to tensor<4xi1>
// CHECK: arith.andi %{{.*}}, %{{.*}} : i8
// CHECK: arith.trunci
func.func @bools(%a: tensor<4x8xi1>, %b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  %false = arith.constant false
  %e = tensor.empty() : tensor<4xi1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<4xi1>) -> tensor<4xi1>
  %any = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xi1>) outs(%f : tensor<4xi1>) {
  ^bb0(%c: i1, %o: i1):
    %r = arith.ori %o, %c : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  %every = linalg.reduce { arith.andi } ins(%a : tensor<4x8xi1>) outs(%b : tensor<4xi1>) dimensions = [1]
  return %any, %every : tensor<4xi1>, tensor<4xi1>
}

// Each sum of an op with several results, and no others.
// CHECK-LABEL: func @two
// CHECK: %[[TWO:.*]]:3 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>)
// CHECK: ^bb0(%{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: bf16, %{{.*}}: f32):
// CHECK-DAG: %[[FIRST:.*]] = arith.truncf %[[TWO]]#0 : tensor<4xf32> to tensor<4xbf16>
// CHECK-DAG: %[[LAST:.*]] = arith.truncf %[[TWO]]#2 : tensor<4xf32> to tensor<4xbf16>
// CHECK: return %[[FIRST]], %[[TWO]]#1, %[[LAST]]
func.func @two(%a: tensor<4x8xbf16>, %b: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  %s:3 = linalg.generic {indexing_maps = [#all, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xbf16>) outs(%b, %b, %b : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%x: bf16, %o: bf16, %p: bf16, %q: bf16):
    %w = arith.addf %o, %x : bf16
    %m = arith.maximumf %p, %x : bf16
    %y = arith.mulf %x, %x : bf16
    %z = arith.addf %y, %q : bf16
    linalg.yield %w, %m, %z : bf16, bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return %s#0, %s#1, %s#2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>
}

// A choice that is yielded twice has one type.
// CHECK-LABEL: func @yielded_twice
// CHECK-NOT: arith.extf
// CHECK: return
func.func @yielded_twice(%a: tensor<4x8xbf16>, %b: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %s:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xbf16>) outs(%b, %b : tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%x: bf16, %o: bf16, %p: bf16):
    %c = arith.cmpf ogt, %x, %x : bf16
    %w = arith.addf %o, %x : bf16
    %v = arith.select %c, %w, %o : bf16
    linalg.yield %v, %v : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>)
  return %s#0, %s#1 : tensor<4xbf16>, tensor<4xbf16>
}
