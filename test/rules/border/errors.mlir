// A region is a border only if it is a chain of one kind of op, and may not be inlined.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

func.func @mixed(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{'scf.execute_region': no sharding rule for this op; inline its body before sharding (--canonicalize)}}
  %s = scf.execute_region -> tensor<8x16xf32> no_inline {
    %0 = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x16xf32> -> tensor<4x16xf32>
    %1 = shard.all_gather %0 on @mesh grid_axes = [0] gather_axis = 0 : tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %1 : tensor<8x16xf32>
  }
  return %s : tensor<8x16xf32>
}
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}

// -----

func.func @differs(%a: tensor<8x16xf32>) -> tensor<4x8xf32> {
  %s = scf.execute_region -> tensor<4x8xf32> no_inline {
    %0 = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x16xf32> -> tensor<4x16xf32>
    %1 = shard.all_slice %0 on @mesh grid_axes = [1] slice_axis = 1 : tensor<4x16xf32> -> tensor<4x8xf32>
    scf.yield %1 : tensor<4x8xf32>
  }
  // expected-error @below {{result 0 may differ between devices along axis "x" (it comes from communication or a device index), but a result must be equal on all devices; make it equal with an all_gather, all_reduce or broadcast over "x"}}
  return %s : tensor<4x8xf32>
}
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
