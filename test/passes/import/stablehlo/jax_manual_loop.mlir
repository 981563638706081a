// Exported by export.py: what JAX computes on a 2x2 mesh, with the body of shard_map.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --inputs-from %t/manual_loop | FileCheck %s
// CHECK: verified
"builtin.module"() <{sym_name = "jit_manual_loop"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> {stablehlo.mesh = {axes = []}} : () -> ()
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {sdy.sharding = #sdy.sharding<@empty_mesh, []>}], function_type = (tensor<8x16xf32>, tensor<i32>) -> (tensor<8x16xf32>, tensor<i32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<i32>):
    %0:3 = "sdy.manual_computation"(%arg0, %arg1) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"dp"}, {"tp"}]>, <@mesh, []>]>, manual_axes = #sdy<manual_axes{"dp", "tp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"dp"}, {"tp"}]>, <@mesh, []>, <@mesh, []>]>}> ({
    ^bb0(%arg2: tensor<4x8xf32>, %arg3: tensor<i32>):
      %1 = "stablehlo.abs"(%arg2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %3 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
        %23 = "stablehlo.maximum"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%23) : (tensor<f32>) -> ()
      }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
      %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
        %22 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%22) : (tensor<f32>) -> ()
      }) : (tensor<f32>) -> tensor<f32>
      %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %6:4 = "stablehlo.while"(%arg3, %arg2, %5, %4) ({
      ^bb0(%arg12: tensor<i32>, %arg13: tensor<4x8xf32>, %arg14: tensor<i32>, %arg15: tensor<f32>):
        %18 = "stablehlo.compare"(%arg14, %arg12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %19 = "stablehlo.constant"() <{value = dense<1.000000e+02> : tensor<f32>}> : () -> tensor<f32>
        %20 = "stablehlo.compare"(%arg15, %19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %21 = "stablehlo.and"(%18, %20) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%21) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<4x8xf32>, %arg6: tensor<i32>, %arg7: tensor<f32>):
        %7 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>
        %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
        %9 = "stablehlo.multiply"(%arg5, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %10 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %11 = "stablehlo.add"(%arg6, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %12 = "stablehlo.abs"(%arg5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %13 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
        %14 = "stablehlo.reduce"(%12, %13) <{dimensions = array<i64: 0, 1>}> ({
        ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
          %17 = "stablehlo.maximum"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%17) : (tensor<f32>) -> ()
        }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
        %15 = "stablehlo.all_reduce"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
          %16 = "stablehlo.maximum"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%16) : (tensor<f32>) -> ()
        }) : (tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%arg4, %9, %11, %15) : (tensor<i32>, tensor<4x8xf32>, tensor<i32>, tensor<f32>) -> ()
      }) : (tensor<i32>, tensor<4x8xf32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<4x8xf32>, tensor<i32>, tensor<f32>)
      "sdy.return"(%6#1, %6#2, %6#3) : (tensor<4x8xf32>, tensor<i32>, tensor<f32>) -> ()
    }) : (tensor<8x16xf32>, tensor<i32>) -> (tensor<8x16xf32>, tensor<i32>, tensor<f32>)
    "func.return"(%0#0, %0#1, %0#2) : (tensor<8x16xf32>, tensor<i32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

