// Products and what cuBLASLt does to their elements: a call with a site for both, or both as they are, and why.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-epilogues{fused=keep})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-epilogues{fused=keep},tp-lower-to-runtime)' 2>/dev/null | FileCheck %s --check-prefix=CALL
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-epilogues)' 2>&1 | FileCheck %s --check-prefix=HOST
// HOST-NOT: tp.epilogue
// HOST-NOT: remark

// Bias and relu, where there is no NaN. The site: kind 12, f32, 16 x 24; behind: 32 terms, as they are stored, relu, a bias.
// REMARK: 'linalg.matmul': is fused with bias, relu
// CHECK-LABEL: func.func @relu
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xf32>, %[[B:.*]]: tensor<32x24xf32>, %[[C:.*]]: tensor<24xf32>)
// CHECK-NOT: linalg.matmul
// CHECK: %[[Y:.*]] = call @tp.epilogue.0(%[[A]], %[[B]], %[[C]])
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @tp.epilogue.0
// CHECK-SAME: tp.fused = {function = "relu", kind = "multiply", operands = ["a", "b", "bias"], shape = array<i64: 16, 24>, transpose_b = false}
// CHECK: arith.maximumf {{.*}} fastmath<nnan>
// CALL-LABEL: func.func @relu
// CALL-SAME: tp.extra = array<i64: 3, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 1>
// CALL-SAME: tp.sites = array<i64: 11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 16, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25>
// CALL: call @tprt_abi_fused.3.1(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
func.func @relu(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>, %bias: tensor<24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x24xf32>
  %b = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%e : tensor<16x24xf32>) dimensions = [0]
  %s = arith.addf %b, %y : tensor<16x24xf32>
  %r = arith.maxnumf %s, %zero fastmath<nnan> : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}

// -----

// A relu that keeps NaN, as most frontends write it, and one that makes 0 of it, with a bias: cuBLASLt's does either. Without NaN it is fused.
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its ReLU may read NaN, of which cuBLASLt makes NaN or 0, depending on the kernel that it chooses; a max with fastmath<nnan> is fused
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its ReLU may read NaN
// REMARK: 'linalg.matmul': is fused with relu
// CHECK-LABEL: func.func @keeps_nan
// CHECK: linalg.matmul
// CHECK: arith.maximumf
// CHECK-LABEL: func.func @drops_nan
// CHECK: linalg.matmul
// CHECK: arith.maxnumf
// CHECK-LABEL: func.func @no_nan
// CHECK: call @tp.epilogue.0(%{{.*}}, %{{.*}}) : (
// CALL-LABEL: func.func @no_nan
// CALL: call @tprt_abi_fused.2.1(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
func.func @keeps_nan(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maximumf %y, %zero : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @drops_nan(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>, %bias: tensor<24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x24xf32>
  %b = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%e : tensor<16x24xf32>) dimensions = [0]
  %s = arith.addf %y, %b : tensor<16x24xf32>
  %r = arith.maxnumf %s, %zero : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @no_nan(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maximumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}

// -----

// Gelu in one body, of a product that is stored the other way round and goes on in another shape.
// REMARK: 'linalg.generic': is fused with bias, gelu
// CHECK-LABEL: func.func @gelu
// CHECK: call @tp.epilogue.0(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<16x32xbf16>, tensor<24x32xbf16>, tensor<24xbf16>) -> tensor<2x8x24xbf16>
// CHECK: function = "gelu", {{.*}} transpose_b = true
// CHECK: math.tanh {{.*}} : f32
// CALL-LABEL: func.func @gelu
// CALL-SAME: tp.extra = array<i64: 3, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 1, 2>
func.func @gelu(%x: tensor<16x32xbf16>, %w: tensor<24x32xbf16>, %bias: tensor<24xbf16>) -> tensor<2x8x24xbf16> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x32xbf16>, tensor<24x32xbf16>) outs(%zero : tensor<16x24xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %a32 = arith.extf %a : bf16 to f32
      %b32 = arith.extf %b : bf16 to f32
      %p = arith.mulf %a32, %b32 : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x24xf32>
  %v = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 8, 24] : tensor<16x24xf32> into tensor<2x8x24xf32>
  %e = tensor.empty() : tensor<2x8x24xbf16>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.797884583 : f32
  %cube = arith.constant 0.044715 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v, %bias : tensor<2x8x24xf32>, tensor<24xbf16>) outs(%e : tensor<2x8x24xbf16>) {
    ^bb0(%d: f32, %b: bf16, %o: bf16):
      %b32 = arith.extf %b : bf16 to f32
      %z = arith.addf %d, %b32 : f32
      %z2 = arith.mulf %z, %z : f32
      %z2c = arith.mulf %z2, %cube : f32
      %n = arith.addf %z2c, %one : f32
      %zr = arith.mulf %z, %root : f32
      %u = arith.mulf %zr, %n : f32
      %t = math.tanh %u : f32
      %t1 = arith.addf %t, %one : f32
      %h = arith.mulf %z, %half : f32
      %g = arith.mulf %t1, %h : f32
      %narrow = arith.truncf %g : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<2x8x24xbf16>
  return %r : tensor<2x8x24xbf16>
}

