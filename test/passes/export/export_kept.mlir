// Ops that the import kept are written as they were, on local shapes.
// RUN: shard-opt %s --allow-unregistered-dialect --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{strategy=follow unknown-ops=replicate},tp-export-stablehlo)' | FileCheck %s

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}

// A call with a rule runs on the batch of the device.
// CHECK-LABEL: sym_name = "batch"
// CHECK: %[[C:.*]]:2 = "stablehlo.custom_call"(%{{.*}}) <{api_version = 1 : i32, call_target_name = "lapack_spotrf_ffi", called_computations = [], operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]}> {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
// CHECK-NEXT: "sdy.return"(%[[C]]#0, %[[C]]#1)
func.func @batch(%a: tensor<8x4x4xf32> {tp.sharding = [["x"], [], []]}) -> (tensor<8x4x4xf32> {tp.sharding = [["x"], [], []]}, tensor<8xi32> {tp.sharding = [["x"]]}) {
  %0:2 = "stablehlo.custom_call"(%a) <{api_version = 1 : i32, call_target_name = "lapack_spotrf_ffi", called_computations = [], operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]}> {mhlo.backend_config = {uplo = 76 : ui8}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=8, j=4, k=4, l=4, m=4}, custom>} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8x4x4xf32>, tensor<8xi32>
}

// A reduction factor leaves partial sums.
// CHECK-LABEL: sym_name = "sum"
// CHECK: %[[P:.*]] = "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "mine"}> : (tensor<1024x64xf32>) -> tensor<64xf32>
// CHECK: "stablehlo.all_reduce"(%[[P]])
func.func @sum(%a: tensor<4096x64xf32> {tp.sharding = [["x"], []]}) -> tensor<64xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j]) {i=4096, j=64} reduction={i}, custom>} : (tensor<4096x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// An op without a rule runs on whole tensors, a transform on its part of the batch.
// CHECK-LABEL: sym_name = "whole"
// CHECK: %[[F:.*]] = "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
// CHECK: %[[G:.*]] = "stablehlo.all_gather"(%[[F]])
// CHECK: "stablehlo.fft"(%[[G]]) <{fft_length = array<i64: 8, 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
func.func @whole(%a: tensor<8x16xcomplex<f32>> {tp.sharding = [["x"], []]}) -> (tensor<8x16xcomplex<f32>> {tp.sharding = [["x"], []]}) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 8, 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %1 : tensor<8x16xcomplex<f32>>
}

// Values regain their signs around the op. A call without users may have effects.
// CHECK-LABEL: sym_name = "signs"
// CHECK: %[[U:.*]] = "stablehlo.bitcast_convert"(%{{.*}}) : (tensor<1xi32>) -> tensor<1xui32>
// CHECK: %[[C:.*]] = "stablehlo.custom_call"(%[[U]]) <{call_target_name = "mine"}> : (tensor<1xui32>) -> tensor<1xui32>
// CHECK: "stablehlo.bitcast_convert"(%[[C]]) : (tensor<1xui32>) -> tensor<1xi32>
// CHECK: "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "effects", has_side_effect = true}> : (tensor<4xui32>) -> tensor<f32>
func.func @signs(%a: tensor<4xui32> {tp.sharding = [["x"]]}) -> (tensor<4xui32> {tp.sharding = [["x"]]}) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>} : (tensor<4xui32>) -> tensor<4xui32>
  %2 = "stablehlo.add"(%1, %a) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %3 = "stablehlo.custom_call"(%a) <{call_target_name = "effects", has_side_effect = true}> : (tensor<4xui32>) -> tensor<f32>
  return %2 : tensor<4xui32>
}

// CHECK-LABEL: sym_name = "region"
// CHECK: "stablehlo.future"(%{{.*}}) <{kind = 1 : i64}> ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<ui8>):
// CHECK-NEXT: %[[S:.*]] = "stablehlo.add"(%[[X]], %[[X]]) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
// CHECK-NEXT: "stablehlo.return"(%[[S]]) : (tensor<ui8>) -> ()
// CHECK-NEXT: }) : (tensor<4xui8>) -> tensor<4xui8>
func.func @region(%a: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "stablehlo.future"(%a) <{kind = 1 : i64}> ({
  ^bb0(%x: tensor<ui8>):
    %1 = "stablehlo.add"(%x, %x) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    "stablehlo.return"(%1) : (tensor<ui8>) -> ()
  }) : (tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: sym_name = "loop"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.cholesky"(%{{.*}}) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @loop(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
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
  return %0#1 : tensor<4x4xf32>
}
