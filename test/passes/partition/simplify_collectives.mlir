// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-simplify-collectives)" | FileCheck %s

// Equal collectives and slices of the same value, also inside a region; not those in sibling regions.

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func private @tp.permute.4x8xf32(tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-LABEL: func.func @equal
  // CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
  // CHECK-NEXT: %[[A:.*]] = shard.all_gather %[[X]] on @mesh grid_axes = [1] gather_axis = 0
  // CHECK-NEXT: %[[B:.*]] = shard.all_gather %[[X]] on @mesh grid_axes = [1] gather_axis = 1
  // CHECK-NEXT: %[[P:.*]] = call @tp.permute.4x8xf32(%[[X]]) {tp.pairs = {{\[\[}}0, 1]]}
  // CHECK-NEXT: %[[Q:.*]] = call @tp.permute.4x8xf32(%[[X]]) {tp.pairs = {{\[\[}}1, 0]]}
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[X]]
  // CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[P]], %[[P]], %[[Q]], %[[S]], %[[S]]
  func.func @equal(%x: tensor<4x8xf32>)
      -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<4x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
    %a = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<4x8xf32> -> tensor<16x8xf32>
    %b = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x8xf32> -> tensor<4x32xf32>
    %p = call @tp.permute.4x8xf32(%x) {tp.pairs = [[0, 1]]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %p2 = call @tp.permute.4x8xf32(%x) {tp.pairs = [[0, 1]]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %q = call @tp.permute.4x8xf32(%x) {tp.pairs = [[1, 0]]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %a2 = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<4x8xf32> -> tensor<16x8xf32>
    %s = tensor.extract_slice %x[0, 2] [4, 2] [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
    %s2 = tensor.extract_slice %x[0, 2] [4, 2] [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
    return %a, %a2, %b, %p, %p2, %q, %s, %s2
        : tensor<16x8xf32>, tensor<16x8xf32>, tensor<4x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  }

  // CHECK-LABEL: func.func @regions
  // CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: i1
  // CHECK-NEXT: %[[A:.*]] = shard.all_reduce %[[X]] on @mesh grid_axes = [0]
  // CHECK: scf.if
  // CHECK-NEXT: shard.all_reduce %[[X]] on @mesh grid_axes = [1]
  // CHECK: else
  // CHECK-NEXT: shard.all_reduce %[[X]] on @mesh grid_axes = [1]
  // CHECK-NEXT: linalg.add ins(%{{.*}}, %[[A]]
  // CHECK-NOT: shard.all_reduce
  // CHECK: return
  func.func @regions(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %r = scf.if %c -> (tensor<4xf32>) {
      %b = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
      scf.yield %b : tensor<4xf32>
    } else {
      %b = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
      %a2 = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
      %s = linalg.add ins(%b, %a2 : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    return %a, %r : tensor<4xf32>, tensor<4xf32>
  }

  // Other axes, another reduction, another combiner.
  // CHECK-LABEL: func.func @different
  // CHECK-COUNT-4: shard.all_reduce
  func.func @different(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %x on @mesh grid_axes = [0, 1] : tensor<4xf32> -> tensor<4xf32>
    %c = shard.all_reduce %x on @mesh grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32>
    %d = shard.all_reduce %x on @mesh grid_axes = [0] reduction = max {tp.combiner = "maxnumf"} : tensor<4xf32> -> tensor<4xf32>
    return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A slice of what was gathered the same way. The gather goes when nothing else uses it.

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  // CHECK-LABEL: func.func @slice_of_gather
  // CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
  // CHECK-NEXT: return %[[X]]
  func.func @slice_of_gather(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %g = shard.all_gather %x on @mesh grid_axes = [0, 1] gather_axis = 1 : tensor<4x8xf32> -> tensor<4x64xf32>
    %s = shard.all_slice %g on @mesh grid_axes = [0, 1] slice_axis = 1 : tensor<4x64xf32> -> tensor<4x8xf32>
    return %s : tensor<4x8xf32>
  }

  // Not in another order of the axes, along another dimension, or of a part of the axes.
  // CHECK-LABEL: func.func @not_the_same
  // CHECK-COUNT-3: shard.all_slice
  func.func @not_the_same(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<1x64xf32>, tensor<8x32xf32>) {
    %g = shard.all_gather %x on @mesh grid_axes = [0, 1] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x64xf32>
    %s = shard.all_slice %g on @mesh grid_axes = [1, 0] slice_axis = 1 : tensor<8x64xf32> -> tensor<8x8xf32>
    %t = shard.all_slice %g on @mesh grid_axes = [0, 1] slice_axis = 0 : tensor<8x64xf32> -> tensor<1x64xf32>
    %u = shard.all_slice %g on @mesh grid_axes = [0] slice_axis = 1 : tensor<8x64xf32> -> tensor<8x32xf32>
    return %s, %t, %u : tensor<8x8xf32>, tensor<1x64xf32>, tensor<8x32xf32>
  }

  // A gather of a slice is the value only where the value is replicated: nobody says so here.
  // CHECK-LABEL: func.func @gather_of_slice
  // CHECK: shard.all_slice
  // CHECK: shard.all_gather
  func.func @gather_of_slice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 1 : tensor<4x8xf32> -> tensor<4x2xf32>
    %g = shard.all_gather %s on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x2xf32> -> tensor<4x8xf32>
    return %g : tensor<4x8xf32>
  }
}

// -----

// Sums and differences of all_reduces: one all_reduce, also of more than two terms.

#id = affine_map<(d0) -> (d0)>
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4x4) {tp.axes = ["tp", "dp"]}
  // CHECK-LABEL: func.func @sum
  // CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
  // CHECK: %[[D:.*]] = arith.subf %[[S]], %[[Z]]
  // CHECK-NEXT: %[[R:.*]] = shard.all_reduce %[[D]] on @mesh grid_axes = [0]
  // CHECK-NEXT: return %[[R]]
  func.func @sum(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %c = shard.all_reduce %z on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %in2: f32, %out: f32):
      %0 = arith.addf %in, %in2 : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %d = arith.subf %s, %c : tensor<4xf32>
    return %d : tensor<4xf32>
  }

  // Not a product, a maximum, a sum with another use, of one all_reduce with itself, or one that starts from the output.
  // CHECK-LABEL: func.func @product
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: arith.mulf
  // CHECK-NEXT: return
  func.func @product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %s = arith.mulf %a, %b : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @maximum
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: arith.addf
  // CHECK-NEXT: return
  func.func @maximum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // One over one axis, the other over the other; and a sum of a maximum.
  // CHECK-LABEL: func.func @other_groups
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: arith.addf
  // CHECK-NEXT: return
  func.func @other_groups(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @other_kinds
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: arith.addf
  // CHECK-NEXT: return
  func.func @other_kinds(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @used_twice
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: arith.addf
  // CHECK-NEXT: return
  func.func @used_twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    return %s, %b : tensor<4xf32>, tensor<4xf32>
  }

  // CHECK-LABEL: func.func @itself
  // CHECK: %[[A:.*]] = shard.all_reduce
  // CHECK: %[[S:.*]] = arith.addf %[[A]], %[[A]]
  // CHECK-NEXT: return %[[S]]
  func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %a, %a : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @with_init
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: linalg.generic
  // CHECK-NOT: shard.all_reduce
  func.func @with_init(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) {
    ^bb0(%in: f32, %in2: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    return %s : tensor<4xf32>
  }

  // Into a branch no collective moves.
  // CHECK-LABEL: func.func @branch
  // CHECK-COUNT-2: shard.all_reduce
  // CHECK: scf.if
  // CHECK-NOT: shard.all_reduce
  func.func @branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %r = scf.if %c -> (tensor<4xf32>) {
      %s = arith.addf %a, %b : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}

// -----

// all_reduce and all_slice: reduce_scatter, with the combiner and in the order of the slice.

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  // CHECK-LABEL: func.func @scatter
  // CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
  // CHECK-NEXT: %[[R:.*]] = shard.reduce_scatter %[[X]] on @mesh grid_axes = [1, 0] reduction = max scatter_axis = 1 {tp.combiner = "maxnumf"} : tensor<8x16xf32> -> tensor<8x2xf32>
  // CHECK-NEXT: return %[[R]]
  func.func @scatter(%x: tensor<8x16xf32>) -> tensor<8x2xf32> {
    %a = shard.all_reduce %x on @mesh grid_axes = [0, 1] reduction = max {tp.combiner = "maxnumf"} : tensor<8x16xf32> -> tensor<8x16xf32>
    %s = shard.all_slice %a on @mesh grid_axes = [1, 0] slice_axis = 1 : tensor<8x16xf32> -> tensor<8x2xf32>
    return %s : tensor<8x2xf32>
  }

  // Two equal slices are one.
  // CHECK-LABEL: func.func @scatter_once
  // CHECK-NEXT: %[[R:.*]] = shard.reduce_scatter
  // CHECK-NEXT: return %[[R]], %[[R]]
  func.func @scatter_once(%x: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
    %s = shard.all_slice %a on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x16xf32> -> tensor<8x4xf32>
    %t = shard.all_slice %a on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x16xf32> -> tensor<8x4xf32>
    return %s, %t : tensor<8x4xf32>, tensor<8x4xf32>
  }

  // Not along other axes, nor when the whole is used too.
  // CHECK-LABEL: func.func @other_axes
  // CHECK-NOT: shard.reduce_scatter
  func.func @other_axes(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
    %s = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 1 : tensor<8x16xf32> -> tensor<8x8xf32>
    %b = shard.all_reduce %y on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
    %t = shard.all_slice %b on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x16xf32> -> tensor<8x4xf32>
    return %s, %b, %t : tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x4xf32>
  }
}

// -----

// Dead ones with all that only they use; send and receive stay.

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 1x4) {tp.axes = ["dp", "tp"]}
  func.func private @tp.permute.4xf32(tensor<4xf32>) -> tensor<4xf32>
  func.func private @other(tensor<4xf32>) -> tensor<4xf32>
  // CHECK-LABEL: func.func @dead
  // CHECK-NEXT: shard.send
  // CHECK-NEXT: call @other
  // CHECK-NEXT: return
  func.func @dead(%x: tensor<4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
    %b = call @tp.permute.4xf32(%a) {tp.pairs = [[0, 1]]} : (tensor<4xf32>) -> tensor<4xf32>
    %c = shard.all_slice %b on @mesh grid_axes = [1] slice_axis = 0 : tensor<4xf32> -> tensor<1xf32>
    %s = shard.send %x on @mesh grid_axes = [1] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
    %d = call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }

  // Groups of one device; a shift has no source there, and one of four is no group of one.
  // CHECK-LABEL: func.func @single
  // CHECK-SAME: %[[X:.*]]: tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = shard.shift %[[X]]
  // CHECK-NEXT: %[[R:.*]] = shard.all_reduce %[[X]] on @mesh grid_axes = [0, 1]
  // CHECK-NEXT: return %[[X]], %[[S]], %[[R]]
  func.func @single(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %b = shard.all_gather %a on @mesh grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<4xf32>
    %s = shard.shift %x on @mesh grid_axes = [0] shift_axis = 0 offset = 1 : tensor<4xf32> -> tensor<4xf32>
    %r = shard.all_reduce %x on @mesh grid_axes = [0, 1] : tensor<4xf32> -> tensor<4xf32>
    return %b, %s, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
