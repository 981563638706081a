// Weights that a select drops (dropout): blocks, and rows that keep no weight are 0 even where their weights are NaN.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,convert-elementwise-to-linalg,tp-tile-attention,canonicalize,cse)' | FileCheck %s
// RUN: shard-run %s --mesh 2 2>&1 | FileCheck %s --check-prefix=DROPPED
// RUN: shard-run %s --mesh 1 2>&1 | FileCheck %s --check-prefix=DROPPED
// RUN: shard-run %s --mesh x=2,y=2 --strategy plan 2>&1 | FileCheck %s --check-prefix=DROPPED
// DROPPED-COUNT-2: against the evaluator ok
// DROPPED: {{^}}verified

// The rows that keep a weight are found in front of the blocks' results: by keep(h, i, j), and by the negation of drop(j, i).
// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<4x40x600xi1>)
// CHECK: arith.ori %out, %in : i1
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<600x40xi1>)
// CHECK: arith.xori
// CHECK-NEXT: arith.ori
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#turned = affine_map<(h, i, j) -> (j, i)>
#id2 = affine_map<(j, i) -> (j, i)>
func.func @main(%q: tensor<4x40x16xf32>, %k: tensor<4x600x16xf32>, %v: tensor<4x600x8xf32>) -> (tensor<4x40x8xf32>, tensor<4x40x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x40x600xf32>
  %eo = tensor.empty() : tensor<4x40x8xf32>
  %em = tensor.empty() : tensor<4x40x600xi1>
  %ed = tensor.empty() : tensor<600x40xi1>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  // Rows 3 and 5 see no column, so their weights are NaN.
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x40x16xf32>, tensor<4x600x16xf32>) outs(%s0 : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %hidden = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %is3 = arith.cmpi eq, %i, %c3 : index
    %is5 = arith.cmpi eq, %i, %c5 : index
    %is = arith.ori %is3, %is5 : i1
    %y = arith.select %is, %least, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x40x600xf32>
  %w = linalg.softmax dimension(2) ins(%hidden : tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  // Rows 3 and 7 keep no weight, row 5 the last one only.
  %keep = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%em : tensor<4x40x600xi1>) {
  ^bb0(%out: i1):
    %h = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c599 = arith.constant 599 : index
    %hi = arith.addi %h, %i : index
    %hij = arith.addi %hi, %j : index
    %rest = arith.remui %hij, %c5 : index
    %most = arith.cmpi ne, %rest, %c3 : index
    %not3 = arith.cmpi ne, %i, %c3 : index
    %not7 = arith.cmpi ne, %i, %c7 : index
    %not5 = arith.cmpi ne, %i, %c5 : index
    %last = arith.cmpi eq, %j, %c599 : index
    %a = arith.andi %not3, %not7 : i1
    %b = arith.andi %a, %most : i1
    %r = arith.select %not5, %b, %last : i1
    linalg.yield %r : i1
  } -> tensor<4x40x600xi1>
  %kept = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%keep, %w : tensor<4x40x600xi1>, tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) {
  ^bb0(%c: i1, %x: f32, %out: f32):
    %y = arith.select %c, %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<4x40x600xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%kept, %v : tensor<4x40x600xf32>, tensor<4x600x8xf32>) outs(%o0 : tensor<4x40x8xf32>) -> tensor<4x40x8xf32>

  // The same for all heads, turned and negated.
  %s2 = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x40x16xf32>, tensor<4x600x16xf32>) outs(%s0 : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %w2 = linalg.softmax dimension(2) ins(%s2 : tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %drop = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%ed : tensor<600x40xi1>) {
  ^bb0(%out: i1):
    %j = linalg.index 0 : index
    %i = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %ij = arith.addi %i, %j : index
    %rest = arith.remui %ij, %c7 : index
    %some = arith.cmpi eq, %rest, %c3 : index
    %is7 = arith.cmpi eq, %i, %c7 : index
    %r = arith.ori %some, %is7 : i1
    linalg.yield %r : i1
  } -> tensor<600x40xi1>
  %kept2 = linalg.generic {indexing_maps = [#turned, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%drop, %w2 : tensor<600x40xi1>, tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) {
  ^bb0(%c: i1, %x: f32, %out: f32):
    %y = arith.select %c, %zero, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x40x600xf32>
  %o2 = linalg.contract indexing_maps = [#p, #v, #o] ins(%kept2, %v : tensor<4x40x600xf32>, tensor<4x600x8xf32>) outs(%o0 : tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  return %o, %o2 : tensor<4x40x8xf32>, tensor<4x40x8xf32>
}
