// Of three lifted constants the plan leaves one whole: it is a constant again, and its argument is gone. The others stay arguments, as shards; an argument without tp.constant stays, too.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-restore-constants)' | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32> {tp.name = "x"},
// CHECK-SAME: %arg1: tensor<2xf32> {tp.constant = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>, tp.global = tensor<4xf32>, tp.sharding = {{\[}}["x"]]},
// CHECK-SAME: %arg2: tensor<3xi8> {tp.constant = dense<[1, 2, 3, 4, 5]> : tensor<5xi8>, tp.global = tensor<5xi8>, tp.sharding = {{\[}}["x"]]}) -> (
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<[4.000000e+00, 3.000000e+00, 2.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: arith.addf %arg0, %[[C]] : tensor<4xf32>
// CHECK-LABEL: func.func @alone() -> tensor<2xf32>
// CHECK-NEXT: arith.constant dense<[1.000000e+00, 2.000000e+00]>

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
  func.func @main(%x: tensor<4xf32> {tp.name = "x"}, %a: tensor<2xf32> {tp.constant = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>, tp.global = tensor<4xf32>, tp.sharding = [["x"]]},
                  %b: tensor<4xf32> {tp.constant = dense<[4.0, 3.0, 2.0, 1.0]> : tensor<4xf32>, tp.global = tensor<4xf32>, tp.sharding = [[]]},
                  %c: tensor<3xi8> {tp.constant = dense<[1, 2, 3, 4, 5]> : tensor<5xi8>, tp.global = tensor<5xi8>, tp.sharding = [["x"]]})
      -> (tensor<4xf32>, tensor<2xf32>, tensor<3xi8>) {
    %y = arith.addf %x, %b : tensor<4xf32>
    return %y, %a, %c : tensor<4xf32>, tensor<2xf32>, tensor<3xi8>
  }
  func.func @alone(%a: tensor<2xf32> {tp.constant = dense<[1.0, 2.0]> : tensor<2xf32>, tp.global = tensor<2xf32>, tp.sharding = [[]]}) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}
