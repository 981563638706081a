// Contractions with a common operand that run side by side on a GPU, as one call.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-contractions{target=cuda})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-contractions)' | FileCheck %s --check-prefix=HOST
// HOST-NOT: tprt_abi_fused

// Queries, keys and values, of different sizes. Keys move in front of the op that reads the
// queries.
// CHECK-LABEL: func.func @projections
// Inputs and outputs by role, types, the number of products, their loops.
// CHECK-SAME: tp.extra = array<i64: 6, 3, 2, 3, 2, 3, 2, 3, 0, 0, 0, 0, 23, 23, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 3, 3, 3, 0, 4, 16, 0, 8, 8, 0, 1, 1, 16, 1, 8, 0, 0, 0,
// CHECK-SAME: tp.sites = array<i64: 15, 1, 0,
// CHECK: %[[Q:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK: %[[K:.*]] = memref.alloc() : memref<4x2xf32>
// CHECK: %[[V:.*]] = memref.alloc() : memref<4x2xf32>
// CHECK: call @tprt_abi_fused.6.3(%arg0,
// CHECK-NOT: call
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[Q]] : memref<4x8xf32>)
// CHECK-NOT: linalg.contract
// CHECK: return %[[Q]], %[[K]], %[[V]]
func.func @projections(%ctx: !llvm.ptr, %x: memref<4x16xf32>, %wq: memref<16x8xf32>, %wk: memref<16x2xf32>, %wv: memref<16x2xf32>)
    -> (memref<4x8xf32>, memref<4x2xf32>, memref<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %q = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%q : memref<4x8xf32>)
  linalg.matmul ins(%x, %wq : memref<4x16xf32>, memref<16x8xf32>) outs(%q : memref<4x8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%q : memref<4x8xf32>) {
  ^bb0(%o: f32):
    %r = math.exp %o : f32
    linalg.yield %r : f32
  }
  %k = memref.alloc() : memref<4x2xf32>
  linalg.fill ins(%zero : f32) outs(%k : memref<4x2xf32>)
  linalg.matmul ins(%x, %wk : memref<4x16xf32>, memref<16x2xf32>) outs(%k : memref<4x2xf32>)
  %v = memref.alloc() : memref<4x2xf32>
  linalg.fill ins(%zero : f32) outs(%v : memref<4x2xf32>)
  linalg.matmul ins(%x, %wv : memref<4x16xf32>, memref<16x2xf32>) outs(%v : memref<4x2xf32>)
  return %q, %k, %v : memref<4x8xf32>, memref<4x2xf32>, memref<4x2xf32>
}

// -----

// The second product reads what the op in between writes: the right factor, or the common one.
// CHECK-LABEL: func.func @written_between
// CHECK-NOT: fused
// CHECK-COUNT-3: call @tprt_abi_contract
func.func @written_between(%ctx: !llvm.ptr, %x: memref<4x8xf32>, %w: memref<8x8xf32>, %u: memref<8x8xf32>)
    -> (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x8xf32>
  linalg.copy ins(%x : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  %v = memref.alloc() : memref<8x8xf32>
  linalg.copy ins(%u : memref<8x8xf32>) outs(%v : memref<8x8xf32>)
  %0 = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<4x8xf32>)
  linalg.matmul ins(%a, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%0 : memref<4x8xf32>)
  linalg.exp ins(%u : memref<8x8xf32>) outs(%v : memref<8x8xf32>)
  %1 = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%1 : memref<4x8xf32>)
  linalg.matmul ins(%a, %v : memref<4x8xf32>, memref<8x8xf32>) outs(%1 : memref<4x8xf32>)
  linalg.exp ins(%x : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  %2 = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%2 : memref<4x8xf32>)
  linalg.matmul ins(%a, %v : memref<4x8xf32>, memref<8x8xf32>) outs(%2 : memref<4x8xf32>)
  return %0, %1, %2 : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}

// -----

// The buffer of the second result is read in between, through a view.
// CHECK-LABEL: func.func @result_used_between
// CHECK-NOT: fused
// CHECK-COUNT-2: call @tprt_abi_contract
func.func @result_used_between(%ctx: !llvm.ptr, %x: memref<4x8xf32>, %w: memref<8x8xf32>, %u: memref<8x8xf32>)
    -> (memref<4x8xf32>, memref<4x8xf32>, memref<4x2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %1 = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%x : memref<4x8xf32>) outs(%1 : memref<4x8xf32>)
  %0 = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<4x8xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%0 : memref<4x8xf32>)
  %view = memref.expand_shape %1 [[0], [1, 2]] output_shape [4, 2, 4] : memref<4x8xf32> into memref<4x2x4xf32>
  %2 = memref.alloc() : memref<4x2x4xf32>
  linalg.log ins(%view : memref<4x2x4xf32>) outs(%2 : memref<4x2x4xf32>)
  linalg.fill ins(%zero : f32) outs(%1 : memref<4x8xf32>)
  linalg.matmul ins(%x, %u : memref<4x8xf32>, memref<8x8xf32>) outs(%1 : memref<4x8xf32>)
  return %0, %1, %2 : memref<4x8xf32>, memref<4x8xf32>, memref<4x2x4xf32>
}

