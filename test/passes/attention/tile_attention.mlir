// Attention in blocks: what is recognized, in the forms that frameworks export, and the loops that come out.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,convert-elementwise-to-linalg,tp-tile-attention,canonicalize,cse)' | FileCheck %s

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#mask = affine_map<(h, i, j) -> (i, j)>

// linalg.softmax, a causal mask of the place and an additive one that is given. 900 columns are four blocks of 225, 300 rows two of 150 (a block
// has at most 65536 scores): two loops around one, of which blocks that nothing is seen of are left out. The last one begins nothing: it hands maxima, sums and products on.
// CHECK-LABEL: func.func @causal(
// CHECK-NOT: tensor<4x300x900xf32>
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1
// CHECK: scf.for %[[I:.*]] = %c0 to %c300 step %c150
// CHECK: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c225 iter_args({{.*}}) -> (tensor<1x150xf32>, tensor<1x150xf32>, tensor<1x150x8xf32>)
// CHECK: linalg.contract {{.*}} -> tensor<1x150x225xf32>
// CHECK: tensor.extract_slice %arg3[%[[I]], 0]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[J]]] [150, 225]
// CHECK: arith.addi %{{.*}}, %[[I]]
// CHECK: arith.addi %{{.*}}, %[[J]]
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: linalg.contract {{.*}} -> tensor<1x150x8xf32>
// CHECK: tensor.insert_slice {{.*}} into tensor<4x300xf32>
// CHECK: tensor.insert_slice {{.*}} into tensor<4x300x8xf32>
// CHECK: } {tp.blocks}
// CHECK: arith.divf
// CHECK-NOT: tensor<4x300x900xf32>
func.func @causal(%q: tensor<4x300x16xf32>, %k: tensor<4x900x16xf32>, %v: tensor<4x900x8xf32>, %bias: tensor<300x900xf32>) -> tensor<4x300x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x300x900xf32>
  %eo = tensor.empty() : tensor<4x300x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x300x16xf32>, tensor<4x900x16xf32>) outs(%s0 : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %m = linalg.generic {indexing_maps = [#id, #mask, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %bias : tensor<4x300x900xf32>, tensor<300x900xf32>) outs(%es : tensor<4x300x900xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %y = arith.addf %x, %b : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %sees = arith.cmpi sge, %i, %j : index
    %z = arith.select %sees, %y, %inf : f32
    linalg.yield %z : f32
  } -> tensor<4x300x900xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<4x300x900xf32>) outs(%es : tensor<4x300x900xf32>) -> tensor<4x300x900xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x300x900xf32>, tensor<4x900x8xf32>) outs(%o0 : tensor<4x300x8xf32>) -> tensor<4x300x8xf32>
  return %o : tensor<4x300x8xf32>
}

// -----

