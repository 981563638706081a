// Where nothing can travel in a ring, though tp.factors says so.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-decompose,tp-propagate)'

// The probabilities are returned, as a backward pass needs them: nothing is made in blocks.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%q: tensor<4x512x256xf32>, %k: tensor<512x256xf32>, %v: tensor<512x256xf32>) -> (tensor<4x512x256xf32>, tensor<4x512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x512x512xf32>
  %eo = tensor.empty() : tensor<4x512x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  // expected-error @+1 {{tp.factors: "tp" names a ring, but no operand of this op can be passed around a ring; only keys and values of attention can, if rows of the queries are split}}
  %s = linalg.contract indexing_maps = [#q, #k, #s] {tp.factors = {tp = "ring 1"}} ins(%q, %k : tensor<4x512x256xf32>, tensor<512x256xf32>) outs(%s0 : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] {tp.factors = {tp = "ring 1"}} ins(%p, %v : tensor<4x512x512xf32>, tensor<512x256xf32>) outs(%o0 : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  return %o, %p : tensor<4x512x256xf32>, tensor<4x512x512xf32>
}

// -----

// Three devices do not divide the columns.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
shard.grid @mesh(shape = 3) {tp.axes = ["tp"]}
func.func @main(%q: tensor<4x512x256xf32>, %k: tensor<512x256xf32>, %v: tensor<512x256xf32>) -> tensor<4x512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x512x512xf32>
  %eo = tensor.empty() : tensor<4x512x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  // expected-error @+1 {{tp.factors names a strategy that this op does not have on this mesh}}
  %s = linalg.contract indexing_maps = [#q, #k, #s] {tp.factors = {tp = "ring 1"}} ins(%q, %k : tensor<4x512x256xf32>, tensor<512x256xf32>) outs(%s0 : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] {tp.factors = {tp = "ring 1"}} ins(%p, %v : tensor<4x512x512xf32>, tensor<512x256xf32>) outs(%o0 : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  return %o : tensor<4x512x256xf32>
}

// -----

// Columns are split: each device has its part of the keys, and needs no other.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%q: tensor<4x512x256xf32>, %k: tensor<512x256xf32>, %v: tensor<512x256xf32>) -> tensor<4x512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x512x512xf32>
  %eo = tensor.empty() : tensor<4x512x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  // expected-error @+1 {{tp.factors: "tp" names a ring, but no operand of this op can be passed around a ring}}
  %s = linalg.contract indexing_maps = [#q, #k, #s] {tp.factors = {tp = "ring 2"}} ins(%q, %k : tensor<4x512x256xf32>, tensor<512x256xf32>) outs(%s0 : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] {tp.factors = {tp = "ring 2"}} ins(%p, %v : tensor<4x512x512xf32>, tensor<512x256xf32>) outs(%o0 : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  return %o : tensor<4x512x256xf32>
}
