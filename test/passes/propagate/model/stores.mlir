// A topology with store_gbytes_per_s charges what elementwise ops store: here the result of the last
// one of a chain. The scale between reads and writes registers.
// RUN: sed 's/"launch_us": 0,/"launch_us": 0, "store_gbytes_per_s": 1, "exposed": 1,/' %S/../../Inputs/slow_device.json > %t.stores.json
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=1 topology=%S/../../Inputs/slow_device.json})' -o %t.before.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=1 topology=%t.stores.json})' -o %t.after.mlir
// RUN: %python -B %S/../../Inputs/relations.py chain=%t.before.mlir@chain stored=%t.after.mlir@chain product=%t.before.mlir@product \
// RUN:   filled=%t.after.mlir@product -- \
// RUN:   'abs(stored.cost_ps - chain.cost_ps - 128 * 256 * 4 * 1000) < 1e4' \
// RUN:   'abs(filled.cost_ps - product.cost_ps - (128 * 256 + 128 * 128) * 4 * 1000) < 1e4'

// One of the three sums is stored.
func.func @chain(%a: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %empty = tensor.empty() : tensor<128x256xf32>
  %b = linalg.add ins(%a, %a : tensor<128x256xf32>, tensor<128x256xf32>) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  %c = linalg.add ins(%b, %a : tensor<128x256xf32>, tensor<128x256xf32>) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  %d = linalg.add ins(%c, %a : tensor<128x256xf32>, tensor<128x256xf32>) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %d : tensor<128x256xf32>
}

// The sum is stored for the product, and so are the initial values of the product. A product of this
// size takes longer than its stores on a device with a rate of 1e9; arithmetic hides them unless
// exposed.
func.func @product(%a: tensor<128x256xf32>, %w: tensor<256x128xf32>) -> tensor<128x128xf32> {
  %empty = tensor.empty() : tensor<128x256xf32>
  %zero = arith.constant 0.0 : f32
  %b = linalg.add ins(%a, %a : tensor<128x256xf32>, tensor<128x256xf32>) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  %init = tensor.empty() : tensor<128x128xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%b, %w : tensor<128x256xf32>, tensor<256x128xf32>) outs(%fill : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
