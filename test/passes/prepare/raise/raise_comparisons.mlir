// torch-mlir widens numbers to compare them. With a constant that the type of the number has, the number itself is compared.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,canonicalize)' | FileCheck %s
// RUN: shard-run %s --mesh x=2 | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: verified

#id = affine_map<(d0) -> (d0)>
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.000000e-01 : bf16
// CHECK-DAG: %[[TENTH:.*]] = arith.constant 1.000000e-01 : f64
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: bf16, %{{.*}}: i1, %{{.*}}: i1, %{{.*}}: i1):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK-NEXT: arith.cmpf oeq, %[[X]], %[[INF]] : f32
// CHECK-NEXT: arith.cmpf ult, %[[HALF]], %[[Y]] : bf16
// CHECK-NEXT: arith.cmpf olt, %[[WIDE]], %[[TENTH]] : f64
func.func @main(%x: tensor<8xf32>, %y: tensor<8xbf16>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %inf = arith.constant 0xFFF0000000000000 : f64
  %half = arith.constant 0.5 : f32
  %tenth = arith.constant 0.1 : f64
  %e = tensor.empty() : tensor<8xi1>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xbf16>) outs(%e, %e, %e : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  ^bb0(%a: f32, %b: bf16, %o0: i1, %o1: i1, %o2: i1):
    %wide = arith.extf %a : f32 to f64
    %wider = arith.extf %b : bf16 to f32
    %c0 = arith.cmpf oeq, %wide, %inf : f64
    %c1 = arith.cmpf ult, %half, %wider : f32
    // no number of f32 is 0.1
    %c2 = arith.cmpf olt, %wide, %tenth : f64
    linalg.yield %c0, %c1, %c2 : i1, i1, i1
  } -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
  return %r#0, %r#1, %r#2 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
