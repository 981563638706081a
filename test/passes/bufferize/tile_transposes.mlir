// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-tile-transposes)' --split-input-file | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-tile-transposes)' --split-input-file \
// RUN:   | shard-opt --split-input-file --pass-pipeline='builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine)' \
// RUN:   | FileCheck %s --check-prefix=LOOPS

// Two operands are read along rows, one along columns. The loops over tiles keep their order.
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d0, d2)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-LABEL: func @turned
// CHECK: memref.expand_shape %{{.*}} : memref<16x16x128xf32> into memref<16x16x8x16xf32>
// CHECK: memref.expand_shape %{{.*}} : memref<256xf32> into memref<16x16xf32>
// CHECK: indexing_maps = [#[[TURNED]], #[[COLUMNS]], #[[ROWS]]], iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// LOOPS-LABEL: func @turned
// LOOPS-COUNT-4: scf.for
func.func @turned(%x: memref<256x128xf32>, %b: memref<256xf32>, %y: memref<128x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<256x128xf32>, memref<256xf32>) outs(%y : memref<128x256xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Sizes that 16 does not divide have other tiles, 25 x 27 here. A strided operand stays one.
// CHECK-LABEL: func @other_sizes
// CHECK: into memref<4x25x135xf32, strided<[5000, 200, 1], offset: ?>>
// CHECK: into memref<4x25x5x27xf32, strided<[5000, 200, 27, 1], offset: ?>>
func.func @other_sizes(%x: memref<100x135xf32, strided<[200, 1], offset: ?>>, %y: memref<135x100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<100x135xf32, strided<[200, 1], offset: ?>>) outs(%y : memref<135x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Not tiled: an operand that the cache holds, a prime size, rows in another order, an op that counts its
// iterations, a sum, and dynamic strides.
// CHECK-LABEL: func @kept
// CHECK-NOT: memref.expand_shape
func.func @kept(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %p: memref<128x509xf32>, %q: memref<509x128xf32>,
                %u: memref<16x128x64xf32>, %v: memref<128x16x64xf32>, %m: memref<256x256xf32>, %n: memref<256x256xf32>,
                %s: memref<256xf32>, %t: memref<256x256xf32, strided<[?, 1]>>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} ins(%x : memref<32x64xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} ins(%p : memref<128x509xf32>) outs(%q : memref<509x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u : memref<16x128x64xf32>) outs(%v : memref<128x16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} ins(%m : memref<256x256xf32>) outs(%n : memref<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %f = arith.sitofp %w : i32 to f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]} ins(%m : memref<256x256xf32>) outs(%s : memref<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<256x256xf32, strided<[?, 1]>>) outs(%n : memref<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