// -----

// The second product reads the result of the first, or overwrites its factor.
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: fused
// CHECK-COUNT-3: call @tprt_abi_contract
func.func @dependent(%ctx: !llvm.ptr, %x: memref<8x8xf32>, %w: memref<8x8xf32>) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<8x8xf32>)
  linalg.matmul ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%0 : memref<8x8xf32>)
  %1 = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%1 : memref<8x8xf32>)
  linalg.matmul ins(%x, %0 : memref<8x8xf32>, memref<8x8xf32>) outs(%1 : memref<8x8xf32>)
  linalg.fill ins(%zero : f32) outs(%0 : memref<8x8xf32>)
  linalg.matmul ins(%x, %1 : memref<8x8xf32>, memref<8x8xf32>) outs(%0 : memref<8x8xf32>)
  return %0, %1 : memref<8x8xf32>, memref<8x8xf32>
}

// -----

// A result of more than 2^23 elements fills a GPU; a product that is added to a value, and one
// without a common operand, stay alone.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: fused
// CHECK-COUNT-4: call @tprt_abi_contract
func.func @apart(%ctx: !llvm.ptr, %x: memref<4096x8xf32>, %w: memref<8x4096xf32>, %u: memref<8x8xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32>)
    -> (memref<4096x4096xf32>, memref<4096x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<4096x4096xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<4096x4096xf32>)
  linalg.matmul ins(%x, %w : memref<4096x8xf32>, memref<8x4096xf32>) outs(%0 : memref<4096x4096xf32>)
  %1 = memref.alloc() : memref<4096x8xf32>
  linalg.fill ins(%zero : f32) outs(%1 : memref<4096x8xf32>)
  linalg.matmul ins(%x, %u : memref<4096x8xf32>, memref<8x8xf32>) outs(%1 : memref<4096x8xf32>)
  %2 = memref.alloc() : memref<4x8xf32>
  linalg.copy ins(%y : memref<4x8xf32>) outs(%2 : memref<4x8xf32>)
  linalg.matmul ins(%y, %u : memref<4x8xf32>, memref<8x8xf32>) outs(%2 : memref<4x8xf32>)
  %t = memref.alloc() : memref<8x8xf32>
  linalg.exp ins(%u : memref<8x8xf32>) outs(%t : memref<8x8xf32>)
  %3 = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%3 : memref<4x8xf32>)
  linalg.matmul ins(%z, %t : memref<4x8xf32>, memref<8x8xf32>) outs(%3 : memref<4x8xf32>)
  return %0, %1, %2, %3 : memref<4096x4096xf32>, memref<4096x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}

// -----

// A loop has groups of its own; five products are a group of four and one.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK: call @tprt_abi_fused.8.4(
// CHECK: call @tprt_abi_contract(
// CHECK-NOT: call
func.func @in_a_loop(%ctx: !llvm.ptr, %x: memref<4x8xf32>, %w: memref<8x8xf32>, %0: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<4x8xf32>
  %b = memref.alloc() : memref<4x8xf32>
  %c = memref.alloc() : memref<4x8xf32>
  %d = memref.alloc() : memref<4x8xf32>
  %e = memref.alloc() : memref<4x8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    linalg.fill ins(%zero : f32) outs(%a : memref<4x8xf32>)
    linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%a : memref<4x8xf32>)
    linalg.fill ins(%zero : f32) outs(%b : memref<4x8xf32>)
    linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%b : memref<4x8xf32>)
    linalg.fill ins(%zero : f32) outs(%c : memref<4x8xf32>)
    linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%c : memref<4x8xf32>)
    linalg.fill ins(%zero : f32) outs(%d : memref<4x8xf32>)
    linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%d : memref<4x8xf32>)
    linalg.fill ins(%zero : f32) outs(%e : memref<4x8xf32>)
    linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x8xf32>) outs(%e : memref<4x8xf32>)
  }
  return
}
