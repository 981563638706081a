// Exported by export.py: what JAX computes on a 2x2 mesh, with the body of shard_map.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --inputs-from %t/manual_pipeline | FileCheck %s
// CHECK: verified
"builtin.module"() <{sym_name = "jit_manual_pipeline"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg15: tensor<4x8x16xf32>):
    %42 = "sdy.manual_computation"(%arg15) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"tp"}, {}]>]>, manual_axes = #sdy<manual_axes{"dp", "tp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"tp"}, {}]>]>}> ({
    ^bb0(%arg16: tensor<4x4x16xf32>):
      %43 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %44 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %45 = "stablehlo.partition_id"() : () -> tensor<ui32>
      %46 = "stablehlo.divide"(%45, %43) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %47 = "stablehlo.remainder"(%46, %44) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %48 = "stablehlo.convert"(%47) : (tensor<ui32>) -> tensor<i32>
      %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
      %51 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
      %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x16xf32>
      %54 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %55:6 = "stablehlo.while"(%51, %48, %arg16, %54, %50, %53) ({
      ^bb0(%arg25: tensor<4xi32>, %arg26: tensor<i32>, %arg27: tensor<4x4x16xf32>, %arg28: tensor<i32>, %arg29: tensor<4x16xf32>, %arg30: tensor<4x4x16xf32>):
        %63 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
        %64 = "stablehlo.compare"(%arg28, %63) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%64) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg19: tensor<4xi32>, %arg20: tensor<i32>, %arg21: tensor<4x4x16xf32>, %arg22: tensor<i32>, %arg23: tensor<4x16xf32>, %arg24: tensor<4x4x16xf32>):
        %58 = "func.call"(%arg19, %arg22) <{callee = @dynamic_index_in_dim}> : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        %59:2 = "func.call"(%arg20, %arg21, %arg23, %58) <{callee = @closed_call}> : (tensor<i32>, tensor<4x4x16xf32>, tensor<4x16xf32>, tensor<i32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
        %60 = "func.call"(%arg24, %59#1, %arg22) <{callee = @dynamic_update_index_in_dim}> : (tensor<4x4x16xf32>, tensor<4x16xf32>, tensor<i32>) -> tensor<4x4x16xf32>
        %61 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %62 = "stablehlo.add"(%arg22, %61) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%arg19, %arg20, %arg21, %62, %59#0, %60) : (tensor<4xi32>, tensor<i32>, tensor<4x4x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<4x4x16xf32>) -> ()
      }) : (tensor<4xi32>, tensor<i32>, tensor<4x4x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<4x4x16xf32>) -> (tensor<4xi32>, tensor<i32>, tensor<4x4x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<4x4x16xf32>)
      %56 = "stablehlo.all_reduce"(%55#5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
        %57 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%57) : (tensor<f32>) -> ()
      }) : (tensor<4x4x16xf32>) -> tensor<4x4x16xf32>
      "sdy.return"(%56) : (tensor<4x4x16xf32>) -> ()
    }) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
    "func.return"(%42) : (tensor<4x8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<4xi32>, %arg14: tensor<i32>):
    %40 = "stablehlo.dynamic_slice"(%arg13, %arg14) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %41 = "stablehlo.reshape"(%40) : (tensor<1xi32>) -> tensor<i32>
    "func.return"(%41) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<4x4x16xf32>, tensor<4x16xf32>, tensor<i32>) -> (tensor<4x16xf32>, tensor<4x16xf32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<4x4x16xf32>, %arg11: tensor<4x16xf32>, %arg12: tensor<i32>):
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%arg9, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.compare"(%arg12, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %12 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.add"(%arg12, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %14 = "stablehlo.select"(%11, %13, %arg12) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.compare"(%15, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %19 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.add"(%18, %19) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.select"(%17, %20, %21) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %24 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %25 = "stablehlo.compare"(%23, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %26 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %27 = "stablehlo.constant"() <{value = dense<16> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.add"(%26, %27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %29 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.select"(%25, %28, %29) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %31 = "stablehlo.dynamic_slice"(%arg10, %14, %22, %30) <{slice_sizes = array<i64: 1, 4, 16>}> : (tensor<4x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x16xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<1x4x16xf32>) -> tensor<4x16xf32>
    %33 = "func.call"(%9, %32, %arg11) <{callee = @_where}> : (tensor<i1>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %34 = "stablehlo.tanh"(%33) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %35 = "stablehlo.collective_permute"(%34) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %36 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.compare"(%arg9, %36) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "func.call"(%37, %34, %38) <{callee = @_where_0}> : (tensor<i1>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    "func.return"(%35, %39) : (tensor<4x16xf32>, tensor<4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<i1>, %arg7: tensor<4x16xf32>, %arg8: tensor<4x16xf32>):
    %7 = "stablehlo.select"(%arg6, %arg7, %arg8) : (tensor<i1>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    "func.return"(%7) : (tensor<4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i1>, %arg4: tensor<4x16xf32>, %arg5: tensor<f32>):
    %4 = "stablehlo.convert"(%arg5) : (tensor<f32>) -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %6 = "stablehlo.select"(%arg3, %arg4, %5) : (tensor<i1>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    "func.return"(%6) : (tensor<4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x4x16xf32>, tensor<4x16xf32>, tensor<i32>) -> tensor<4x4x16xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x4x16xf32>, %arg1: tensor<4x16xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x16xf32>) -> tensor<1x4x16xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1, %2) : (tensor<4x4x16xf32>, tensor<1x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x16xf32>
    "func.return"(%3) : (tensor<4x4x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

