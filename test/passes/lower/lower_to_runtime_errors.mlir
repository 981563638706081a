// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-lower-to-runtime)'

// A branch that only some devices take.
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func @branch(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %m = tensor.extract %x[%c0] : tensor<8xf32>
    %b = arith.cmpf ogt, %m, %zero : f32
    %0 = scf.if %b -> tensor<8xf32> {
      // expected-error @below {{communicates along axis "tp" under a condition that may differ between devices of this axis}}
      %1 = shard.all_reduce %x on @mesh grid_axes = [0, 1] : tensor<8xf32> -> tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
  }
}

// -----

// A loop that ends at different times, because what it carries comes to depend on the device.
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @loop(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %0:2 = scf.while (%n = %c0, %v = %x) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
      %more = arith.cmpi ult, %n, %c9 : index
      scf.condition(%more) %n, %v : index, tensor<8xf32>
    } do {
    ^bb0(%n: index, %v: tensor<8xf32>):
      %d = shard.process_linear_index on @mesh : index
      %next = arith.addi %n, %d : index
      // expected-error @below {{along axis "tp"}}
      %1 = shard.all_reduce %v on @mesh grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
      scf.yield %next, %1 : index, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @generic(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{the runtime has no generic reductions}}
    %0 = shard.all_reduce %x on @mesh grid_axes = [0] reduction = generic : tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @combiner(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{tp.combiner is not the name of a combiner}}
    %0 = shard.all_reduce %x on @mesh grid_axes = [0] {tp.combiner = "most"} : tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @undefined(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{reduction "xor" is not defined for this element type}}
    %0 = shard.all_reduce %x on @mesh grid_axes = [0] reduction = bitwise_xor : tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @element(%x: tensor<8xi8>) -> tensor<8xi8> {
    %0 = arith.extsi %x : tensor<8xi8> to tensor<8xi24>
    // expected-error @below {{'shard.all_reduce': operand 0 has elements of type i24; tensors may have f8E4M3FN, f8E5M2, f16, bf16}}
    %1 = shard.all_reduce %0 on @mesh grid_axes = [0] : tensor<8xi24> -> tensor<8xi24>
    %2 = arith.trunci %1 : tensor<8xi24> to tensor<8xi8>
    return %2 : tensor<8xi8>
  }
}

// -----

module attributes {tp.phase = "local"} {
  // expected-error @below {{'func.func': argument 0 (%x) has elements of type i24}}
  func.func @argument(%x: tensor<8xi24>) -> tensor<8xi24> {
    return %x : tensor<8xi24>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func private @tp.permute0(tensor<8xf32>) -> tensor<8xf32>
  func.func @permute(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{tp.pairs: entry 1 is not a pair of device numbers below 4, or names a destination twice}}
    %0 = func.call @tp.permute0(%x) {tp.pairs = [[0, 1], [2, 1]]} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @halo(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'shard.update_halo': is lowered as a permute; run tp-expand-messages first, as tp-to-runtime does}}
    %0 = shard.update_halo %x on @mesh split_axes = [[0]] halo_sizes = [1, 1] : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @no_communication(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{'shard.get_sharding': is not a supported collective or index op; use all_reduce, all_gather, reduce_scatter, all_to_all, all_slice, broadcast, shift, send and recv, update_halo, or process_multi_index}}
    %s = shard.get_sharding %x : tensor<8xf32> -> !shard.sharding
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @root(%x: tensor<8xf32>, %i: index) -> tensor<8xf32> {
    // expected-error @below {{coordinate 0 of the root is known only at run time; give a constant, or compute it from constants by integer arithmetic}}
    %0 = shard.broadcast %x on @mesh grid_axes = [0] root = [%i] : (tensor<8xf32>, index) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @roots(%x: tensor<8xf32>) -> tensor<8xf32> {
    %i = shard.process_multi_index on @mesh axes = [0] : index
    // expected-error @below {{devices 0 and 2 name different roots, 0 and 1; the root has to be the same in all groups}}
    %0 = shard.broadcast %x on @mesh grid_axes = [1] root = [%i] : (tensor<8xf32>, index) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func @neighbors(%x: tensor<8xf32>, %i: index) -> (tensor<8xf32>, index) {
    // expected-error @below {{has 2 split_axes and 2 coordinates; expected one axis, and one coordinate for each of the 2 axes of the grid}}
    %d, %u = shard.neighbors_linear_indices on @mesh[%i, %i] split_axes = [0, 1] : index, index
    return %x, %d : tensor<8xf32>, index
  }
}

// -----

// A permute waits only along the axes that it moves along.
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
  func.func private @tp.permute0(tensor<8xf32>) -> tensor<8xf32>
  func.func @permute_branch(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %i, %j = shard.process_multi_index on @mesh axes = [0, 1] : index, index
    %b = arith.cmpi eq, %i, %c0 : index
    %0 = scf.if %b -> tensor<8xf32> {
      %1 = func.call @tp.permute0(%x) {tp.pairs = [[0, 1], [1, 0], [2, 3], [3, 2]]} : (tensor<8xf32>) -> tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    %c = arith.cmpi eq, %j, %c0 : index
    %2 = scf.if %c -> tensor<8xf32> {
      // expected-error @below {{communicates along axis "tp" under a condition}}
      %1 = func.call @tp.permute0(%0) {tp.pairs = [[0, 1], [1, 0], [2, 3], [3, 2]]} : (tensor<8xf32>) -> tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    return %2 : tensor<8xf32>
  }
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @not_partitioned(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is a communication op in a module that is not partitioned; run tp-spmd first, with a mesh of several devices (on one device it has no meaning)}}
  %0 = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @elsewhere(tensor<8xf32>) -> tensor<8xf32>
func.func @external(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{@elsewhere has no body; a compiled program can only call the runtime, so define the function in the module}}
  %0 = func.call @elsewhere(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @recursive(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot inline the call of @recursive}}
  %0 = func.call @recursive(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @below {{argument 1 (%y) is a tensor without static shape}}
func.func @dynamic(%x: tensor<8xf32>, %y: tensor<?xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{argument 0 (%x) is neither a tensor nor a number}}
func.func @strange(%x: memref<8xf32>) {
  return
}
