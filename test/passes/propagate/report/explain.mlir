// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%y})' -o %t.mlir 2>&1 | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o %t.plain.mlir
// RUN: cmp %t.mlir %t.plain.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=w1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=explain.mlir:43})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=w3})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=plain.mlir:43})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK: explain.mlir:44:8: remark: %y{{( \([a-z0-9 ]+\))?}} has layout {dims = {{\[\[\]}}, []], partial = {tp = "sum"}}; the plan costs
// CHECK-NEXT: tp:
// CHECK-NEXT: %w{{[12]}} is pinned to {{.*}}
// CHECK-NEXT: linalg.matmul at explain.mlir:{{[0-9]+}} splits over tp a dimension that it reduces
// CHECK-NEXT: %y is a partial sum over tp
// CHECK-NEXT: collectives:
// CHECK-NEXT: all_reduce over tp: 24.0 KiB, {{.*}} us, for func.return at explain.mlir:{{[0-9]+$}}
// CHECK-NEXT: other layouts, by what the plan would cost:
// CHECK-DAG: {{\[\["tp"\], \[\]\]}}: +{{[0-9.]+}} us
// CHECK-DAG: {{\[\[\], \[\]\]}}: +{{[0-9.]+}} us

// NAME: remark: %w1 has layout {{\[\[\], \["tp"\]\]}}
// NAME-NEXT: tp: %w1 is pinned to {{\[\[\], \["tp"\]\]$}}
// NAME-NEXT: it causes no collective
// NAME-NEXT: its annotation leaves no other layout

// PLACE: remark: %h{{( \([a-z0-9 ]+\))?}} has layout {{\[\[\], \["tp"\]\]}}
// PLACE-NOT: remark

// NEAR: error: explain: there is no tensor named 'w3'; similar names: %w1, %w2,
// NOWHERE: error: explain: there is no tensor made at 'plain.mlir:43'; names are

// A value along which nothing is split says so; all functions are looked through.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%arg0})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: remark: %x has layout {{\[\[\], \[\]\]}}
// TWO-NEXT: not along tp: all devices along it hold the same data
// TWO: remark: %x{{( \([a-z0-9 ]+\))?}} has layout

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @mlp(%x: tensor<64x128xf32> {tp.name = "x", tp.sharding = [[], []]},
               %w1: tensor<128x512xf32> {tp.name = "w1", tp.role = "param", tp.sharding = [[], ["tp"]]},
               %w2: tensor<512x64xf32> {tp.name = "w2", tp.role = "param", tp.sharding = [["tp"], []]},
               %a: tensor<64x512xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  // Lines are named by their numbers above.
  %h = linalg.matmul ins(%x, %w1 : tensor<64x128xf32>, tensor<128x512xf32>) outs(%a : tensor<64x512xf32>) -> tensor<64x512xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<64x512xf32>, tensor<512x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

func.func @other(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  return %x : tensor<64x128xf32>
}
