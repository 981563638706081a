// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-messages)' | FileCheck %s

// One permute for each pair; a send gives what it sends, and a message to itself moves nothing.
// CHECK-LABEL: func.func @messages
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @messages(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %i, %j = shard.process_multi_index on @mesh : index, index
    %other = arith.subi %c1, %j : index
    // CHECK-NOT: shard.send
    // CHECK: %[[A:.*]] = call @tp.permute.8xf32(%arg0) {tp.pairs = {{\[\[}}1, 0], [0, 1], [3, 2], [2, 3]]}
    // CHECK: %[[B:.*]] = call @tp.permute.4xf32(%arg1) {tp.pairs = {{\[\[}}1, 2]]}
    // CHECK-NOT: shard.recv
    %s0 = shard.send %x on @mesh grid_axes = [1] destination = [%other] : (tensor<8xf32>, index) -> tensor<8xf32>
    %s1 = shard.send %y on @mesh grid_axes = [0, 1] destination = [1, 0] : (tensor<4xf32>) -> tensor<4xf32>
    %r0 = shard.recv %x on @mesh grid_axes = [1] source = [%other] : (tensor<8xf32>, index) -> tensor<8xf32>
    %r1 = shard.recv %y on @mesh grid_axes = [0, 1] source = [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %s2 = shard.send %r0 on @mesh grid_axes = [1] destination = [%j] : (tensor<8xf32>, index) -> tensor<8xf32>
    %r2 = shard.recv %r0 on @mesh grid_axes = [1] : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: return %arg0, %[[A]], %[[B]]
    return %s0, %r2, %r1 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
  }
}

// -----

// The last own rows go to the lower halo of the next device; the first device keeps its own.
// CHECK-LABEL: func.func @halo
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 3) {tp.axes = ["tp"]}
  func.func @halo(%x: tensor<7x2xf32>) -> tensor<7x2xf32> {
    // CHECK: %[[OWN:.*]] = tensor.extract_slice %arg0[5, 0] [2, 2] [1, 1]
    // CHECK: %[[GOT:.*]] = call @tp.permute.2x2xf32(%[[OWN]]) {tp.pairs = {{\[\[}}0, 1], [1, 2]]}
    // CHECK: %[[OLD:.*]] = tensor.extract_slice %arg0[0, 0] [2, 2] [1, 1]
    // CHECK: %[[NEW:.*]] = arith.select %{{.*}}, %[[OLD]], %[[GOT]]
    // CHECK: %[[ALL:.*]] = tensor.insert_slice %[[NEW]] into %arg0[0, 0]
    // CHECK: return %[[ALL]]
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [2, 0] : tensor<7x2xf32>
    return %r : tensor<7x2xf32>
  }
}

// -----

// A shift moves along one axis of the grid, whatever the group; without rotation zeros come in; all of it may leave; a whole turn moves nothing.
// CHECK-LABEL: func.func @shift
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x3) {tp.axes = ["dp", "tp"]}
  func.func @shift(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[A:.*]] = call @tp.permute.4xf32(%arg0) {tp.pairs = {{\[\[}}2, 0], [0, 1], [1, 2], [5, 3], [3, 4], [4, 5]]}
    // CHECK: %[[B:.*]] = call @tp.permute.4xf32(%arg0) {tp.pairs = {{\[\[}}1, 0], [2, 1], [4, 3], [5, 4]]}
    // CHECK: %[[C:.*]] = call @tp.permute.4xf32(%arg0) {tp.pairs = {{\[\[}}3, 0], [4, 1], [5, 2], [0, 3], [1, 4], [2, 5]]}
    // CHECK: %[[D:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
    // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %arg0
    %a = shard.shift %x on @mesh grid_axes = [1] shift_axis = 1 offset = 4 rotate : tensor<4xf32> -> tensor<4xf32>
    %b = shard.shift %x on @mesh grid_axes = [0, 1] shift_axis = 1 offset = -1 : tensor<4xf32> -> tensor<4xf32>
    %c = shard.shift %x on @mesh grid_axes = [1, 0] shift_axis = 0 offset = -3 rotate : tensor<4xf32> -> tensor<4xf32>
    %d = shard.shift %x on @mesh grid_axes = [1] shift_axis = 1 offset = 3 : tensor<4xf32> -> tensor<4xf32>
    %e = shard.shift %x on @mesh grid_axes = [1] shift_axis = 1 offset = -3 rotate : tensor<4xf32> -> tensor<4xf32>
    return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A message from a device to itself needs nobody else.
// CHECK-LABEL: func.func @self
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 3) {tp.axes = ["tp"]}
  func.func @self(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
    // CHECK-DAG: %[[ME:.*]] = shard.process_linear_index on @mesh
    // CHECK-DAG: %[[LIST:.*]] = arith.constant dense<[false, true, false]> : tensor<3xi1>
    // CHECK: %[[OWN:.*]] = tensor.extract %[[LIST]][%[[ME]]]
    // CHECK: arith.select %[[OWN]], %arg0, %[[ZERO]] : tensor<4xf32>
    %s = shard.send %x on @mesh grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
    %r = shard.recv %x on @mesh grid_axes = [0] source = [1] : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// Without halos nothing is to be updated, and along an axis of one device there is no neighbor.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return %arg0, %arg0
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 3x1) {tp.axes = ["dp", "tp"]}
  func.func @nothing(%x: tensor<7x2xf32>) -> (tensor<7x2xf32>, tensor<7x2xf32>) {
    %r = shard.update_halo %x on @mesh split_axes = [[0], []] : tensor<7x2xf32>
    %s = shard.update_halo %x on @mesh split_axes = [[1], []] halo_sizes = [1, 1] : tensor<7x2xf32>
    return %r, %s : tensor<7x2xf32>, tensor<7x2xf32>
  }
}

// -----

// A program that is still global is left alone.
// CHECK-LABEL: func.func @global
// CHECK: shard.update_halo
shard.grid @mesh(shape = 3) {tp.axes = ["tp"]}
func.func @global(%x: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [2, 0] : tensor<7x2xf32>
  return %r : tensor<7x2xf32>
}
