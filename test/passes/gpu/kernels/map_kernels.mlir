// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-outline-kernels{asserts=true},tp-map-kernels,canonicalize,cse)' | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#columns = affine_map<(d0, d1) -> (d0)>

// A thread has 16 bytes, where all buffers lie at multiples of that; otherwise, which the host looks at, an element. 64 * 4096 of them are 256
// blocks of 256 threads with 4 each, or 1024.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[SLOTS:.*]] = llvm.alloca %c3_i64 x i64
// CHECK: llvm.store %{{.*}}, %[[SLOTS]]
// CHECK: %[[BITS:.*]] = arith.ori
// CHECK: %[[ODD:.*]] = arith.cmpi ne, %{{.*}}, %c0_i64
// CHECK: %[[WHICH:.*]] = arith.extui %[[ODD]] : i1 to i32
// CHECK: %[[BLOCKS:.*]] = arith.select %[[ODD]], %c1024_i64, %c256_i64 : i64
// CHECK: call @tprt_abi_launch(%arg0, %[[WHICH]], %[[BLOCKS]], %c256_i32, %[[SLOTS]], %c3_i32)
// CHECK: module @tp_kernels
// CHECK: llvm.func @tp_kernel0(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>, tp.blocks = 256 : i64}
// CHECK: arith.cmpi ult, %{{.*}}, %c65536_i32
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: llvm.func @tp_kernel1({{.*}} tp.blocks = 1024 : i64}
// CHECK-NOT: vector<
// CHECK: memref.store
func.func @elementwise(%context: !llvm.ptr, %a: memref<64x4096xf32>, %b: memref<4096xf32>, %c: memref<64x4096xf32>) {
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<64x4096xf32>, memref<4096xf32>) outs(%c : memref<64x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>

// A part of a buffer from a place on that is known at run time: its address has the offset in it. Its stride of 6 is no multiple of 4, so only
// the result has vectors. Scalars and indices are arguments too.
// CHECK-LABEL: func.func @part
// CHECK: memref.extract_strided_metadata
// CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK: call @tprt_abi_launch(
// CHECK: llvm.func @tp_kernel0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: f32, %{{.*}}: i64, %{{.*}}: i8)
// CHECK-COUNT-4: memref.load
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
func.func @part(%context: !llvm.ptr, %a: memref<8x6xf32>, %c: memref<2x4xf32>, %i: index, %s: f32, %p: i1) {
  %part = memref.subview %a[%i, 2] [2, 4] [1, 1] : memref<8x6xf32> to memref<2x4xf32, strided<[6, 1], offset: ?>>
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%part : memref<2x4xf32, strided<[6, 1], offset: ?>>) outs(%c : memref<2x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.mulf %x, %s : f32
    %j = linalg.index 0 : index
    %first = arith.cmpi eq, %j, %i : index
    %either = arith.ori %first, %p : i1
    %y = arith.select %either, %z, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d0)>

// Rows: a block of 256 threads for each, which read side by side, then combine in warps, then, each thread for itself, what the warps
// left in memory of the block.
// CHECK-LABEL: func.func @rows
// CHECK: call @tprt_abi_launch(%arg0, %{{.*}}, %c64_i64, %c256_i32,
// CHECK: llvm.mlir.global internal @tp_kernel0_shared0() {addr_space = 3 : i32} : !llvm.array<8 x f32>
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 256>, tp.blocks = 64 : i64}
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1024_i32 step %c256_i32 iter_args(%{{.*}} = %cst) -> (f32)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.barrier0
// CHECK-COUNT-8: memref.load %{{.*}} : memref<8xf32, 3>
// CHECK-COUNT-7: arith.maximumf
// CHECK-NOT: nvvm.barrier0
// CHECK: memref.store %{{.*}} : memref<64xf32>
// CHECK: llvm.return
func.func @rows(%context: !llvm.ptr, %a: memref<64x4096xf32>, %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x4096xf32>) outs(%c : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.maximumf %x, %o : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d0)>

// Short rows: a warp or less for each, without memory of the block.
// CHECK-LABEL: func.func @short_rows
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 128>, tp.blocks = 8 : i64}
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @short_rows(%context: !llvm.ptr, %a: memref<30x63xi32>, %c: memref<30xi32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<30x63xi32>) outs(%c : memref<30xi32>) {
  ^bb0(%x: i32, %o: i32):
    %z = arith.addi %x, %o : i32
    linalg.yield %z : i32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// Columns: neighboring threads have neighboring elements of the result, 32 of them in a block; 16 threads share each, in memory of the block.
// CHECK-LABEL: func.func @columns
// CHECK: @tp_kernel0_shared0() {addr_space = 3 : i32} : !llvm.array<512 x f64>
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 512>, tp.blocks = 32 : i64}
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-5: nvvm.barrier0
func.func @columns(%context: !llvm.ptr, %a: memref<64x1000xf64>, %c: memref<1000xf64>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<64x1000xf64>) outs(%c : memref<1000xf64>) {
  ^bb0(%x: f64, %o: f64):
    %z = arith.addf %x, %o : f64
    linalg.yield %z : f64
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d0)>

