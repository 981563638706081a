// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-to-runtime)' | FileCheck %s

// A collective sends what bufferization gives for its operand and receives in a buffer of its own. Site: kind 1
// (all_reduce), dtype 1 (f32), reduction 1 (sum), one axis: axis 1; rank 2, 4x8.
// CHECK-NOT: shard.grid
// CHECK: func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: func.func @all_reduce(%[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: tensor<4x8xf32> {bufferization.writable = false}) -> tensor<4x8xf32>
// CHECK-SAME: tp.mesh = array<i64: 2, 4>
// CHECK-SAME: tp.sites = array<i64: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 4, 8,
// CHECK: %[[RECV:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK: %[[SEND:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK: %[[SITE:.*]] = arith.constant 0 : i32
// CHECK: call @tprt_abi_collective(%[[CTX]], %[[SITE]], %{{.*}}, %{{.*}})
// CHECK: %[[R:.*]] = bufferization.to_tensor %[[RECV]] restrict writable
// CHECK: return %[[R]]
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func @all_reduce(%x: tensor<4x8xf32> {tp.sharding = [["dp"], []]}) -> tensor<4x8xf32> {
    %r = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}

// -----

// The order of the axes is the order of the ranks in the group; reductions and element types by their tables:
// maxnumf is 6, ui32 is 12 and compares as such, i1 sums are xor (11).
// CHECK: func.func @kinds
// CHECK-SAME: tp.sites = array<i64: 2, 4, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 4,
// CHECK-SAME: 1, 1, 6, 1, 0,
// CHECK-SAME: 1, 12, 4, 1, 0,
// CHECK-SAME: 1, 5, 11, 1, 0,
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func @kinds(%a: tensor<4xbf16>, %b: tensor<f32>, %c: tensor<2xui32>, %d: tensor<2xi1>)
      -> (tensor<32xbf16>, tensor<f32>, tensor<2xui32>, tensor<2xi1>) {
    %0 = shard.all_gather %a on @mesh grid_axes = [1, 0] gather_axis = 0 : tensor<4xbf16> -> tensor<32xbf16>
    %1 = shard.all_reduce %b on @mesh grid_axes = [0] reduction = max {tp.combiner = "maxnumf"} : tensor<f32> -> tensor<f32>
    %2 = shard.all_reduce %c on @mesh grid_axes = [0] reduction = max : tensor<2xui32> -> tensor<2xui32>
    %3 = shard.all_reduce %d on @mesh grid_axes = [0] : tensor<2xi1> -> tensor<2xi1>
    return %0, %1, %2, %3 : tensor<32xbf16>, tensor<f32>, tensor<2xui32>, tensor<2xi1>
  }
}

// -----

// A slice is local: the rank in the group, from the number of the device. In a group of one everything is its own result.
// CHECK: func.func @slice(%[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: tensor<8xf32>
// CHECK-SAME: tp.sites = array<i64>
// CHECK: %[[N:.*]] = call @tprt_abi_device(%[[CTX]])
// CHECK: %[[D:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[C:.*]] = arith.remui %[[D]], %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.muli %[[C]], %{{.*}} : index
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][%[[AT]]] [2] [1] : tensor<8xf32> to tensor<2xf32>
// CHECK: return %[[S]], %[[X]]
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4x1) {tp.axes = ["dp", "tp", "sp"]}
  func.func @slice(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
    %0 = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 0 : tensor<8xf32> -> tensor<2xf32>
    %1 = shard.all_reduce %x on @mesh grid_axes = [2] : tensor<8xf32> -> tensor<8xf32>
    return %0, %1 : tensor<2xf32>, tensor<8xf32>
  }
}

// -----

// Sub-axes are the axes of the refined mesh. The pairs of a permute are its extra data: (0, 1), (1, 0), (2, 3), (3, 2) move along the
// last axis only.
// CHECK: func.func @refined
// CHECK-SAME: tp.extra = array<i64: 1, 0, 0, 1, 3, 2, 2, 3>, tp.mesh = array<i64: 2, 2>
// CHECK-SAME: tp.sites = array<i64: 1, 1, 1, 1, 0,
// CHECK-SAME: 5, 1, 0, 1, 1, {{.*}}, 0, 8>
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  shard.grid @mesh.sub(shape = 2x2) {tp.of = @mesh, tp.axes = ["tp:(1)2", "tp:(2)2"]}
  func.func private @tp.permute0(tensor<8xf32>) -> tensor<8xf32>
  func.func @refined(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = shard.all_reduce %x on @mesh.sub grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
    %1 = func.call @tp.permute0(%0) {tp.pairs = [[0, 1], [1, 0], [2, 3], [3, 2]]} : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// A program for one device: annotations go.
// CHECK: func.func @plain(%{{.*}}: !llvm.ptr, %[[X:.*]]: tensor<8xf32> {bufferization.writable = false}) -> tensor<8xf32>
// CHECK-SAME: tp.mesh = array<i64: 1>
// CHECK-NEXT: return %[[X]]
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @plain(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32> {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Communication under a condition that is the same in the whole group: allowed. The condition differs along dp only.
// CHECK: func.func @uniform_condition
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func @uniform_condition(%x: tensor<8xf32> {tp.sharding = [["tp"]]}, %p: tensor<1xi1> {tp.sharding = [["dp"]]}) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %b = tensor.extract %p[%c0] : tensor<1xi1>
    %0 = scf.if %b -> tensor<8xf32> {
      %1 = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    %2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %0) -> tensor<8xf32> {
      %3 = shard.all_reduce %v on @mesh grid_axes = [0, 1] : tensor<8xf32> -> tensor<8xf32>
      scf.yield %3 : tensor<8xf32>
    }
    return %2 : tensor<8xf32>
  }
}

// -----

// Also when the condition was made the same by a collective.
// CHECK: func.func @agreed_condition
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @agreed_condition(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %max = shard.all_reduce %x on @mesh grid_axes = [0] reduction = max : tensor<8xf32> -> tensor<8xf32>
    %m = tensor.extract %max[%c0] : tensor<8xf32>
    %b = arith.cmpf ogt, %m, %zero : f32
    %0 = scf.if %b -> tensor<8xf32> {
      %1 = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
  }
}
