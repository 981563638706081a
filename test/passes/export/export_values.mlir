// Numbers and indices become tensors, as arguments and results, too; structured ops by name are loop nests like others. Imported again, the programs give the same results.
// RUN: split-file %s %t
// RUN: shard-opt %t/numbers.mlir --allow-unregistered-dialect --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t/numbers.st.mlir
// RUN: FileCheck %s --input-file %t/numbers.st.mlir --check-prefix=NUMBERS
// RUN: shard-run %t/numbers.st.mlir --mesh 1 --function insert
// RUN: shard-run %t/numbers.st.mlir --mesh 1 --function uses
// RUN: shard-opt %t/indices.mlir --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t/indices.st.mlir
// RUN: FileCheck %s --input-file %t/indices.st.mlir --check-prefix=INDICES
// RUN: shard-run %t/indices.mlir --mesh 1 --output @%t/0.npy --output @%t/1.npy --output @%t/2.npy --output @%t/3.npy
// RUN: shard-run %t/indices.st.mlir --mesh 1 --expected-output @%t/0.npy --expected-output @%t/1.npy --expected-output @%t/2.npy --expected-output @%t/3.npy
// RUN: shard-opt %t/named.mlir --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t/named.st.mlir
// RUN: FileCheck %s --input-file %t/named.st.mlir --check-prefix=NAMED
// RUN: shard-run %t/named.mlir --mesh 1 --output @%t/0.npy --output @%t/1.npy --output @%t/2.npy --output @%t/3.npy --output @%t/4.npy --output @%t/5.npy
// RUN: shard-run %t/named.st.mlir --mesh 1 --expected-output @%t/0.npy --expected-output @%t/1.npy --expected-output @%t/2.npy --expected-output @%t/3.npy --expected-output @%t/4.npy --expected-output @%t/5.npy

//--- numbers.mlir
// NUMBERS: function_type = (tensor<i32>) -> tensor<i32>, {{.*}}sym_name = "add"
// NUMBERS: "stablehlo.add"(%[[A:.*]], %[[A]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
func.func @add(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
// NUMBERS: function_type = (tensor<7xf32>, tensor<f32>, tensor<i64>) -> tensor<7xf32>, {{.*}}sym_name = "insert"
// NUMBERS-NEXT: ^bb0(%[[X:.*]]: tensor<7xf32>, %[[V:.*]]: tensor<f32>, %[[I:.*]]: tensor<i64>):
// NUMBERS: %[[E:.*]] = "stablehlo.reshape"(%[[V]]) : (tensor<f32>) -> tensor<1xf32>
// NUMBERS: "stablehlo.dynamic_update_slice"(%[[X]], %[[E]], %[[I]])
func.func @insert(%x: tensor<7xf32>, %v: f32, %i: index) -> tensor<7xf32> {
  %0 = tensor.insert %v into %x[%i] : tensor<7xf32>
  return %0 : tensor<7xf32>
}
// An operand of a nest, of a loop and of a call.
// NUMBERS: function_type = (tensor<4xf32>, tensor<f32>, tensor<i64>) -> (tensor<4xf32>, tensor<f32>), {{.*}}sym_name = "uses"
// NUMBERS: "stablehlo.while"
// NUMBERS: "func.call"({{.*}}) <{callee = @half}> : (tensor<f32>) -> tensor<f32>
func.func @uses(%x: tensor<4xf32>, %v: f32, %n: index) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %v : tensor<4xf32>, f32) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %v) -> (f32) {
    %m = arith.addf %s, %v : f32
    scf.yield %m : f32
  }
  %2 = call @half(%1) : (f32) -> f32
  return %0, %2 : tensor<4xf32>, f32
}
func.func private @half(%v: f32) -> f32 {
  %h = arith.constant 0.5 : f32
  %0 = arith.mulf %v, %h : f32
  return %0 : f32
}

//--- indices.mlir
// INDICES: function_type = (tensor<4xi64>, tensor<2x3xi64>) -> (tensor<2xi64>, tensor<6xi64>, tensor<4xi64>, tensor<7xi64>)
// INDICES: dense<[5, 7, -1]> : tensor<3xi64>
// INDICES: dense<9> : tensor<2xi64>
// INDICES-NOT: index>
func.func @main(%a: tensor<4xindex>, %b: tensor<2x3xindex>) -> (tensor<2xindex>, tensor<6xindex>, tensor<4xindex>, tensor<7xindex>) {
  %c = arith.constant dense<[5, 7, -1]> : tensor<3xindex>
  %d = arith.constant dense<9> : tensor<2xindex>
  %0 = tensor.extract_slice %a[1] [2] [1] : tensor<4xindex> to tensor<2xindex>
  %1 = tensor.collapse_shape %b [[0, 1]] : tensor<2x3xindex> into tensor<6xindex>
  %2 = tensor.insert_slice %d into %a[1] [2] [1] : tensor<2xindex> into tensor<4xindex>
  %3 = tensor.concat dim(0) %a, %c : (tensor<4xindex>, tensor<3xindex>) -> tensor<7xindex>
  return %0, %1, %2, %3 : tensor<2xindex>, tensor<6xindex>, tensor<4xindex>, tensor<7xindex>
}

//--- named.mlir
// NAMED: "stablehlo.reduce"
// NAMED: "stablehlo.reduce"
// NAMED: "stablehlo.add"
// NAMED: "stablehlo.broadcast_in_dim"({{.*}}) {broadcast_dimensions = array<i64: 1, 0>}
// NAMED: "stablehlo.broadcast_in_dim"({{.*}}) {broadcast_dimensions = array<i64: 0, 1>}
// NAMED: "stablehlo.pad"({{.*}}) {edge_padding_high = array<i64: 2, 0>, edge_padding_low = array<i64: -1, 1>
func.func @main(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>, %z: tensor<4xf32>, %i: tensor<4xf32>, %t: tensor<3x4xf32>, %w: tensor<4x3x5xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x4xf32>, tensor<4x3x5xf32>, tensor<5x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0:2 = linalg.reduce ins(%a, %b : tensor<4x3xf32>, tensor<4x3xf32>) outs(%z, %i : tensor<4xf32>, tensor<4xf32>) dimensions = [1]
    (%x: f32, %y: f32, %s: f32, %m: f32) {
      %p = arith.addf %x, %s : f32
      %q = arith.maximumf %y, %m : f32
      linalg.yield %p, %q : f32, f32
    }
  %1 = linalg.map {arith.addf} ins(%a, %b : tensor<4x3xf32>, tensor<4x3xf32>) outs(%a : tensor<4x3xf32>)
  %2 = linalg.transpose ins(%a : tensor<4x3xf32>) outs(%t : tensor<3x4xf32>) permutation = [1, 0]
  %3 = linalg.broadcast ins(%a : tensor<4x3xf32>) outs(%w : tensor<4x3x5xf32>) dimensions = [2]
  %4 = tensor.pad %a low[-1, 1] high[2, 0] {
  ^bb0(%k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<4x3xf32> to tensor<5x4xf32>
  return %0#0, %0#1, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x4xf32>, tensor<4x3x5xf32>, tensor<5x4xf32>
}
