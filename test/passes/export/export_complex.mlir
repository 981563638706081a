// Functions of complex numbers. python/tests/test_kept.py runs them.
// RUN: shard-opt %s --allow-unregistered-dialect --mlir-print-op-generic --pass-pipeline='builtin.module(tp-import-stablehlo,tp-export-stablehlo)' | FileCheck %s

// CHECK-LABEL: sym_name = "functions"
// CHECK: "stablehlo.cosine"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.sine"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.tan"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.tanh"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.sqrt"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.rsqrt"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.log_plus_one"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.exponential_minus_one"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.sign"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.exponential"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.log"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.negate"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.power"(%{{.*}}, %{{.*}}) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: "stablehlo.atan2"(%{{.*}}, %{{.*}}) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK: %[[RE:.*]] = "stablehlo.real"
// CHECK: %[[IM:.*]] = "stablehlo.imag"
// CHECK: %[[NEG:.*]] = "stablehlo.negate"(%[[IM]])
// CHECK: "stablehlo.complex"(%[[RE]], %[[NEG]])
// CHECK: "stablehlo.compare"(%{{.*}}) {comparison_direction = #stablehlo<comparison_direction EQ>}
// CHECK: "stablehlo.compare"(%{{.*}}) {comparison_direction = #stablehlo<comparison_direction NE>}
func.func @functions(%a: tensor<4xcomplex<f32>>, %b: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xi1>) {
  %0 = "stablehlo.cosine"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %1 = "stablehlo.sine"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %2 = "stablehlo.tan"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %3 = "stablehlo.tanh"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %4 = "stablehlo.sqrt"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %5 = "stablehlo.rsqrt"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %6 = "stablehlo.log_plus_one"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %7 = "stablehlo.exponential_minus_one"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %8 = "stablehlo.sign"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %9 = "stablehlo.exponential"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %10 = "stablehlo.log"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %11 = "stablehlo.negate"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %12 = "stablehlo.power"(%a, %b) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %13 = "stablehlo.atan2"(%a, %b) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %14 = "chlo.conj"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %15 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %16 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: sym_name = "constant"
// CHECK: %[[A:.*]] = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>}
// CHECK: %[[B:.*]] = "stablehlo.constant"() {value = dense<-2.000000e+00> : tensor<f64>}
// CHECK: "stablehlo.complex"(%[[A]], %[[B]]) : (tensor<f64>, tensor<f64>) -> tensor<complex<f64>>
func.func @constant() -> tensor<complex<f64>> {
  %0 = complex.constant [1.0, -2.0] : complex<f64>
  %1 = tensor.from_elements %0 : tensor<complex<f64>>
  return %1 : tensor<complex<f64>>
}