// -----

// Almost gelu: another constant, another power, and with erf.
// REMARK-NOT: is one call
// REMARK: 'linalg.matmul': is not fused with the ops that follow: cuBLASLt's GELU is the tanh form, not the erf form
// CHECK-LABEL: func.func @other_constant
// CHECK-NOT: call
// CHECK-LABEL: func.func @square
// CHECK-NOT: call
// CHECK-LABEL: func.func @erf
// CHECK-NOT: call
#id = affine_map<(m, n) -> (m, n)>
func.func @other_constant(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.7979 : f32
  %cube = arith.constant 0.044715 : f32
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<16x24xf32>) outs(%zero : tensor<16x24xf32>) {
    ^bb0(%z: f32, %o: f32):
      %z2 = arith.mulf %z, %z : f32
      %z3 = arith.mulf %z2, %z : f32
      %c = arith.mulf %z3, %cube : f32
      %n = arith.addf %z, %c : f32
      %u = arith.mulf %n, %root : f32
      %t = math.tanh %u : f32
      %t1 = arith.addf %t, %one : f32
      %h = arith.mulf %z, %half : f32
      %g = arith.mulf %t1, %h : f32
      linalg.yield %g : f32
  } -> tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @square(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.797884583 : f32
  %cube = arith.constant 0.044715 : f32
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<16x24xf32>) outs(%zero : tensor<16x24xf32>) {
    ^bb0(%z: f32, %o: f32):
      %z2 = arith.mulf %z, %z : f32
      %c = arith.mulf %z2, %cube : f32
      %n = arith.addf %z, %c : f32
      %u = arith.mulf %n, %root : f32
      %t = math.tanh %u : f32
      %t1 = arith.addf %t, %one : f32
      %h = arith.mulf %z, %half : f32
      %g = arith.mulf %t1, %h : f32
      linalg.yield %g : f32
  } -> tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @erf(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = math.erf %y : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}

// -----

// A bias for each row; a residual is none that anybody expects there.
// REMARK: 'linalg.matmul': is not fused with the ops that follow: the added tensor is not a bias (one value per column)
// REMARK-NOT: {{is one call|no bias}}
// CHECK-LABEL: func.func @bias_of_rows
// CHECK-NOT: call
// CHECK-LABEL: func.func @residual
// CHECK-NOT: call
func.func @bias_of_rows(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>, %bias: tensor<16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %b = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%e : tensor<16x16xf32>) dimensions = [1]
  %s = arith.addf %y, %b : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}
