// What is wrong with a tp.fused of attention that somebody has changed.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-lower-to-runtime)'

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its operands is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its loops is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 8, 6, 0, 8, 8, 0, 0, 8, 1, 1, 0, 0, 0, 8, 0, 0, 1, 0, 1>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its scale is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1 : i64}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its hidden is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = "all", kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its mask is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "some", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its mask is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "keep", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its dropout is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "some", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its dropout is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "keep", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its dropout_scale is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its zeroes_dropped is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = 0, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its causal is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = "no", dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its offset is invalid}}
  %o = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
func.func private @tp.attention.0(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0>, mask = "none", offset = 0.0 : f32, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %q : tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention.0 was not written by tp-fuse-attention: its results is invalid}}
  %o:2 = call @tp.attention.0(%q, %k, %k) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %o#0 : tensor<4x8xf32>
}
func.func private @tp.attention.0(%a0: tensor<4x8xf32>, %a1: tensor<6x8xf32>, %a2: tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention", zeroes_hidden = false, loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 1, 1, 8, 8, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values"], scale = 1.0 : f32}} {
  return %a0, %a0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention_gradient.0 was not written by tp-fuse-attention: its operands is invalid}}
  %o:4 = call @tp.attention_gradient.0(%q, %k, %k, %q, %r, %r) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>)
  return %o#0 : tensor<4x8xf32>
}
func.func private @tp.attention_gradient.0(%a0: tensor<4x8xf32>, %a1: tensor<6x8xf32>, %a2: tensor<6x8xf32>, %a3: tensor<4x8xf32>, %a4: tensor<4xf32>, %a5: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>) attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention_gradient", loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 1, 1, 8, 8, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values", "attended", "max", "sum"], passes_hidden = false, scale = 1.0 : f32}} {
  return %a0, %a1, %a1, %a4 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention_gradient.0 was not written by tp-fuse-attention: its passes_hidden is invalid}}
  %o:4 = call @tp.attention_gradient.0(%q, %k, %k, %q, %r, %r, %q) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>)
  return %o#0 : tensor<4x8xf32>
}
func.func private @tp.attention_gradient.0(%a0: tensor<4x8xf32>, %a1: tensor<6x8xf32>, %a2: tensor<6x8xf32>, %a3: tensor<4x8xf32>, %a4: tensor<4xf32>, %a5: tensor<4xf32>, %a6: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>) attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention_gradient", loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 1, 1, 8, 8, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values", "attended", "max", "sum", "gradient"], scale = 1.0 : f32}} {
  return %a0, %a1, %a1, %a4 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4xf32>
}

// -----

func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the tp.fused of @tp.attention_gradient.0 was not written by tp-fuse-attention: its results is invalid}}
  %o:3 = call @tp.attention_gradient.0(%q, %k, %k, %q, %r, %r, %q) : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  return %o#0 : tensor<4x8xf32>
}
func.func private @tp.attention_gradient.0(%a0: tensor<4x8xf32>, %a1: tensor<6x8xf32>, %a2: tensor<6x8xf32>, %a3: tensor<4x8xf32>, %a4: tensor<4xf32>, %a5: tensor<4xf32>, %a6: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) attributes {tp.fused = {cap = 0.0 : f32, causal = false, dropout = "none", dropout_scale = 0.0 : f32, zeroes_dropped = false, hidden = 0xFF800000 : f32, kind = "attention_gradient", loops = array<i64: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 8, 1, 1, 8, 8, 0, 0, 6, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 8, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1>, mask = "none", offset = 0 : i64, operands = ["queries", "keys", "values", "attended", "max", "sum", "gradient"], passes_hidden = false, scale = 1.0 : f32}} {
  return %a0, %a1, %a1 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}
