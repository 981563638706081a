// Reductions that are split for sure, because the operand is large and nothing else reads it: every combiner, started from a value of the
// program, which enters once. 8190 on 4 is uneven.
// RUN: shard-run %s --mesh x=4 --function addi
// RUN: shard-run %s --mesh x=4 --function muli
// RUN: shard-run %s --mesh x=4 --function maxsi
// RUN: shard-run %s --mesh x=4 --function minsi
// RUN: shard-run %s --mesh x=4 --function maxui
// RUN: shard-run %s --mesh x=4 --function minui
// RUN: shard-run %s --mesh x=4 --function andi
// RUN: shard-run %s --mesh x=4 --function ori
// RUN: shard-run %s --mesh x=4 --function xori
// RUN: shard-run %s --mesh x=4 --function addf
// RUN: shard-run %s --mesh x=4 --function maximumf
// RUN: shard-run %s --mesh x=4 --function minimumf
// RUN: shard-run %s --mesh x=4 --function maxnumf
// RUN: shard-run %s --mesh x=4 --function minnumf
// RUN: shard-run %s --mesh x=2,y=2 --function maxsi --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s
// CHECK-COUNT-14: shard.all_reduce
// CHECK-NOT: shard.all_

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}

func.func @addi(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @muli(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.muli } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @maxsi(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.maxsi } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @minsi(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.minsi } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @maxui(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.maxui } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @minui(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.minui } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @andi(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.andi } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @ori(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.ori } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @xori(%a: tensor<8190xi32> {tp.sharding = [["x", "y"]]}, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.xori } ins(%a : tensor<8190xi32>) outs(%init : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}

func.func @addf(%a: tensor<8190xf32> {tp.sharding = [["x", "y"]]}, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8190xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @maximumf(%a: tensor<8190xf32> {tp.sharding = [["x", "y"]]}, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<8190xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @minimumf(%a: tensor<8190xf32> {tp.sharding = [["x", "y"]]}, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.minimumf } ins(%a : tensor<8190xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @maxnumf(%a: tensor<8190xf32> {tp.sharding = [["x", "y"]]}, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.maxnumf } ins(%a : tensor<8190xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @minnumf(%a: tensor<8190xf32> {tp.sharding = [["x", "y"]]}, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.minnumf } ins(%a : tensor<8190xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
