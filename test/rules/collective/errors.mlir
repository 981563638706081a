// Communication written by a user that cannot be right.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @result(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %r = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  // expected-error @below {{'func.return': result 0 may differ between devices along axis "tp" (it comes from communication or a device index), but a result must be equal on all devices; make it equal with an all_gather, all_reduce or broadcast over "tp"}}
  return %r : tensor<2x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @scalar_result(%x: tensor<4x4xf32>) -> (index, f32) {
  %c0 = arith.constant 0 : index
  %i = shard.process_linear_index on @mesh : index
  %r = tensor.extract %x[%i, %c0] : tensor<4x4xf32>
  // expected-error @below {{result 0 may differ between devices along axis "dp"}}
  return %i, %r : index, f32
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
// One of two coordinates differs only along its own axis; the loop spreads it.
func.func @loop_result(%x: tensor<4xindex>) -> (tensor<4xindex>, tensor<4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %j = shard.process_multi_index on @mesh axes = [1] : index
  %s = tensor.splat %j : tensor<4xindex>
  %r:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4xindex>, tensor<4xindex>) {
    %n = arith.addi %b, %s : tensor<4xindex>
    scf.yield %a, %n : tensor<4xindex>, tensor<4xindex>
  }
  // expected-error @below {{result 1 may differ between devices along axis "tp"}}
  return %r#0, %r#1 : tensor<4xindex>, tensor<4xindex>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @body(%x: tensor<4xf32>) -> tensor<4xindex> {
  %i = shard.process_multi_index on @mesh axes = [0] : index
  %e = tensor.empty() : tensor<4xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xindex>) {
  ^bb0(%o: index):
    linalg.yield %i : index
  } -> tensor<4xindex>
  // expected-error @below {{result 0 may differ between devices along axis "dp"}}
  return %r : tensor<4xindex>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @constraint(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  // expected-error @below {{its value may differ between devices along axis "tp" (it comes from communication or a device index), so it cannot be sharded; make it equal with an all_gather, all_reduce or broadcast over "tp" first}}
  %t = shard.shard %r to %s {tp.sharding = [["dp"], []]} : tensor<2x4xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x4xf32> -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @carried(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  // expected-error @below {{its value may differ between devices along axis "tp"}}
  %t = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %r) -> tensor<2x4xf32> {
    %n = arith.addf %a, %a : tensor<2x4xf32>
    scf.yield %n : tensor<2x4xf32>
  } {tp.sharding = [["dp"], []]}
  %g = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x4xf32> -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @pinned(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  // expected-error @below {{no strategy of this op gives result 0 the layout}}
  %t = math.tanh %r {tp.sharding = [["dp"], []]} : tensor<2x4xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x4xf32> -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @branch(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %i = shard.process_multi_index on @mesh axes = [1] : index
  %first = arith.cmpi eq, %i, %c0 : index
  %r = scf.if %first -> tensor<4x4xf32> {
    // expected-error @below {{communicates along axis "tp" under a condition that may differ between devices of this axis, so some devices would wait forever; move it out of the branch or loop, or make the condition equal with an all_reduce}}
    %s = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4x4xf32> -> tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  } else {
    scf.yield %x : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @loop(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = shard.process_linear_index on @mesh : index
  %r = scf.for %k = %c0 to %i step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    // expected-error @below {{communicates along axis "dp" under a condition that may differ}}
    %s = shard.all_reduce %a on @mesh grid_axes = [0] : tensor<4x4xf32> -> tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @while_loop(%x: tensor<4xindex>) -> tensor<4xindex> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %i = shard.process_multi_index on @mesh axes = [1] : index
  %r:2 = scf.while (%n = %i, %a = %x) : (index, tensor<4xindex>) -> (index, tensor<4xindex>) {
    %go = arith.cmpi slt, %n, %c4 : index
    scf.condition(%go) %n, %a : index, tensor<4xindex>
  } do {
  ^bb0(%n: index, %a: tensor<4xindex>):
    %c1 = arith.constant 1 : index
    %m = arith.addi %n, %c1 : index
    // expected-error @below {{communicates along axis "tp" under a condition that may differ}}
    %s = shard.all_reduce %a on @mesh grid_axes = [1] : tensor<4xindex> -> tensor<4xindex>
    scf.yield %m, %s : index, tensor<4xindex>
  }
  return %r#1 : tensor<4xindex>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @unknown(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'shard.get_sharding': is not a supported collective or index op; use all_reduce, all_gather, reduce_scatter, all_to_all, all_slice, broadcast, shift, send and recv, update_halo, or process_multi_index}}
  %s = shard.get_sharding %x : tensor<4x4xf32> -> !shard.sharding
  return %x : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
// What recv gives differs between devices.
func.func @recv(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = shard.send %x on @mesh grid_axes = [1] destination = [1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = shard.recv %x on @mesh grid_axes = [1] source = [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{result 1 may differ between devices along axis "tp"}}
  return %s, %r : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @halo(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = shard.update_halo %x on @mesh split_axes = [[], [0]] halo_sizes = [1, 1] : tensor<4x4xf32>
  // expected-error @below {{result 0 may differ between devices along axis "dp"}}
  return %r : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
// A neighbor is another one on each device; the send would wait for devices that are not in the branch.
func.func @send_branch(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %i, %j = shard.process_multi_index on @mesh axes = [0, 1] : index, index
  %down, %up = shard.neighbors_linear_indices on @mesh[%i, %j] split_axes = [0] : index, index
  %has = arith.cmpi sge, %down, %c0 : index
  %r = scf.if %has -> tensor<4x4xf32> {
    // expected-error @below {{'shard.send': communicates along axis "dp" under a condition that may differ}}
    %s = shard.send %x on @mesh grid_axes = [0] destination = [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  } else {
    scf.yield %x : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @elements(%x: tensor<4x4xf32>) -> tensor<4x4xf64> {
  // expected-error @below {{'shard.all_reduce': its operand and its result have different element types; convert the value before or after it}}
  %r = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4x4xf32> -> tensor<4x4xf64>
  return %r : tensor<4x4xf64>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @dynamic(%n: index) {
  // expected-error @below {{result 0 is a tensor without static shape}}
  %x = tensor.empty(%n) : tensor<4x?xf32>
  %r = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  return
}

// -----

// A permute is communication too: device 0 gets zeros, and device 1 the value.
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func private @tp.permute.x(tensor<8xf32>) -> tensor<8xf32>
func.func @one_pair(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = call @tp.permute.x(%x) {tp.pairs = [[0, 1]]} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{result 0 may differ between devices along axis "tp"}}
  return %s : tensor<8xf32>
}

// -----

// What differs along dp differs along tp once the coordinates are exchanged.
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func private @tp.permute.i(tensor<index>) -> tensor<index>
func.func @transposed() -> tensor<index> {
  %dp = shard.process_multi_index on @mesh axes = [0] : index
  %x = tensor.from_elements %dp : tensor<index>
  %s = call @tp.permute.i(%x) {tp.pairs = [[0, 0], [1, 2], [2, 1], [3, 3]]} : (tensor<index>) -> tensor<index>
  // expected-error @below {{result 0 may differ between devices along axis "dp"}}
  return %s : tensor<index>
}
