// Kernels of several nests.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-nests,tp-outline-kernels,tp-map-kernels,canonicalize,cse)' | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A sum and what is divided by it: 100 rows of 64 vectors of 4, two rows in a block of 128 threads. A row is read once and written once; what
// its warps have of the sum goes through memory of the block, behind one barrier. All threads know the sum, one writes it.
// CHECK-LABEL: func.func @rows
// CHECK: call @tprt_abi_launch(
// CHECK-NOT: tprt_abi_launch
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 128>, tp.blocks = 50 : i64}
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK: memref.store %{{.*}} : memref<4xf32, 3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-2: memref.load %{{.*}} : memref<4xf32, 3>
// CHECK: scf.if
// CHECK: memref.store %{{.*}} : memref<100xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: arith.divf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
// Without vectors a row has 256 threads.
// CHECK: llvm.func @tp_kernel1({{.*}} nvvm.reqntid = array<i32: 256>, tp.blocks = 100 : i64}
// CHECK-NOT: vector<
func.func @rows(%context: !llvm.ptr, %x: memref<100x256xf32>, %sum: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x256xf32>) outs(%sum : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %o : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<100x256xf32>, memref<100xf32>) outs(%x : memref<100x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// 11 elements for 8 threads, 5 rows for 16: threads do their first element and the last row once more, and neither count nor store them.
// CHECK-LABEL: func.func @ragged
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 128>, tp.blocks = 1 : i64}
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %c5_i32
// CHECK: arith.select %[[EXISTS]], %{{.*}}, %c4_i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c11_i32
// CHECK: arith.select %[[INSIDE]]
// CHECK: %[[STORES:.*]] = arith.andi %[[INSIDE]], %[[EXISTS]]
// CHECK: %[[NEXT:.*]] = arith.maxsi %{{.*}}, %[[SO_FAR:.*]] : i32
// CHECK: arith.select %[[INSIDE]], %[[NEXT]], %[[SO_FAR]]
// CHECK-COUNT-3: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: scf.if
// CHECK-NEXT: memref.store %{{.*}} : memref<5xi32>
// CHECK: scf.if %[[EXISTS]]
// CHECK: scf.if %[[STORES]]
func.func @ragged(%context: !llvm.ptr, %x: memref<5x11xi32>, %max: memref<5xi32>) {
  %low = arith.constant -2147483648 : i32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%low : i32) outs(%max : memref<5xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<5x11xi32>) outs(%max : memref<5xi32>) {
  ^bb0(%a: i32, %o: i32):
    %z = arith.maxsi %a, %o : i32
    linalg.yield %z : i32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<5x11xi32>, memref<5xi32>) outs(%x : memref<5x11xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %z = arith.subi %a, %b : i32
    linalg.yield %z : i32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// The same loops and no rows: a thread has a vector in both nests. The second reads 8-byte numbers, two of which are 16 bytes.
// CHECK-LABEL: func.func @elements
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 256>, tp.blocks = 2 : i64}
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<2xf32>
// CHECK-COUNT-2: arith.extf
// CHECK-NOT: vector<2xf32>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<2xf64>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<2xf64>
func.func @elements(%context: !llvm.ptr, %x: memref<1000xf32>, %z: memref<1000xf64>) {
  %y = memref.alloc() : memref<1000xf64>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf64>) {
  ^bb0(%a: f32, %o: f64):
    %r = arith.extf %a : f32 to f64
    linalg.yield %r : f64
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%y, %z : memref<1000xf64>, memref<1000xf64>) outs(%z : memref<1000xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %r = arith.mulf %a, %b : f64
    linalg.yield %r : f64
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A sum over columns from a number on: one kernel, which does not read what the result was.
// CHECK-LABEL: func.func @columns
// CHECK-COUNT-1: call @tprt_abi_launch(
// CHECK-NOT: call @tprt_abi_launch(
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 512>, tp.blocks = 32 : i64}
// CHECK-NOT: memref.load %{{.*}} : memref<1000xf32>
// CHECK: scf.if
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %cst
// CHECK: memref.store %[[SUM]], %{{.*}} : memref<1000xf32>
func.func @columns(%context: !llvm.ptr, %a: memref<64x1000xf32>, %c: memref<1000xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%two : f32) outs(%c : memref<1000xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<64x1000xf32>) outs(%c : memref<1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.addf %x, %o : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Rows that a block does not keep: a loop for each sum, with vectors of what is read, in which the difference is computed again, and one that divides where the row
// lies. A sum is read from memory nowhere.
// CHECK-LABEL: func.func @long
// CHECK-COUNT-1: call @tprt_abi_launch(
// CHECK-NOT: call @tprt_abi_launch(
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 1024>, tp.blocks = 200 : i64}
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: llvm.store
// CHECK: nvvm.barrier0
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.subf
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: llvm.store
// CHECK: nvvm.barrier0
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.subf
// CHECK-COUNT-4: arith.divf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: scf.for
// CHECK: llvm.return
func.func @long(%context: !llvm.ptr, %x: memref<200x32000xf32>, %mean: memref<200xf32>, %sum: memref<200xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%mean : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<200x32000xf32>) outs(%mean : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %o, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : memref<200x32000xf32>, memref<200xf32>) outs(%x : memref<200x32000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.subf %a, %b : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<200x32000xf32>) outs(%sum : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %o, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<200x32000xf32>, memref<200xf32>) outs(%x : memref<200x32000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  }
  return
}
