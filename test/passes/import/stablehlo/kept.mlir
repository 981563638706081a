// Every refused op that unknown-ops=replicate keeps.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo{unknown-ops=replicate})' 2>&1 | FileCheck %s

// CHECK: remark: 'stablehlo.broadcast': has no translation and stays as it is: every device runs it on whole tensors, and only an export to StableHLO can contain it
// CHECK-LABEL: func.func @f
// CHECK-NEXT: "stablehlo.broadcast"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.cholesky"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.dot"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.dynamic_conv"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.dynamic_gather"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.dynamic_pad"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.einsum"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.fft"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.real_dynamic_slice"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.set_dimension_size"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.triangular_solve"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.torch_index_select"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "stablehlo.unary_einsum"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "chlo._asin_acos_kernel"() {tp.rule = "()->()"} : () -> ()
// CHECK-NEXT: "chlo.scan"() {tp.rule = "()->()"} : () -> ()
func.func @f() {
  "stablehlo.broadcast"() : () -> ()
  "stablehlo.cholesky"() : () -> ()
  "stablehlo.dot"() : () -> ()
  "stablehlo.dynamic_conv"() : () -> ()
  "stablehlo.dynamic_gather"() : () -> ()
  "stablehlo.dynamic_pad"() : () -> ()
  "stablehlo.einsum"() : () -> ()
  "stablehlo.fft"() : () -> ()
  "stablehlo.real_dynamic_slice"() : () -> ()
  "stablehlo.set_dimension_size"() : () -> ()
  "stablehlo.triangular_solve"() : () -> ()
  "stablehlo.torch_index_select"() : () -> ()
  "stablehlo.unary_einsum"() : () -> ()
  "chlo._asin_acos_kernel"() : () -> ()
  "chlo.scan"() : () -> ()
  return
}
