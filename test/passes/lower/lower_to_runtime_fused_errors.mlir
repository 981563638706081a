// What is wrong with a tp.fused that somebody has changed, and with a condition around what is fused.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-lower-to-runtime)'

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its kind is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "cross_entropy", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its algorithm is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = 1 : i64, axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its axes is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = [], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its axes is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["pp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its axes is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp", "tp", "tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its layout is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "half", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its dim is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = "0", norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its norm is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "batch_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its epsilon is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", operands = ["input", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["gamma", "input"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["residual", "gamma"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["residual_out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["residual_out", "out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

// No dictionary at all.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its kind is invalid}}
  %c = call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused} {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

// Of a product.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "multiply_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", operands = ["input", "residual"], results = ["out"], shape = array<i64: 8, 16>, transpose_b = false}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of a product.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its shape is invalid}}
  %c = call @tp.fused.0(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "multiply_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", operands = ["a", "b"], results = ["out"], transpose_b = false}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of a product.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its shape is invalid}}
  %c = call @tp.fused.0(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "multiply_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", operands = ["a", "b"], results = ["out"], shape = array<i64: 8, 17>, transpose_b = false}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of a product.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its transpose_b is invalid}}
  %c = call @tp.fused.0(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "multiply_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", operands = ["a", "b"], results = ["out"], shape = array<i64: 8, 16>}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], dim = 0 : i64, operands = ["input", "b1"], results = ["out0"], transposed = [false]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], dim = 0 : i64, operands = ["input", "b0"], results = ["gathered"], transposed = [false]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its dim is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], operands = ["input", "b0"], results = ["out0"], transposed = [false]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its axes is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["pp"], dim = 0 : i64, operands = ["input", "b0"], results = ["out0"], transposed = [false]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its transposed is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], dim = 0 : i64, operands = ["input", "b0"], results = ["out0"], transposed = [false, true]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// Of gathered rows.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its transposed is invalid}}
  %c = call @tp.fused.0(%x, %b) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], dim = 0 : i64, operands = ["input", "b0"], results = ["out0"], transposed = [1 : i64]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
}

// -----