// As JAX exports it: queries of a head in groups, scale and mask broadcast to all scores, maxima and sums broadcast twice, values in front. All
// rows are one block; the mask of places is made in blocks too. 40 rows see no more than 40 columns: of four blocks of 175 one is left, and no loop.
#x = affine_map<(h, g, i, j, d) -> (h, g, i, d)>
#y = affine_map<(h, g, i, j, d) -> (j, h, d)>
#xy = affine_map<(h, g, i, j, d) -> (h, g, i, j)>
#all = affine_map<(h, g, i, j) -> (h, g, i, j)>
#row = affine_map<(h, g, i, j) -> (h, g, i)>
#row1 = affine_map<(h, g, i, j) -> (h, g, i, 0)>
#ij = affine_map<(h, g, i, j) -> (i, j)>
#none = affine_map<(h, g, i, j) -> ()>
#two = affine_map<(i, j) -> (i, j)>
#ov = affine_map<(h, e, g, i, j) -> (j, h, e)>
#op = affine_map<(h, e, g, i, j) -> (h, g, i, j)>
#oo = affine_map<(h, e, g, i, j) -> (h, e, g, i)>
// CHECK-LABEL: func.func @jax(
// CHECK-NOT: scf.for
// CHECK: arith.cmpi sge
// CHECK: -> tensor<40x175xi1>
// CHECK: arith.mulf
// CHECK: -> tensor<2x3x40x175xf32>
// CHECK: arith.maximumf
// CHECK: -> tensor<2x8x3x40xf32>
// CHECK: arith.divf
// CHECK-NOT: scf.for
func.func @jax(%q: tensor<2x3x40x16xf32>, %k: tensor<700x2x16xf32>, %v: tensor<700x2x8xf32>) -> tensor<2x8x3x40xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %least = arith.constant dense<0xFF800000> : tensor<f32>
  %scale = arith.constant dense<4.0> : tensor<f32>
  %es = tensor.empty() : tensor<2x3x40x700xf32>
  %er = tensor.empty() : tensor<2x3x40xf32>
  %er1 = tensor.empty() : tensor<2x3x40x1xf32>
  %eo = tensor.empty() : tensor<2x8x3x40xf32>
  %em = tensor.empty() : tensor<40x700xi1>
  %es1 = tensor.empty() : tensor<2x3x40x700xi1>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x40x700xf32>) -> tensor<2x3x40x700xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x8x3x40xf32>) -> tensor<2x8x3x40xf32>
  %s = linalg.generic {indexing_maps = [#x, #y, #xy], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x40x16xf32>, tensor<700x2x16xf32>) outs(%s0 : tensor<2x3x40x700xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ab = arith.mulf %a, %b : f32
    %abc = arith.addf %c, %ab : f32
    linalg.yield %abc : f32
  } -> tensor<2x3x40x700xf32>
  %scales = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%scale : tensor<f32>) outs(%es : tensor<2x3x40x700xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x700xf32>
  %t = arith.divf %s, %scales : tensor<2x3x40x700xf32>
  %sees = linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<40x700xi1>) {
  ^bb0(%c: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ij = arith.cmpi sge, %i, %j : index
    linalg.yield %ij : i1
  } -> tensor<40x700xi1>
  %seen = linalg.generic {indexing_maps = [#ij, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sees : tensor<40x700xi1>) outs(%es1 : tensor<2x3x40x700xi1>) {
  ^bb0(%a: i1, %c: i1):
    linalg.yield %a : i1
  } -> tensor<2x3x40x700xi1>
  %leasts = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%least : tensor<f32>) outs(%es : tensor<2x3x40x700xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x700xf32>
  %u = arith.select %seen, %t, %leasts : tensor<2x3x40x700xi1>, tensor<2x3x40x700xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%u : tensor<2x3x40x700xf32>) outs(%m0 : tensor<2x3x40xf32>) {
  ^bb0(%a: f32, %c: f32):
    %ac = arith.maximumf %c, %a : f32
    linalg.yield %ac : f32
  } -> tensor<2x3x40xf32>
  %mm = arith.maximumf %m0, %m : tensor<2x3x40xf32>
  %m1 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%mm : tensor<2x3x40xf32>) outs(%er1 : tensor<2x3x40x1xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x1xf32>
  %ms = linalg.generic {indexing_maps = [#row1, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%m1 : tensor<2x3x40x1xf32>) outs(%es : tensor<2x3x40x700xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x700xf32>
  %d = arith.subf %u, %ms : tensor<2x3x40x700xf32>
  %e = math.exp %d : tensor<2x3x40x700xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x3x40x700xf32>) outs(%l0 : tensor<2x3x40xf32>) {
  ^bb0(%a: f32, %c: f32):
    %ac = arith.addf %c, %a : f32
    linalg.yield %ac : f32
  } -> tensor<2x3x40xf32>
  %l1 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l : tensor<2x3x40xf32>) outs(%er1 : tensor<2x3x40x1xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x1xf32>
  %ls = linalg.generic {indexing_maps = [#row1, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l1 : tensor<2x3x40x1xf32>) outs(%es : tensor<2x3x40x700xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x700xf32>
  %p = arith.divf %e, %ls : tensor<2x3x40x700xf32>
  %o = linalg.generic {indexing_maps = [#ov, #op, #oo], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v, %p : tensor<700x2x8xf32>, tensor<2x3x40x700xf32>) outs(%o0 : tensor<2x8x3x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ab = arith.mulf %a, %b : f32
    %abc = arith.addf %c, %ab : f32
    linalg.yield %abc : f32
  } -> tensor<2x8x3x40xf32>
  return %o : tensor<2x8x3x40xf32>
}

// -----

// As torch exports it: heads in one dimension for the contractions and in two between, bf16. Six heads, one at a time; 601 columns are 301 and 300.
// Sums and products are kept in f32.
// CHECK-LABEL: func.func @torch(
// CHECK: scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for {{.*}} = %c0 to %c3 step %c1
// CHECK: scf.for {{.*}} = %c0 to %c260 step %c130
// CHECK: linalg.batch_matmul {{.*}} -> tensor<1x130x301xbf16>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x1x130x301xbf16>
// CHECK: arith.maximumf
// CHECK: arith.extf
// CHECK: linalg.batch_matmul {{.*}} -> tensor<1x130x8xbf16>
// CHECK: -> tensor<1x1x130x8xf32>
// CHECK: linalg.batch_matmul {{.*}} -> tensor<1x130x300xbf16>
// CHECK: linalg.batch_matmul {{.*}} -> tensor<1x130x8xbf16>
// CHECK: tensor.insert_slice {{.*}} into tensor<2x3x260x8xf32>
// CHECK: arith.truncf
// CHECK: -> tensor<2x3x260x8xbf16>
func.func @torch(%q: tensor<2x3x260x16xbf16>, %k: tensor<2x3x601x16xbf16>, %v: tensor<2x3x601x8xbf16>, %bias: tensor<260x601xbf16>) -> tensor<2x3x260x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %inf = arith.constant 0xFF80 : bf16
  %sc = arith.constant 0.17 : bf16
  %ekt = tensor.empty() : tensor<2x3x16x601xbf16>
  %kt = linalg.transpose ins(%k : tensor<2x3x601x16xbf16>) outs(%ekt : tensor<2x3x16x601xbf16>) permutation = [0, 1, 3, 2]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x260x16xbf16> into tensor<6x260x16xbf16>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x16x601xbf16> into tensor<6x16x601xbf16>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x601x8xbf16> into tensor<6x601x8xbf16>
  %es3 = tensor.empty() : tensor<6x260x601xbf16>
  %s0 = linalg.fill ins(%zero : bf16) outs(%es3 : tensor<6x260x601xbf16>) -> tensor<6x260x601xbf16>
  %s3 = linalg.batch_matmul ins(%q3, %k3 : tensor<6x260x16xbf16>, tensor<6x16x601xbf16>) outs(%s0 : tensor<6x260x601xbf16>) -> tensor<6x260x601xbf16>
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 260, 601] : tensor<6x260x601xbf16> into tensor<2x3x260x601xbf16>
  %es = tensor.empty() : tensor<2x3x260x601xbf16>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(i,j)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s, %bias : tensor<2x3x260x601xbf16>, tensor<260x601xbf16>) outs(%es : tensor<2x3x260x601xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %a = arith.mulf %x, %sc : bf16
      %b = arith.addf %a, %y : bf16
      linalg.yield %b : bf16
} -> tensor<2x3x260x601xbf16>
  %m2 = arith.addf %m1, %m1 : tensor<2x3x260x601xbf16>
  %em = tensor.empty() : tensor<2x3x260xbf16>
  %m0 = linalg.fill ins(%inf : bf16) outs(%em : tensor<2x3x260xbf16>) -> tensor<2x3x260xbf16>
  %mx = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%m2 : tensor<2x3x260x601xbf16>) outs(%m0 : tensor<2x3x260xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
      %a = arith.maximumf %x, %y : bf16
      linalg.yield %a : bf16
} -> tensor<2x3x260xbf16>
  %mxe = tensor.expand_shape %mx [[0], [1], [2, 3]] output_shape [2, 3, 260, 1] : tensor<2x3x260xbf16> into tensor<2x3x260x1xbf16>
  %d = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%m2, %mxe : tensor<2x3x260x601xbf16>, tensor<2x3x260x1xbf16>) outs(%es : tensor<2x3x260x601xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %a = arith.subf %x, %y : bf16
      linalg.yield %a : bf16
} -> tensor<2x3x260x601xbf16>
  %e = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%d : tensor<2x3x260x601xbf16>) outs(%es : tensor<2x3x260x601xbf16>) {
  ^bb0(%x: bf16, %z: bf16):
      %a = math.exp %x : bf16
      linalg.yield %a : bf16
} -> tensor<2x3x260x601xbf16>
  %el = tensor.empty() : tensor<2x3x260x1xbf16>
  %l0 = linalg.fill ins(%zero : bf16) outs(%el : tensor<2x3x260x1xbf16>) -> tensor<2x3x260x1xbf16>
  %l = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%e : tensor<2x3x260x601xbf16>) outs(%l0 : tensor<2x3x260x1xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
      %a = arith.addf %x, %y : bf16
      linalg.yield %a : bf16
} -> tensor<2x3x260x1xbf16>
  %p = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%e, %l : tensor<2x3x260x601xbf16>, tensor<2x3x260x1xbf16>) outs(%es : tensor<2x3x260x601xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %a = arith.divf %x, %y : bf16
      linalg.yield %a : bf16
} -> tensor<2x3x260x601xbf16>
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<2x3x260x601xbf16> into tensor<6x260x601xbf16>
  %eo = tensor.empty() : tensor<6x260x8xbf16>
  %o0 = linalg.fill ins(%zero : bf16) outs(%eo : tensor<6x260x8xbf16>) -> tensor<6x260x8xbf16>
  %o3 = linalg.batch_matmul ins(%p3, %v3 : tensor<6x260x601xbf16>, tensor<6x601x8xbf16>) outs(%o0 : tensor<6x260x8xbf16>) -> tensor<6x260x8xbf16>
  %o = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 260, 8] : tensor<6x260x8xbf16> into tensor<2x3x260x8xbf16>
  return %o : tensor<2x3x260x8xbf16>
}
  