// Not associative: a thread does all of a row, in order, from what the result was.
// CHECK-LABEL: func.func @in_order
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 128>, tp.blocks = 8 : i64}
// CHECK: %[[START:.*]] = memref.load %{{.*}} : memref<1000xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %c50_i32 step %c1_i32 iter_args(%{{.*}} = %[[START]])
func.func @in_order(%context: !llvm.ptr, %a: memref<1000x50xf32>, %c: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<1000x50xf32>) outs(%c : memref<1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.subf %x, %o : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>

// Nothing to do is not launched; memory of the device is out of reach.
memref.global "private" constant @table : memref<4xi32> = dense<[1, 2, 3, 4]>

// CHECK-LABEL: func.func @host
// CHECK: memref.alloca() : memref<i32>
// CHECK-NOT: tprt_abi_launch
// CHECK: %[[TABLE:.*]] = memref.get_global @table
// CHECK: call @tprt_abi_constant(%arg0, %{{.*}}, %c16_i64)
// CHECK: call @tprt_abi_copy(%arg0, %{{.*}}, %{{.*}}, %c16_i64)
// CHECK: call @tprt_abi_read(%arg0, %{{.*}}, %{{.*}}, %c4_i64)
// CHECK: %[[READ:.*]] = memref.load %{{.*}}[] : memref<i32>
// CHECK: memref.store %[[READ]], %{{.*}}[] : memref<i32>
// CHECK: call @tprt_abi_write(%arg0, %{{.*}}, %{{.*}}, %c4_i64)
// CHECK-NOT: @tp_kernels
func.func @host(%context: !llvm.ptr, %a: memref<0x4xi32>, %b: memref<4xi32>, %i: index) {
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : memref<0x4xi32>) {
  ^bb0(%o: i32):
    %z = arith.addi %o, %o : i32
    linalg.yield %z : i32
  }
  %table = memref.get_global @table : memref<4xi32>
  memref.copy %table, %b : memref<4xi32> to memref<4xi32>
  %x = memref.load %b[%i] : memref<4xi32>
  %zero = arith.constant 0 : index
  memref.store %x, %b[%zero] : memref<4xi32>
  return
}

// -----

// Complex constants go with the kernel; signed integers have no vectors in LLVM.
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @kinds
// CHECK: llvm.func @tp_kernel0(%{{.*}}: !llvm.ptr)
// CHECK: complex.constant
// CHECK: llvm.func @tp_kernel1(%{{.*}}: !llvm.ptr)
// CHECK-NOT: vector<
// CHECK: memref.store %{{.*}} : memref<8xsi32>
func.func @kinds(%context: !llvm.ptr, %a: memref<8xcomplex<f32>>, %b: memref<8xsi32>) {
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xcomplex<f32>>) {
  ^bb0(%o: complex<f32>):
    %z = complex.mul %o, %c : complex<f32>
    linalg.yield %z : complex<f32>
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<8xsi32>) outs(%b : memref<8xsi32>) {
  ^bb0(%x: si32, %o: si32):
    linalg.yield %x : si32
  }
  return
}

// -----

// An assertion writes its number where the host looks at the end; what stands behind it is not done then.
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @asserts
// CHECK: %[[WORD:.*]] = call @tprt_abi_assert_word(%arg0)
// CHECK: llvm.store %[[WORD]]
// CHECK: call @tprt_abi_launch({{.*}}, %c4_i32)
// CHECK: %[[NUMBER:.*]] = call @tprt_abi_asserted(%arg0)
// CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[NUMBER]], %c1_i32
// CHECK: cf.assert %[[HOLDS]], "no place"
// CHECK: llvm.func @tp_kernel0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[AT:.*]]: !llvm.ptr)
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK-NEXT: memref.load
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: llvm.store %c1_i32, %[[AT]] : i32
func.func @asserts(%context: !llvm.ptr, %a: memref<7xindex>, %b: memref<7xf32>, %table: memref<9xf32>) {
  %size = arith.constant 9 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<7xindex>) outs(%b : memref<7xf32>) {
  ^bb0(%i: index, %o: f32):
    %in = arith.cmpi ult, %i, %size : index
    cf.assert %in, "no place"
    %x = memref.load %table[%i] : memref<9xf32>
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(b, i, j) -> (b, i, j)>
#across = affine_map<(b, i, j) -> (b, j, i)>

// Read along i, written along j: a block does 32 of each, by way of memory of the block with rows of 33. 40 and 70 are 2 and 3 tiles.
// CHECK-LABEL: func.func @transpose
// CHECK: llvm.mlir.global internal @tp_kernel0_shared0() {addr_space = 3 : i32} : !llvm.array<1056 x f32>
// CHECK: llvm.func @tp_kernel0({{.*}} nvvm.reqntid = array<i32: 256>, tp.blocks = 30 : i64}
// CHECK-COUNT-4: memref.store %{{.*}} : memref<1056xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: memref.load %{{.*}} : memref<1056xf32, 3>
// CHECK: memref.load %{{.*}} : memref<5x40x70xf32>
// CHECK: arith.addf
// CHECK: memref.store %{{.*}} : memref<5x40x70xf32>
// CHECK: llvm.return
// CHECK-NOT: llvm.func
func.func @transpose(%context: !llvm.ptr, %a: memref<5x70x40xf32>, %b: memref<5x40x70xf32>, %c: memref<5x40x70xf32>) {
  linalg.generic {indexing_maps = [#across, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b : memref<5x70x40xf32>, memref<5x40x70xf32>) outs(%c : memref<5x40x70xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#across = affine_map<(i, j) -> (j, i)>

// Too narrow for tiles.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: _shared
// CHECK: llvm.func @tp_kernel0
func.func @narrow(%context: !llvm.ptr, %a: memref<70x8xf32>, %c: memref<8x70xf32>) {
  linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<70x8xf32>) outs(%c : memref<8x70xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}
