// A mask that two attentions share is stored, and each reads it: 256 KiB take 32.8 us where the additions take 21.8. Masks of their own are made in blocks and not
// read; the second one is computed then, which takes 54.6 us.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' | FileCheck %s
// CHECK: func.func @own
// CHECK-SAME: cost_ps = 1412408532
// CHECK: func.func @shared
// CHECK-SAME: cost_ps = 1379640533
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#s2 = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @own(%q1: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, %q2: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, %k: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x256x256xf32>
  %eo = tensor.empty() : tensor<4x256x8xf32>
  %mask1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%es : tensor<4x256x256xf32>) {
  ^bb0(%c: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %less = arith.cmpi sge, %i, %j : index
    %r = arith.select %less, %zero, %inf : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %mask2 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%es : tensor<4x256x256xf32>) {
  ^bb0(%c: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %less = arith.cmpi sge, %i, %j : index
    %r = arith.select %less, %zero, %inf : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %s01 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %s1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q1, %k : tensor<4x256x8xf32>, tensor<4x256x8xf32>) outs(%s01 : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %t1 = arith.addf %s1, %mask1 : tensor<4x256x256xf32>
  %p1 = linalg.softmax dimension(2) ins(%t1 : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %o01 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x256x8xf32>) -> tensor<4x256x8xf32>
  %o1 = linalg.generic {indexing_maps = [#s2, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p1, %k : tensor<4x256x256xf32>, tensor<4x256x8xf32>) outs(%o01 : tensor<4x256x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x8xf32>
  %s02 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %s2 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q2, %k : tensor<4x256x8xf32>, tensor<4x256x8xf32>) outs(%s02 : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %t2 = arith.addf %s2, %mask2 : tensor<4x256x256xf32>
  %p2 = linalg.softmax dimension(2) ins(%t2 : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %o02 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x256x8xf32>) -> tensor<4x256x8xf32>
  %o2 = linalg.generic {indexing_maps = [#s2, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p2, %k : tensor<4x256x256xf32>, tensor<4x256x8xf32>) outs(%o02 : tensor<4x256x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x8xf32>
  return %o1, %o2 : tensor<4x256x8xf32>, tensor<4x256x8xf32>
}
func.func @shared(%q1: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, %q2: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, %k: tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}, tensor<4x256x8xf32> {tp.sharding = [["x"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x256x256xf32>
  %eo = tensor.empty() : tensor<4x256x8xf32>
  %mask1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%es : tensor<4x256x256xf32>) {
  ^bb0(%c: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %less = arith.cmpi sge, %i, %j : index
    %r = arith.select %less, %zero, %inf : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %s01 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %s1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q1, %k : tensor<4x256x8xf32>, tensor<4x256x8xf32>) outs(%s01 : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %t1 = arith.addf %s1, %mask1 : tensor<4x256x256xf32>
  %p1 = linalg.softmax dimension(2) ins(%t1 : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %o01 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x256x8xf32>) -> tensor<4x256x8xf32>
  %o1 = linalg.generic {indexing_maps = [#s2, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p1, %k : tensor<4x256x256xf32>, tensor<4x256x8xf32>) outs(%o01 : tensor<4x256x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x8xf32>
  %s02 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %s2 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q2, %k : tensor<4x256x8xf32>, tensor<4x256x8xf32>) outs(%s02 : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x256xf32>
  %t2 = arith.addf %s2, %mask1 : tensor<4x256x256xf32>
  %p2 = linalg.softmax dimension(2) ins(%t2 : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %o02 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x256x8xf32>) -> tensor<4x256x8xf32>
  %o2 = linalg.generic {indexing_maps = [#s2, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p2, %k : tensor<4x256x256xf32>, tensor<4x256x8xf32>) outs(%o02 : tensor<4x256x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x256x8xf32>
  return %o1, %o2 : tensor<4x256x8xf32>, tensor<4x256x8xf32>
}