// A branch that only some devices take.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<8x16xf32> {tp.sharding = [["tp"], []]}, %gamma: tensor<16xf32> {tp.sharding = [[]]}) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.extract %d[%c0, %c0] : tensor<8x16xf32>
  %b = arith.cmpf ogt, %m, %zero : f32
  %r = scf.if %b -> tensor<8x16xf32> {
    %c = func.call @tp.fused.0(%d, %gamma) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    scf.yield %c : tensor<8x16xf32>
  } else {
    scf.yield %d : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "rms_norm", epsilon = 1.0e-5 : f32, operands = ["input", "gamma"], results = ["out"]}} {
  // expected-error @below {{communicates along axis "tp" under a condition that may differ between devices of this axis}}
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its axes is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = [], infinite = "nan", operands = ["logits", "target"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its infinite is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "zeros", operands = ["logits", "target"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["target", "logits"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["logits"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["logits", "target"], results = ["sum", "largest", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["logits", "target"], results = ["largest", "sum"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its pick is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["logits", "target"], results = ["largest", "sum", "picked"], pick = "least", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its picks_of is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], infinite = "nan", operands = ["logits", "target"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "axis"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its kind is invalid}}
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax", axes = ["tp"], infinite = "nan", operands = ["logits", "target"], results = ["largest", "sum", "picked"], pick = "logit", picks_of = "group"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{the tp.fused of @tp.epilogue.0 was not written by tp-fuse-epilogues: its operands is invalid}}
  %y = call @tp.epilogue.0(%a, %b) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @tp.epilogue.0(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> attributes {tp.fused = {kind = "multiply", operands = ["a", "b", "bias"], function = "relu", shape = array<i64: 8, 4>, transpose_b = false}} {
  %y = tensor.empty() : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{the tp.fused of @tp.epilogue.0 was not written by tp-fuse-epilogues: its operands is invalid}}
  %y = call @tp.epilogue.0(%a, %b) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @tp.epilogue.0(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> attributes {tp.fused = {kind = "multiply", operands = ["a", "bias"], function = "relu", shape = array<i64: 8, 4>, transpose_b = false}} {
  %y = tensor.empty() : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{the tp.fused of @tp.epilogue.0 was not written by tp-fuse-epilogues: its function is invalid}}
  %y = call @tp.epilogue.0(%a, %b) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @tp.epilogue.0(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> attributes {tp.fused = {kind = "multiply", operands = ["a", "b"], function = "silu", shape = array<i64: 8, 4>, transpose_b = false}} {
  %y = tensor.empty() : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{the tp.fused of @tp.epilogue.0 was not written by tp-fuse-epilogues: its shape is invalid}}
  %y = call @tp.epilogue.0(%a, %b) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @tp.epilogue.0(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> attributes {tp.fused = {kind = "multiply", operands = ["a", "b"], function = "relu", shape = array<i64: 8, 5>, transpose_b = false}} {
  %y = tensor.empty() : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its quantize is invalid}}
  %c:2 = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_column", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["input"], results = ["quantized", "scale"]}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its least_largest is invalid}}
  %c:2 = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1 : i32, least_scale = 0.0 : f32, operands = ["input"], results = ["quantized", "scale"]}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its least_scale is invalid}}
  %c:2 = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1.0 : f32, operands = ["input"], results = ["quantized", "scale"]}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>)
  return %c : tensor<8x16xf8E4M3FN>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "static", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["input"], results = ["quantized"]}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  return %r0 : tensor<8x16xf8E4M3FN>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>)
  return %c : tensor<8x16xf8E4M3FN>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["input"], results = ["quantized"]}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  return %r0 : tensor<8x16xf8E4M3FN>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its results is invalid}}
  %c:2 = call @tp.fused.0(%a0) : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) attributes {tp.fused = {kind = "quantize_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["input"], results = ["out", "scale"]}} {
  %r0 = tensor.empty() : tensor<8x16xf32>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf32>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a0: tensor<8x16xf32>, %a1: tensor<f32>) -> (tensor<8x16xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c = call @tp.fused.0(%a0, %a1) : (tensor<8x16xf32>, tensor<f32>) -> (tensor<8x16xf32>)
  return %c : tensor<8x16xf32>
}
func.func private @tp.fused.0(%a0: tensor<8x16xf32>, %a1: tensor<f32>) -> (tensor<8x16xf32>) attributes {tp.fused = {kind = "reduce_rows", algorithm = "pull", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", operands = ["input", "static_scale"], results = ["out"]}} {
  %r0 = tensor.empty() : tensor<8x16xf32>
  return %r0 : tensor<8x16xf32>
}
}

// -----

// Of a product whose rows become f8.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its shape is invalid}}
  %c:2 = call @tp.fused.0(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
    attributes {tp.fused = {kind = "multiply_quantize_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["a", "b"], results = ["quantized", "scale"], transpose_b = false}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
}

// -----

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>) {
  // expected-error @below {{the tp.fused of @tp.fused.0 was not written by tp-fuse-collectives: its operands is invalid}}
  %c:2 = call @tp.fused.0(%a) : (tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
  return %c#0, %c#1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
func.func private @tp.fused.0(%a: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
    attributes {tp.fused = {kind = "multiply_quantize_rows", algorithm = "slices", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none", quantize = "per_token", least_largest = 1.0 : f32, least_scale = 0.0 : f32, operands = ["input"], results = ["quantized", "scale"], shape = array<i64: 8, 16>, transpose_b = false}} {
  %r0 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %r1 = tensor.empty() : tensor<8xf32>
  return %r0, %r1 : tensor<8x16xf8E4M3FN>, tensor<8xf32>
}
}
