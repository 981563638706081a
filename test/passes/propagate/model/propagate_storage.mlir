// What has memory of its own once the program of one device is optimized, and what has not: peak_memory counts it, and planning within a
// limit does. Sizes: 1 KiB is 256 numbers.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,tp-propagate{memory-limit=3MiB})' | FileCheck %s

// An elementwise op overwrites an operand that nothing else reads; the product is made where the result of the function lies.
// An argument (1 KiB) and a result (1 KiB).
// CHECK-LABEL: func.func @overwrites_result
// CHECK-SAME: peak_memory = 2048
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @overwrites_result(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a = math.absf %p : tensor<16x16xf32>
  %r = math.exp %a : tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Two ops read the product, but both become one: it is overwritten all the same. An argument, a product, a product of that, a result.
// CHECK-LABEL: func.func @overwrites_twice_read
// CHECK-SAME: peak_memory = 3072
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @overwrites_twice_read(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a = math.absf %p : tensor<16x16xf32>
  %m = arith.mulf %a, %p : tensor<16x16xf32>
  %r = linalg.matmul ins(%m, %m : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// What is read later stays: the product and its absolute values live together, beside the argument and two results.
// CHECK-LABEL: func.func @overwrites_nothing
// CHECK-SAME: peak_memory = 5120
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @overwrites_nothing(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a = math.absf %p : tensor<16x16xf32>
  %r = linalg.matmul ins(%a, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%p, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r, %s : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// A product that is added to another takes over its memory; a transpose that only products read is none; nor is a number. Two arguments, the first
// sum (which the second overwrites), a result.
// CHECK-LABEL: func.func @adds
// CHECK-SAME: peak_memory = 4096
#rc = affine_map<(d0, d1) -> (d0, d1)>
#cr = affine_map<(d0, d1) -> (d1, d0)>
#n = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @adds(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %c = arith.constant dense<2.0> : tensor<f32>
  %two = linalg.generic {indexing_maps = [#n, #rc], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<f32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x16xf32>
  %t = linalg.generic {indexing_maps = [#cr, #rc], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %t : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %q = linalg.matmul ins(%t, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%p : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = arith.mulf %q, %two : tensor<16x16xf32>
  %r = linalg.matmul ins(%m, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = arith.addf %r, %two : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// -----

// A reduction is no part of its user: what it reads ends there. The result of another shape is made where the function returns it. An argument, the
// product, its sums (64 bytes), a result; then the product of the second matmul.
// CHECK-LABEL: func.func @reduces
// CHECK-SAME: peak_memory = 3136
#rc = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @reduces(%x: tensor<16x16xf32>) -> tensor<256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %er = tensor.empty() : tensor<16xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<16x16xf32>) outs(%fr : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %q = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  %v = tensor.collapse_shape %d [[0, 1]] : tensor<16x16xf32> into tensor<256xf32>
  return %v : tensor<256xf32>
}

// -----

// Windows read a copy with its padding: image (1 KiB), filter (36 bytes), the copy (18 x 18 x 4 bytes), result (1 KiB).
// CHECK-LABEL: func.func @pads
// CHECK-SAME: peak_memory = 3380
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @pads(%x: tensor<16x16xf32>, %k: tensor<3x3xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<16x16xf32> to tensor<18x18xf32>
  %r = linalg.conv_2d ins(%p, %k : tensor<18x18xf32>, tensor<3x3xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Scores that are a sum of two products: one is made block by block, the other (1 MiB) is stored.
// Beside it stand one block (256 KiB), the four factors, values and the result (64 KiB
// each), and maxima and sums of 512 rows (2 KiB each).
// CHECK-LABEL: func.func @two_products
// CHECK-SAME: peak_memory = 1708032
#q = affine_map<(s, t, d) -> (s, d)>
#k = affine_map<(s, t, d) -> (t, d)>
#s = affine_map<(s, t, d) -> (s, t)>
#p = affine_map<(s, d, t) -> (s, t)>
#v = affine_map<(s, d, t) -> (t, d)>
#o = affine_map<(s, d, t) -> (s, d)>
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @two_products(%q: tensor<512x32xf32>, %k: tensor<512x32xf32>, %r: tensor<512x32xf32>, %l: tensor<512x32xf32>,
                        %v: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %z = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x32xf32>
  %er = tensor.empty() : tensor<512xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<512x512xf32>) -> tensor<512x512xf32>
  %fo = linalg.fill ins(%z : f32) outs(%eo : tensor<512x32xf32>) -> tensor<512x32xf32>
  %a = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<512x32xf32>, tensor<512x32xf32>) outs(%fs : tensor<512x512xf32>) -> tensor<512x512xf32>
  %b = linalg.contract indexing_maps = [#q, #k, #s] ins(%r, %l : tensor<512x32xf32>, tensor<512x32xf32>) outs(%fs : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = arith.addf %a, %b : tensor<512x512xf32>
  %m = linalg.softmax dimension(1) ins(%c : tensor<512x512xf32>) outs(%es : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.contract indexing_maps = [#p, #v, #o] ins(%m, %v : tensor<512x512xf32>, tensor<512x32xf32>) outs(%fo : tensor<512x32xf32>) -> tensor<512x32xf32>
  return %y : tensor<512x32xf32>
}

// -----

// Values that several ops read have no memory if all of these become one loop nest: x^3 + x^2 is one.
// CHECK-LABEL: func.func @polynomial
// CHECK-SAME: peak_memory = 2048
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @polynomial(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %a = math.absf %x : tensor<16x16xf32>
  %b = arith.mulf %a, %a : tensor<16x16xf32>
  %c = arith.mulf %a, %b : tensor<16x16xf32>
  %r = arith.addf %b, %c : tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// An elementwise op overwrites a value that others have read before: exp(y - max(y)) with one buffer, beside 16 maxima (64 bytes).
// CHECK-LABEL: func.func @read_before
// CHECK-SAME: peak_memory = 2112
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @read_before(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %er = tensor.empty() : tensor<16xf32>
  %start = linalg.fill ins(%least : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %y = math.absf %x : tensor<16x16xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<16x16xf32>) outs(%start : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.maximumf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %m : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %d = arith.subf %in, %most : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// A matmul writes the transpose that is its only reader: no buffer for the product.
// CHECK-LABEL: func.func @writes_transpose
// CHECK-SAME: peak_memory = 3072
shard.grid @mesh(shape = 1) {tp.axes = ["x"]}
func.func @writes_transpose(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.transpose ins(%p : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) permutation = [1, 0]
  return %r : tensor<16x16xf32>
}

// -----

// What only a view shows is stored: a third of it is returned, beside the argument.
// CHECK-LABEL: func.func @shown_by_view
// CHECK-SAME: peak_memory = 168
shard.grid @mesh(shape = 3) {tp.axes = ["x"]}
func.func @shown_by_view(%x: tensor<2x9xf32> {tp.sharding = [[], []]}) -> (tensor<18xf32> {tp.sharding = [["x"]]}) {
  %y = math.tanh %x {tp.sharding = [[], []]} : tensor<2x9xf32>
  %z = tensor.collapse_shape %y [[0, 1]] {tp.sharding = [[]]} : tensor<2x9xf32> into tensor<18xf32>
  return %z : tensor<18xf32>
}
