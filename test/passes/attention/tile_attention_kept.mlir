// What looks like attention and is none, or of which a value as large as the scores is needed elsewhere: it stays as it is.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,convert-elementwise-to-linalg,tp-tile-attention)' | FileCheck %s

// CHECK-NOT: scf.for
// CHECK-NOT: tp.blocks

// The probabilities are returned, as a backward pass needs them.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @probabilities(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> (tensor<4x300x8xf32>, tensor<4x300x900xf32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o, %p : tensor<4x300x8xf32>, tensor<4x300x900xf32>
}

// -----

// So are the scores.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @scores(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> (tensor<4x300x8xf32>, tensor<4x300x900xf32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o, %s : tensor<4x300x8xf32>, tensor<4x300x900xf32>
}

// -----

// The exponentials are used again.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @exponentials(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> (tensor<4x300x8xf32>, tensor<4x300xf32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.reduce ins(%s : tensor<4x300x900xf32>) outs(%m0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.maximumf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ms = linalg.broadcast ins(%m : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %d = arith.subf %s, %ms : tensor<4x300x900xf32>
  %e = math.exp %d : tensor<4x300x900xf32>
  %ee = arith.mulf %e, %e : tensor<4x300x900xf32>
  %l = linalg.reduce ins(%e : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %n = linalg.reduce ins(%ee : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ls = linalg.broadcast ins(%l : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %p = arith.divf %e, %ls : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o, %n : tensor<4x300x8xf32>, tensor<4x300xf32>
}

// -----

// Nothing says how large the scores get: no maximum.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @unbounded(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %e = math.exp %s : tensor<4x300x900xf32>
  %l = linalg.reduce ins(%e : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ls = linalg.broadcast ins(%l : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %p = arith.divf %e, %ls : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// The maximum is that of other scores.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @others(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>, %other: tensor<4x300x900xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.reduce ins(%other : tensor<4x300x900xf32>) outs(%m0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.maximumf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ms = linalg.broadcast ins(%m : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %d = arith.subf %s, %ms : tensor<4x300x900xf32>
  %e = math.exp %d : tensor<4x300x900xf32>
  %l = linalg.reduce ins(%e : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ls = linalg.broadcast ins(%l : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %p = arith.divf %e, %ls : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// A softmax along the rows.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @rows(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// The output starts from something.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @started(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>, %c: tensor<4x300x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%c : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// The sum starts from something: a sink.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @sink(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.reduce ins(%s : tensor<4x300x900xf32>) outs(%m0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.maximumf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ms = linalg.broadcast ins(%m : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %d = arith.subf %s, %ms : tensor<4x300x900xf32>
  %e = math.exp %d : tensor<4x300x900xf32>
  %l = linalg.reduce ins(%e : tensor<4x300x900xf32>) outs(%m : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ls = linalg.broadcast ins(%l : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %p = arith.divf %e, %ls : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// Not linear behind the softmax.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @squared(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %w = arith.mulf %p, %p : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// The rows of the probabilities are scaled by their number of columns, and summed again.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @again(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> (tensor<4x300x8xf32>, tensor<4x300xf32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %n = linalg.reduce ins(%p : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o, %n : tensor<4x300x8xf32>, tensor<4x300xf32>
}

// -----

// The values follow from the scores.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @followed(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.reduce ins(%s : tensor<4x300x900xf32>) outs(%m0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.maximumf %c, %a : f32
      linalg.yield %ac : f32
    }
  %mv = tensor.extract_slice %m[0, 0] [4, 1] [1, 1] : tensor<4x300xf32> to tensor<4x1xf32>
  %mw = tensor.collapse_shape %mv [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %ev = tensor.empty() : tensor<4x900x8xf32>
  %vs = linalg.broadcast ins(%mw : tensor<4xf32>) outs(%ev : tensor<4x900x8xf32>) dimensions = [1, 2]
  %ms = linalg.broadcast ins(%m : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %d = arith.subf %s, %ms : tensor<4x300x900xf32>
  %e = math.exp %d : tensor<4x300x900xf32>
  %l = linalg.reduce ins(%e : tensor<4x300x900xf32>) outs(%l0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.addf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ls = linalg.broadcast ins(%l : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %p = arith.divf %e, %ls : tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %vs : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// The scores are normalized by their maximum first.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @normalized(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.reduce ins(%s : tensor<4x300x900xf32>) outs(%m0 : tensor<4x300xf32>) dimensions = [2]
    (%a: f32, %c: f32) {
      %ac = arith.maximumf %c, %a : f32
      linalg.yield %ac : f32
    }
  %ms = linalg.broadcast ins(%m : tensor<4x300xf32>) outs(%es : tensor<4x300x900xf32>) dimensions = [2]
  %n = arith.divf %s, %ms : tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%n : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// Heads are added up with the columns.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @heads(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>) -> tensor<300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %er = tensor.empty() : tensor<4x300xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x300xf32>) -> tensor<4x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %eh = tensor.empty() : tensor<300x8xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<300x8xf32>) -> tensor<300x8xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, h, j) -> (h, i, j)>, affine_map<(i, d, h, j) -> (h, j, d)>, affine_map<(i, d, h, j) -> (i, d)>] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%h0 : tensor<300x8xf32>) -> tensor<300x8xf32>
  return %o : tensor<300x8xf32>
}

// -----

// One block holds all of it.
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @small(%q: tensor<4x30x16xf32>, %k: tensor<4x500x16xf32>, %v: tensor<4x500x8xf32>) -> tensor<4x30x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x30x500xf32>
  %er = tensor.empty() : tensor<4x30xf32>
  %eo = tensor.empty() : tensor<4x30x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x30x500xf32>) -> tensor<4x30x500xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x30x8xf32>) -> tensor<4x30x8xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<4x30xf32>) -> tensor<4x30xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x30xf32>) -> tensor<4x30xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x30x16xf32>, tensor<4x500x16xf32>) outs(%s0 : tensor<4x30x500xf32>) -> tensor<4x30x500xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x30x500xf32>) outs(%es : tensor<4x30x500xf32>) -> tensor<4x30x500xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x30x500xf32>, tensor<4x500x8xf32>) outs(%o0 : tensor<4x30x8xf32>) -> tensor<4x30x8xf32>
  return %o : tensor<4x30x8xf32>
}
