// The report prices an op as the planner does: a fourth of 128 x 128 x 128, at a fourth of the peak.
// RUN: shard-run %s --mesh 1 --topology %S/../../passes/Inputs/slow_device.json --report %t.json | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=1 topology=%S/../../passes/Inputs/slow_device.json})' -o %t.mlir
// An operation takes 1000 ps at the peak of the device.
// RUN: %python -B %S/../../passes/Inputs/relations.py plan=%t.mlir report=%t.json -- \
// RUN:   'round(report["modelled_seconds"] * 1e12) == plan.cost_ps == 2 * 128 * 32 * 128 * 1000 * 128 // 32'
// CHECK: modelled {{[0-9.]+}} ms
func.func @main(%a: tensor<128x32xf32>, %b: tensor<32x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x32xf32>, tensor<32x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
