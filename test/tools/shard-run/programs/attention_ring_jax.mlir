// Keys and values in a ring, in the form that JAX exports: groups of queries, values in front, a causal mask that is made apart.
// RUN: shard-run %s --mesh tp=2 | FileCheck %s --check-prefix=TWO
// RUN: shard-run %s --mesh tp=3 | FileCheck %s --check-prefix=THREE
// RUN: shard-run %s --mesh tp=4 | FileCheck %s --check-prefix=FOUR
// TWO: permute tp 2{{ }}
// TWO: verified
// THREE: permute tp 4{{ }}
// THREE: verified
// FOUR: permute tp 6{{ }}
// FOUR: verified

shard.grid @mesh(shape = 1) {tp.axes = ["tp"]}
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
func.func @main(%q: tensor<2x3x40x16xf32>, %k: tensor<708x2x16xf32>, %v: tensor<708x2x8xf32>) -> tensor<2x8x3x40xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %least = arith.constant dense<0xFF800000> : tensor<f32>
  %scale = arith.constant dense<4.0> : tensor<f32>
  %es = tensor.empty() : tensor<2x3x40x708xf32>
  %er = tensor.empty() : tensor<2x3x40xf32>
  %er1 = tensor.empty() : tensor<2x3x40x1xf32>
  %eo = tensor.empty() : tensor<2x8x3x40xf32>
  %em = tensor.empty() : tensor<40x708xi1>
  %es1 = tensor.empty() : tensor<2x3x40x708xi1>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x40x708xf32>) -> tensor<2x3x40x708xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x8x3x40xf32>) -> tensor<2x8x3x40xf32>
  %s = linalg.generic {indexing_maps = [#x, #y, #xy], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"], tp.factors = {tp = "ring 2"}} ins(%q, %k : tensor<2x3x40x16xf32>, tensor<708x2x16xf32>) outs(%s0 : tensor<2x3x40x708xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ab = arith.mulf %a, %b : f32
    %abc = arith.addf %c, %ab : f32
    linalg.yield %abc : f32
  } -> tensor<2x3x40x708xf32>
  %scales = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%scale : tensor<f32>) outs(%es : tensor<2x3x40x708xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x708xf32>
  %t = arith.divf %s, %scales : tensor<2x3x40x708xf32>
  %sees = linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<40x708xi1>) {
  ^bb0(%c: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ij = arith.cmpi sge, %i, %j : index
    linalg.yield %ij : i1
  } -> tensor<40x708xi1>
  %seen = linalg.generic {indexing_maps = [#ij, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sees : tensor<40x708xi1>) outs(%es1 : tensor<2x3x40x708xi1>) {
  ^bb0(%a: i1, %c: i1):
    linalg.yield %a : i1
  } -> tensor<2x3x40x708xi1>
  %leasts = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%least : tensor<f32>) outs(%es : tensor<2x3x40x708xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x708xf32>
  %u = arith.select %seen, %t, %leasts : tensor<2x3x40x708xi1>, tensor<2x3x40x708xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%u : tensor<2x3x40x708xf32>) outs(%m0 : tensor<2x3x40xf32>) {
  ^bb0(%a: f32, %c: f32):
    %ac = arith.maximumf %c, %a : f32
    linalg.yield %ac : f32
  } -> tensor<2x3x40xf32>
  %mm = arith.maximumf %m0, %m : tensor<2x3x40xf32>
  %m1 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%mm : tensor<2x3x40xf32>) outs(%er1 : tensor<2x3x40x1xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x1xf32>
  %ms = linalg.generic {indexing_maps = [#row1, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%m1 : tensor<2x3x40x1xf32>) outs(%es : tensor<2x3x40x708xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x708xf32>
  %d = arith.subf %u, %ms : tensor<2x3x40x708xf32>
  %e = math.exp %d : tensor<2x3x40x708xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x3x40x708xf32>) outs(%l0 : tensor<2x3x40xf32>) {
  ^bb0(%a: f32, %c: f32):
    %ac = arith.addf %c, %a : f32
    linalg.yield %ac : f32
  } -> tensor<2x3x40xf32>
  %l1 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l : tensor<2x3x40xf32>) outs(%er1 : tensor<2x3x40x1xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x1xf32>
  %ls = linalg.generic {indexing_maps = [#row1, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l1 : tensor<2x3x40x1xf32>) outs(%es : tensor<2x3x40x708xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x40x708xf32>
  %p = arith.divf %e, %ls : tensor<2x3x40x708xf32>
  %o = linalg.generic {indexing_maps = [#ov, #op, #oo], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"], tp.factors = {tp = "ring 3"}} ins(%v, %p : tensor<708x2x8xf32>, tensor<2x3x40x708xf32>) outs(%o0 : tensor<2x8x3x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ab = arith.mulf %a, %b : f32
    %abc = arith.addf %c, %ab : f32
    linalg.yield %abc : f32
  } -> tensor<2x8x3x40xf32>
  return %o : tensor<2x8x3x40xf32>
}
