// Which blocks of columns a causal mask leaves out: the loop over them ends behind the last column that a row of the block sees.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,convert-elementwise-to-linalg,tp-tile-attention,canonicalize,cse)' | FileCheck %s

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// Rows i to i + 255 see columns up to i + 255, in blocks of 256: (i + 255 + 1 + 255) / 256 of them.
// CHECK-LABEL: func.func @infinite(
// CHECK: scf.for %[[I:.*]] = %c0 to %c1024 step %c256
// CHECK: %[[UP:.*]] = arith.addi %[[I]], %c511
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[UP]], %c0
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[POSITIVE]], %c256
// CHECK: %[[COLUMNS:.*]] = arith.muli %[[BLOCKS]], %c256
// CHECK: %[[END:.*]] = arith.minsi %[[COLUMNS]], %c1024
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c256
// CHECK: {tp.blocks = 4 : i64}
// CHECK-NOT: scf.for
// CHECK: return
func.func @infinite(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %y = arith.select %c, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// A number hides what is far below all scores so far; where they are not, the other blocks are computed too.
// CHECK-LABEL: func.func @large(
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: %[[SEEN:.*]]:3 = scf.for %{{.*}} = %c0 to %[[END]] step %c256
// CHECK: {tp.blocks = 4 : i64}
// CHECK: linalg.generic {{.*}} ins(%[[SEEN]]#0 : tensor<256xf32>)
// CHECK: arith.cmpf ogt
// CHECK: arith.andi
// CHECK: %[[FAR:.*]] = tensor.extract
// CHECK: %[[FROM:.*]] = arith.select %[[FAR]], %c1024, %[[END]] : index
// CHECK: scf.for %{{.*}} = %[[FROM]] to %c1024 step %c256 iter_args(%{{.*}} = %[[SEEN]]#0, %{{.*}} = %[[SEEN]]#1, %{{.*}} = %[[SEEN]]#2)
// CHECK: {tp.blocks = 0 : i64}
func.func @large(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant -1.0e30 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %y = arith.select %c, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// Places may be shifted by numbers and by indices from outside, and be of another type.
// CHECK-LABEL: func.func @shifted(
// CHECK: %[[PLACE:.*]] = arith.remui %arg3
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c262
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[LAST]], %[[PLACE]]
// CHECK: arith.addi %[[SHIFTED]], %c255
// CHECK: arith.maxsi
func.func @shifted(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %most = arith.constant 65536 : index
  %near = arith.remui %place, %most : index
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %a = arith.addi %i, %near : index
    %b = arith.addi %a, %seven : index
    %bi = arith.index_cast %b : index to i32
    %ji = arith.index_cast %j : index to i32
    %c = arith.cmpi sge, %ji, %bi : i32
    %y = arith.select %c, %hidden, %x : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// A place that may not fit the type of the comparison hides no columns for certain.
// CHECK-LABEL: func.func @far(
// CHECK-NOT: arith.minsi
func.func @far(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %a = arith.addi %i, %place : index
    %b = arith.addi %a, %seven : index
    %bi = arith.index_cast %b : index to i32
    %ji = arith.index_cast %j : index to i32
    %c = arith.cmpi sge, %ji, %bi : i32
    %y = arith.select %c, %hidden, %x : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// 1024 rows do not fit 8 bits.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT: arith.minsi
func.func @narrow(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %a = arith.addi %i, %seven : index
    %b = arith.addi %a, %seven : index
    %bi = arith.index_cast %b : index to i8
    %ji = arith.index_cast %j : index to i8
    %c = arith.cmpi sge, %ji, %bi : i8
    %y = arith.select %c, %hidden, %x : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// Not so: columns behind are seen, those before are hidden.
// CHECK-LABEL: func.func @anticausal(
// CHECK-NOT: arith.minsi
func.func @anticausal(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %i, %j : index
    %y = arith.select %c, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// Either condition shows a column.
// CHECK-LABEL: func.func @either(
// CHECK-NOT: arith.minsi
func.func @either(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.constant 900 : index
    %c = arith.cmpi sge, %i, %j : index
    %d = arith.cmpi sge, %j, %first : index
    %e = arith.ori %c, %d : i1
    %y = arith.select %e, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// What is hidden is no smaller than what is seen.
// CHECK-LABEL: func.func @positive(
// CHECK-NOT: arith.minsi
func.func @positive(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 5.0 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %y = arith.select %c, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// Something is added behind the mask.
// CHECK-LABEL: func.func @added(
// CHECK-NOT: arith.minsi
func.func @added(%q: tensor<1024x16xf32>, %k: tensor<1024x16xf32>, %v: tensor<1024x8xf32>, %place: index) -> tensor<1024x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant -1.0e30 : f32
  %es = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<1024x16xf32>, tensor<1024x16xf32>) outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %y = arith.select %c, %x, %hidden : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  %u = arith.addf %t, %t : tensor<1024x1024xf32>
  %p = linalg.softmax dimension(1) ins(%u : tensor<1024x1024xf32>) outs(%es : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x8xf32>) outs(%o0 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %o : tensor<1024x8xf32>
}
