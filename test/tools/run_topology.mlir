// The report prices an op as the planner does: a fourth of 128 x 128 x 128, at a fourth of the peak.
// RUN: shard-run %s --mesh 1 --topology %S/../passes/Inputs/slow_device.json | FileCheck %s
// CHECK: modelled 4.19 ms
func.func @main(%a: tensor<128x32xf32>, %b: tensor<32x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x32xf32>, tensor<32x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
