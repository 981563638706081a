// Ops that stay: their types lose their signs, and their regions become text.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import,tp-import-stablehlo{unknown-ops=replicate})' 2>/dev/null | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import,tp-import-stablehlo{unknown-ops=replicate})' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// REMARK: remark: 'stablehlo.fft': stays as it is: it can be split along its batch alone (1 dimension), and only an export to StableHLO can contain it
// REMARK: remark: 'stablehlo.cholesky': has no translation and stays as it is: it can be split along its batch alone (2 dimensions)
// CHECK-LABEL: func.func @fft
// CHECK-SAME: (%[[A:.*]]: tensor<8x16xcomplex<f32>>)
// CHECK: %[[F:.*]] = "stablehlo.fft"(%[[A]]) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> {tp.rule = "([i,_])->([i,_]) uneven={i}"} : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
// CHECK: complex.mul
func.func @fft(%a: tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>> {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  %1 = "stablehlo.multiply"(%0, %0) : (tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %1 : tensor<8x16xcomplex<f32>>
}

// Operands 0 and 2 and the second result were unsigned.
// CHECK-LABEL: func.func @unsigned
// CHECK: %[[D:.*]] = arith.addi
// CHECK: %[[C:.*]]:2 = "stablehlo.custom_call"(%[[D]], %{{.*}}, %[[D]])
// CHECK-SAME: tp.rule = "([i],[i],[i])->([i],[i])", tp.unsigned = array<i64: 0, 2, 4>}
// CHECK-SAME: (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
// CHECK: arith.divui %[[C]]#1
func.func @unsigned(%a: tensor<4xui32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xui32>) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %1:2 = "stablehlo.custom_call"(%0, %b, %0) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i], [i])->([i], [i]) {i=4}, custom>} : (tensor<4xui32>, tensor<4xi32>, tensor<4xui32>) -> (tensor<4xi32>, tensor<4xui32>)
  %2 = "stablehlo.divide"(%1#1, %0) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %1#0, %2 : tensor<4xi32>, tensor<4xui32>
}

// What is in a region is not converted.
// CHECK-LABEL: func.func @region
// CHECK: "stablehlo.future"(%{{.*}}) ({
// CHECK-NEXT: }) {tp.regions = "\22tp.regions\22() ({\0A^bb0(%arg0: tensor<ui8>):\0A  %0 = \22stablehlo.add\22(%arg0, %arg0) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>\0A  \22stablehlo.return\22(%0) : (tensor<ui8>) -> ()\0A}) : () -> ()", tp.rule = "([_])->([_])", tp.unsigned = array<i64: 0, 1>}
func.func @region(%a: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "stablehlo.future"(%a) ({
  ^bb0(%x: tensor<ui8>):
    %1 = "stablehlo.add"(%x, %x) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    "stablehlo.return"(%1) : (tensor<ui8>) -> ()
  }) : (tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// In a loop; without operands; with effects alone; of a target that is passed on.
// CHECK-LABEL: func.func @places
// CHECK: scf.while
// CHECK: "stablehlo.cholesky"(%{{.*}}) <{lower = true}> {tp.rule = "([_,_])->([_,_])"}
// CHECK: "stablehlo.custom_call"() <{call_target_name = "mine"}> {tp.rule = "()->([_],[])"}
// CHECK: "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "mine", has_side_effect = true}> {tp.rule = "([_])->()"}
// CHECK-NOT: MoveToHost
func.func @places(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %n = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%n, %a) ({
  ^bb0(%i: tensor<i32>, %x: tensor<4x4xf32>):
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %two) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<4x4xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = "stablehlo.cholesky"(%x) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%j, %y) : (tensor<i32>, tensor<4x4xf32>) -> ()
  }) : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
  %1:2 = "stablehlo.custom_call"() <{call_target_name = "mine"}> : () -> (tensor<4xf32>, tensor<f32>)
  "stablehlo.custom_call"(%1#0) <{call_target_name = "mine", has_side_effect = true}> : (tensor<4xf32>) -> ()
  %2 = "stablehlo.custom_call"(%1#0) <{call_target_name = "MoveToHost"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0#1, %2 : tensor<4x4xf32>, tensor<4xf32>
}

// Only a batch can be split.
// CHECK-LABEL: func.func @batches
// CHECK: "stablehlo.fft"{{.*}} {tp.rule = "([i,_,_])->([i,_,_]) uneven={i}"}
// CHECK: "stablehlo.fft"{{.*}} {tp.rule = "([_,_,_])->([_,_,_])"}
// CHECK: "stablehlo.cholesky"{{.*}} {tp.rule = "([i,j,_,_])->([i,j,_,_]) uneven={i,j}"}
// CHECK: "stablehlo.triangular_solve"{{.*}} {tp.rule = "([i,j,_,_],[i,j,_,_])->([i,j,_,_]) uneven={i,j}"}
// CHECK: "stablehlo.cholesky"{{.*}} {tp.rule = "([_,_,_])->([_,_,_])"}
func.func @batches(%a: tensor<8x16x4xcomplex<f32>>, %b: tensor<2x3x4x4xf32>, %c: tensor<2x3x4x5xf32>, %d: tensor<0x4x4xf32>) -> (tensor<8x16x4xcomplex<f32>>, tensor<2x3x4x5xf32>, tensor<0x4x4xf32>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 16, 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16x4xcomplex<f32>>) -> tensor<8x16x4xcomplex<f32>>
  %1 = "stablehlo.fft"(%0) <{fft_length = dense<[8, 16, 4]> : tensor<3xi64>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16x4xcomplex<f32>>) -> tensor<8x16x4xcomplex<f32>>
  %2 = "stablehlo.cholesky"(%b) <{lower = true}> : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %3 = "stablehlo.triangular_solve"(%2, %c) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x4x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %4 = "stablehlo.cholesky"(%d) <{lower = true}> : (tensor<0x4x4xf32>) -> tensor<0x4x4xf32>
  return %1, %3, %4 : tensor<8x16x4xcomplex<f32>>, tensor<2x3x4x5xf32>, tensor<0x4x4xf32>
}
