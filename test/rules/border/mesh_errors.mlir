// The ops of a border are checked on the mesh of the plan.
// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{mesh=x=4})'

func.func @size(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = scf.execute_region -> tensor<4x16xf32> no_inline {
    // expected-error @below {{'shard.all_slice': dimension 0 has size 8 in the operand and 4 in the result, which does not fit a group of 4 devices on this mesh}}
    %0 = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x16xf32> -> tensor<4x16xf32>
    scf.yield %0 : tensor<4x16xf32>
  }
  return %a : tensor<8x16xf32>
}
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
