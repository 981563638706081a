// Rings along one axis of two, as JAX writes a ppermute over "tp" in shard_map: what is equal along "dp" stays so.
// So it is if only some devices get a value.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-run %s --launch processes | FileCheck %s
// CHECK: against whole values ok
// CHECK: against the evaluator ok
// CHECK: verified
"sdy.mesh"() {mesh = #sdy.mesh<["dp"=2, "tp"=3]>, sym_name = "mesh"} : () -> ()
func.func @main(%x: tensor<6x2xf32>, %y: tensor<4x2xf32>) -> (tensor<6x2xf32>, tensor<4x2xf32>) {
  %r:2 = "sdy.manual_computation"(%x, %y) ({
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
    %c = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]> : tensor<6x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %d = "stablehlo.add"(%a, %c) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %e = "stablehlo.collective_permute"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    "sdy.return"(%d, %e) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"tp"}, {}]>, <@mesh, [{"dp"}, {}]>]>, manual_axes = #sdy<manual_axes{"dp", "tp"}>,
      out_shardings = #sdy.sharding_per_value<[<@mesh, [{"tp"}, {}]>, <@mesh, [{"dp"}, {}]>]>} : (tensor<6x2xf32>, tensor<4x2xf32>) -> (tensor<6x2xf32>, tensor<4x2xf32>)
  return %r#0, %r#1 : tensor<6x2xf32>, tensor<4x2xf32>
}
