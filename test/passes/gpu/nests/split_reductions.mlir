// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-split-reductions)' | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
#both = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Two rows over a vocabulary: 16 parts of each, of 8016 elements, begin with the identity. The fill of the results stands in front of what combines the
// parts, with which it is one kernel.
// CHECK-LABEL: func.func @vocabulary
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<2x16xf32>
// CHECK: linalg.generic {{.*}} outs(%[[PARTS]] : memref<2x16xf32>)
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: %[[WIDE:.*]] = memref.expand_shape %arg0 {{\[}}[0], [1, 2]] output_shape [2, 16, 8016] : memref<2x128256xf32> into memref<2x16x8016xf32>
// CHECK: linalg.generic {indexing_maps = [#[[BOTH:.*]], #[[PART:.*]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[WIDE]] : {{.*}}) outs(%[[PARTS]] :
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%cst : f32) outs(%arg1 : memref<2xf32>)
// CHECK: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%[[PARTS]] : {{.*}}) outs(%arg1 : memref<2xf32>)
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @vocabulary(%x: memref<2x128256xf32>, %max: memref<2xf32>) {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%low : f32) outs(%max : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2x128256xf32>) outs(%max : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// One number of a matrix: parts are rows of it, which stay whole. Indices of the body are those of before.
// CHECK-LABEL: func.func @number
// CHECK: memref.alloc() : memref<256xf32>
// CHECK: memref.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [256, 8, 4096] : memref<2048x4096xf32> into memref<256x8x4096xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction"]
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[P:.*]] = linalg.index 0
// CHECK: %[[FIRST:.*]] = arith.muli %[[P]], %[[EIGHT]]
// CHECK: arith.addi %[[I]], %[[FIRST]]
func.func @number(%x: memref<2048x4096xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [#rows, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<2048x4096xf32>) outs(%sum : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %w = arith.mulf %a, %f : f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// 50,257 is a prime number: six parts in vectors, and a rest of one element, whose index is that of before.
// CHECK-LABEL: func.func @prime
// CHECK: memref.alloc() : memref<3x6xf32>
// CHECK: %[[MAIN:.*]] = memref.subview %arg0[0, 0] [3, 50256] [1, 1] : memref<3x50257xf32> to memref<3x50256xf32, strided<[50257, 1]>>
// CHECK: memref.expand_shape %[[MAIN]] {{\[}}[0], [1, 2]] output_shape [3, 6, 8376] : {{.*}} into memref<3x6x8376xf32, strided<[50257, 8376, 1]>>
// CHECK: linalg.generic {{.*}} outs(%arg1 : memref<3xf32>)
// CHECK: %[[REST:.*]] = memref.subview %arg0[0, 50256] [3, 1] [1, 1] : memref<3x50257xf32> to memref<3x1xf32, strided<[50257, 1], offset: 50256>>
// CHECK: linalg.generic {{.*}} ins(%[[REST]] : {{.*}}) outs(%arg1 : memref<3xf32>)
// CHECK: %[[C:.*]] = linalg.index 1
// CHECK: %[[OFFSET:.*]] = arith.constant 50256 : index
// CHECK: arith.addi %[[C]], %[[OFFSET]]
func.func @prime(%x: memref<3x50257xf32>, %sum: memref<3xf32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x50257xf32>) outs(%sum : memref<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %w = arith.mulf %a, %f : f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Columns: what comes of a part lies side by side.
// CHECK-LABEL: func.func @columns
// CHECK: memref.alloc() : memref<16x512xbf16>
// CHECK: memref.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [16, 512, 512]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
func.func @columns(%x: memref<8192x512xbf16>, %sum: memref<512xbf16>) {
  linalg.generic {indexing_maps = [#rows, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x512xbf16>) outs(%sum : memref<512xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %s = arith.addf %o, %a : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// What stays: rows that keep many blocks busy; rows that a block can keep; what is reduced into itself; a combination that is none; a body that
// reads memory.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: memref.alloc
func.func @stays(%many: memref<200x128256xf32>, %short: memref<2x16384xf32>, %r: memref<200xf32>, %s: memref<2xf32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%many : memref<200x128256xf32>) outs(%r : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%short : memref<2x16384xf32>) outs(%s : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#rows, #none, #none], iterator_types = ["reduction", "reduction"]}
      ins(%many, %b : memref<200x128256xf32>, memref<f32>) outs(%b : memref<f32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#rows, #none], iterator_types = ["reduction", "reduction"]}
      ins(%many : memref<200x128256xf32>) outs(%b : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.subf %a, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#rows, #none], iterator_types = ["reduction", "reduction"]}
      ins(%many : memref<200x128256xf32>) outs(%b : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %v = memref.load %r[%i] : memref<200xf32>
    %w = arith.mulf %v, %a : f32
    %t = arith.addf %o, %w : f32
    linalg.yield %t : f32
  }
  return
}
