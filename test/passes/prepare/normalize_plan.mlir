// The attributes beside tp.sharding are verified; tp.region_args is written canonically.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize)' | FileCheck %s

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK{LITERAL}: tp.region_args = [[[], [["dp"], ["tp"]]]]
func.func @loop(%x: tensor<8x8xf32>, %lo: index, %hi: index, %step: index) -> tensor<8x8xf32> {
  %r = scf.for %i = %lo to %hi step %step iter_args(%a = %x) -> tensor<8x8xf32> {
    scf.yield %a : tensor<8x8xf32>
  } {tp.region_args = [[[], {dims = [["dp"], ["tp:(1)2", "tp:(2)2"]]}]]}
  return %r : tensor<8x8xf32>
}

// CHECK{LITERAL}: func.func private @local(tensor<4x8xf32> {tp.global = tensor<8x8xf32>, tp.sharding = [["dp"], []]})
func.func private @local(tensor<4x8xf32> {tp.global = tensor<8x8xf32>, tp.sharding = [["dp"], []]})

func.func private @tp.permute.4xf32(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func @permute
// CHECK{LITERAL}: {tp.pairs = [[0, 1], [1, 0]]}
func.func @permute(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @tp.permute.4xf32(%x) {tp.pairs = [[0, 1], [1, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @factors
// CHECK: tp.factors = {dp = 0 : i64, tp = "linear 0"}
func.func @factors(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.negf %x {tp.factors = {dp = 0 : i64, tp = "linear 0"}} : tensor<8xf32>
  return %r : tensor<8xf32>
}