func.func @residual(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>, %r: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = arith.addf %y, %r : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// -----

// The product is read by others; what follows more than an epilogue; products that are none of cuBLASLt's.
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its result has other users
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its result has other users
// REMARK: 'linalg.matmul': is not fused with the ops that follow: the result is read by a kernel that computes the epilogue itself
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its init is not zero
// REMARK: 'linalg.matmul': is not fused with the ops that follow: cuBLASLt has no epilogues for these types
// REMARK: 'linalg.batch_matmul': is not fused with the ops that follow: it is not a matmul of untransposed rows by a matrix
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its bias and its operands have different types
// REMARK: 'linalg.matmul': is not fused with the ops that follow: it has no elements, or its contracted dimension has size 0
// REMARK: 'linalg.matmul': is not fused with the ops that follow: an operand is a slice of another tensor, which would be copied
// CHECK-LABEL: func.func @second_reader
// CHECK-NOT: call @
func.func @second_reader(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> (tensor<16x24xf32>, tensor<16x24xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  return %y, %r : tensor<16x24xf32>, tensor<16x24xf32>
}
func.func @bias_made_of_it(%x: tensor<1x32xf32>, %w: tensor<32x24xf32>) -> tensor<1x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<1x24xf32>) -> tensor<1x24xf32>
  %b = math.sin %y : tensor<1x24xf32>
  %s = arith.addf %y, %b : tensor<1x24xf32>
  return %s : tensor<1x24xf32>
}
func.func @goes_on(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>, %m: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  %s = arith.mulf %r, %m : tensor<16x24xf32>
  return %s : tensor<16x24xf32>
}
func.func @added(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>, %c: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%c : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @doubles(%x: tensor<16x32xf64>, %w: tensor<32x24xf64>) -> tensor<16x24xf64> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf64>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf64>, tensor<32x24xf64>) outs(%zero : tensor<16x24xf64>) -> tensor<16x24xf64>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf64>
  return %r : tensor<16x24xf64>
}
func.func @batch(%x: tensor<2x16x32xf32>, %w: tensor<2x32x24xf32>) -> tensor<2x16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x16x24xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x16x32xf32>, tensor<2x32x24xf32>) outs(%zero : tensor<2x16x24xf32>) -> tensor<2x16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<2x16x24xf32>
  return %r : tensor<2x16x24xf32>
}
func.func @wide_bias(%x: tensor<16x32xbf16>, %w: tensor<32x24xbf16>, %bias: tensor<24xf32>) -> tensor<16x24xbf16> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xbf16>, tensor<32x24xbf16>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x24xf32>
  %b = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%e : tensor<16x24xf32>) dimensions = [0]
  %s = arith.addf %y, %b : tensor<16x24xf32>
  %n = arith.truncf %s : tensor<16x24xf32> to tensor<16x24xbf16>
  return %n : tensor<16x24xbf16>
}
func.func @no_terms(%x: tensor<16x0xf32>, %w: tensor<0x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x0xf32>, tensor<0x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
func.func @part(%x: tensor<16x32xf32>, %w: tensor<32x2x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %p = tensor.extract_slice %w[0, 1, 0] [32, 1, 24] [1, 1, 1] : tensor<32x2x24xf32> to tensor<32x1x24xf32>
  %v = tensor.collapse_shape %p [[0, 1], [2]] : tensor<32x1x24xf32> into tensor<32x24xf32>
  %y = linalg.matmul ins(%x, %v : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = arith.maxnumf %y, %zero fastmath<nnan> : tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}

// -----

// Queries of several heads, whose bias has two dimensions; what is made of the product with the bias is read twice, so nothing is gained.
// REMARK: 'linalg.generic': is fused with bias
// REMARK: 'linalg.matmul': is not fused with the ops that follow: its result has other users
// CHECK-LABEL: func.func @heads
// CHECK: call @tp.epilogue.0(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x8x32xf32>, tensor<32x4x6xf32>, tensor<4x6xf32>) -> tensor<2x8x4x6xf32>
// CHECK-LABEL: func.func @both
// CHECK-NOT: call @
// CHECK: func.func private @tp.epilogue.0
// CHECK-SAME: shape = array<i64: 16, 24>, transpose_b = false
func.func @heads(%x: tensor<2x8x32xf32>, %w: tensor<32x4x6xf32>, %bias: tensor<4x6xf32>) -> tensor<2x8x4x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t, k)>, affine_map<(b, t, h, d, k) -> (k, h, d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x8x32xf32>, tensor<32x4x6xf32>) outs(%zero : tensor<2x8x4x6xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> tensor<2x8x4x6xf32>
  %e = tensor.empty() : tensor<2x8x4x6xf32>
  %b = linalg.broadcast ins(%bias : tensor<4x6xf32>) outs(%e : tensor<2x8x4x6xf32>) dimensions = [0, 1]
  %s = arith.addf %y, %b : tensor<2x8x4x6xf32>
  return %s : tensor<2x8x4x6xf32>
}
func.func @both(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>, %bias: tensor<24xf32>) -> (tensor<16x24xf32>, tensor<16x24xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zero : tensor<16x24xf32>) -> tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x24xf32>
  %b = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%e : tensor<16x24xf32>) dimensions = [0]
  %s = arith.addf %b, %y : tensor<16x24xf32>
  %r = arith.maxnumf %s, %zero fastmath<nnan> : tensor<16x24xf32>
  return %s, %r : tensor<16x24xf32>, tensor<16x24xf32>
}
