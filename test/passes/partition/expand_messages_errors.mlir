// Messages and halos that cannot be right.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-expand-messages)'

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @no_send(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'shard.recv': has no matching shard.send (same type and grid_axes) before it in its block; put the send there, because all devices run both}}
    %r = shard.recv %x on @mesh grid_axes = [1] source = [0] : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @other_axes(%x: tensor<8xf32>) -> tensor<8xf32> {
    %s = shard.send %x on @mesh grid_axes = [0] destination = [0] : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{'shard.recv': has no matching shard.send (same type and grid_axes) before it}}
    %r = shard.recv %x on @mesh grid_axes = [1] source = [0] : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @no_recv(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'shard.send': has no matching shard.recv (same type and grid_axes) after it in its block; add the recv, or remove the send}}
    %s = shard.send %x on @mesh grid_axes = [0] destination = [0] : (tensor<8xf32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @destination(%x: tensor<8xf32>, %i: index) -> tensor<8xf32> {
    // expected-error @below {{'shard.send': its destination is known only at run time; compute it from constants and the device's indices by integer arithmetic, or gather over the group and take a slice}}
    %s = shard.send %x on @mesh grid_axes = [0] destination = [%i] : (tensor<8xf32>, index) -> tensor<8xf32>
    %r = shard.recv %x on @mesh grid_axes = [0] source = [0] : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @source(%x: tensor<8xf32>, %i: index) -> tensor<8xf32> {
    %s = shard.send %x on @mesh grid_axes = [0] destination = [1] : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{'shard.recv': its source is known only at run time}}
    %r = shard.recv %x on @mesh grid_axes = [0] source = [%i] : (tensor<8xf32>, index) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @several(%x: tensor<8xf32>) -> tensor<8xf32> {
    %s = shard.send %x on @mesh grid_axes = [1] destination = [1] : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{devices 0 and 1 both send to device 1, and the recv has no source; specify a source}}
    %r = shard.recv %x on @mesh grid_axes = [1] : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @strangers(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c1 = arith.constant 1 : index
    %j = shard.process_multi_index on @mesh axes = [1] : index
    %other = arith.subi %c1, %j : index
    %s = shard.send %x on @mesh grid_axes = [1] destination = [%other] : (tensor<8xf32>, index) -> tensor<8xf32>
    // expected-error @below {{no device receives what was sent to it: its source sends to another device, so all devices would wait forever; make the destination of the send and the source of the recv match}}
    %r = shard.recv %x on @mesh grid_axes = [1] source = [%j] : (tensor<8xf32>, index) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @missing(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'shard.update_halo': halo size 1 is missing or known only at run time; give two constants for each split dimension}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @run_time(%x: tensor<8xf32>, %n: i64) -> tensor<8xf32> {
    // expected-error @below {{halo size 0 is missing or known only at run time}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [%n, 1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @differs(%x: tensor<8xf32>) -> tensor<8xf32> {
    %i = shard.process_linear_index on @mesh : index
    %n = arith.index_cast %i : index to i64
    // expected-error @below {{halo size 0 differs between devices; it has to be the same on all}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [%n, 1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @many(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{has 4 halo sizes for 1 split dimensions; each split dimension needs two}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [1, 1, 1, 1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @wide(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{dimension 0 of size 8 has halos of 3 and 3; it must have at least as many elements of its own, which neighbors copy, as the larger halo}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [3, 3] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @rank(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{split_axes has 2 dimensions, the tensor 1}}
    %r = shard.update_halo %x on @mesh split_axes = [[0], [1]] halo_sizes = [1, 1, 1, 1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @axis(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{grid axis 1 is out of range for @mesh, which has 1}}
    %r = shard.update_halo %x on @mesh split_axes = [[1]] halo_sizes = [1, 1] : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
  func.func @memref(%x: memref<8xf32>) {
    // expected-error @below {{works on tensors of static shape, before bufferization}}
    %r = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [1, 1] : memref<8xf32>
    return
  }
}
