// A program with constants in several functions comes out as the same bytes on every run. Each run draws its own addresses, so that a
// choice by address shows in some of them.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{mesh=2})' -o %t.0
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{mesh=2})' -o %t.1
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{mesh=2})' -o %t.2
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{mesh=2})' -o %t.3
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{mesh=2})' -o %t.4
// RUN: cmp %t.0 %t.1
// RUN: cmp %t.0 %t.2
// RUN: cmp %t.0 %t.3
// RUN: cmp %t.0 %t.4
// RUN: FileCheck %s < %t.0
// CHECK: llvm.mlir.global private constant @tp.constant.0

func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @three(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[2.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @four(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[3.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @five(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[4.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @six(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[5.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}
