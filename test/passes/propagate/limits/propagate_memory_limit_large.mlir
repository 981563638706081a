// A large function (the chain of i8 makes it one): the plan within the limit is proven to be the
// cheapest.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2100B})' -o %t.plan.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o %t.free.mlir
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.plan.mlir free=%t.free.mlir -- \
// RUN:   'plan.bound_ps == plan.cost_ps' 'free.cost_ps < plan.cost_ps' \
// RUN:   'plan.peak_memory <= 2100' 'free.peak_memory > 2100'
shard.grid @mesh(shape = 2x1x3x2) {tp.axes = ["x", "y", "z", "w"]}
func.func @main(%v0: tensor<9x10xf32> {tp.sharding = [["x", "z"], ["?"]]},
                %v1: tensor<9x10x10xf32>) -> (tensor<2x2xf32>, tensor<10xf32> {tp.sharding = [["y", "x"]]}, tensor<2xi8>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<9x10xf32>
  %init0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<9x10xf32>) -> tensor<9x10xf32>
  %v2 = linalg.batch_vecmat ins(%v0, %v1 : tensor<9x10xf32>, tensor<9x10x10xf32>) outs(%init0 : tensor<9x10xf32>) -> tensor<9x10xf32>
  %two = arith.constant 2.0 : f32
  %e1 = tensor.empty() : tensor<10xf32>
  %init1 = linalg.fill ins(%two : f32) outs(%e1 : tensor<10xf32>) -> tensor<10xf32>
  %v3 = linalg.reduce { arith.addf } ins(%v0 : tensor<9x10xf32>) outs(%init1 : tensor<10xf32>) dimensions = [0]
  %v4 = tensor.extract_slice %v2[5, 7] [2, 2] [1, 1] : tensor<9x10xf32> to tensor<2x2xf32>
  %c0 = arith.constant dense<3> : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c1 = math.absi %c0 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c2 = math.absi %c1 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c3 = math.absi %c2 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c4 = math.absi %c3 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c5 = math.absi %c4 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c6 = math.absi %c5 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c7 = math.absi %c6 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %c8 = math.absi %c7 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>
  %e2 = tensor.empty() : tensor<2xi8>
  %none = arith.constant 0 : i8
  %init2 = linalg.fill ins(%none : i8) outs(%e2 : tensor<2xi8>) -> tensor<2xi8>
  %v5 = linalg.reduce { arith.addi } ins(%c8 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xi8>) outs(%init2 : tensor<2xi8>) dimensions = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  return %v4, %v3, %v5 : tensor<2x2xf32>, tensor<10xf32>, tensor<2xi8>
}
