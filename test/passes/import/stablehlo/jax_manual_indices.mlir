// Exported by export.py: what JAX computes on a 2x2 mesh, with the body of shard_map.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --inputs-from %t/manual_indices | FileCheck %s
// CHECK: verified
"builtin.module"() <{sym_name = "jit_manual_indices"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> (tensor<2xf32>, tensor<16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<8x16xf32>):
    %2:2 = "sdy.manual_computation"(%arg3) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"tp"}]>]>, manual_axes = #sdy<manual_axes{"dp", "tp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"dp"}]>, <@mesh, [{}]>]>}> ({
    ^bb0(%arg4: tensor<8x8xf32>):
      %3 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %4 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %5 = "stablehlo.partition_id"() : () -> tensor<ui32>
      %6 = "stablehlo.divide"(%5, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %7 = "stablehlo.remainder"(%6, %4) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %8 = "stablehlo.convert"(%7) : (tensor<ui32>) -> tensor<i32>
      %9 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
      %10 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %11 = "stablehlo.partition_id"() : () -> tensor<ui32>
      %12 = "stablehlo.divide"(%11, %9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %13 = "stablehlo.remainder"(%12, %10) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %14 = "stablehlo.convert"(%13) : (tensor<ui32>) -> tensor<i32>
      %15 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xf32>
      %16 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
      %17 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %18 = "stablehlo.partition_id"() : () -> tensor<ui32>
      %19 = "stablehlo.divide"(%18, %16) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %20 = "stablehlo.remainder"(%19, %17) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %21 = "stablehlo.convert"(%20) : (tensor<ui32>) -> tensor<i32>
      %22 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %23 = "stablehlo.multiply"(%21, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %24 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %25 = "stablehlo.add"(%24, %23) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %26 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %27 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
      %28 = "stablehlo.partition_id"() : () -> tensor<ui32>
      %29 = "stablehlo.divide"(%28, %26) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %30 = "stablehlo.remainder"(%29, %27) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %31 = "stablehlo.convert"(%30) : (tensor<ui32>) -> tensor<i32>
      %32 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %33 = "stablehlo.multiply"(%31, %32) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %34 = "stablehlo.add"(%25, %33) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %35 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %36 = "stablehlo.multiply"(%34, %35) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %37 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %38 = "stablehlo.compare"(%36, %37) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %39 = "stablehlo.constant"() <{value = dense<16> : tensor<i32>}> : () -> tensor<i32>
      %40 = "stablehlo.add"(%36, %39) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %41 = "stablehlo.select"(%38, %40, %36) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %42 = "stablehlo.dynamic_slice"(%15, %41) <{slice_sizes = array<i64: 4>}> : (tensor<16xf32>, tensor<i32>) -> tensor<4xf32>
      %43 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %44 = "stablehlo.compare"(%14, %43) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %46 = "stablehlo.reduce"(%arg4, %45) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %55 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%55) : (tensor<f32>) -> ()
      }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
      %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %48 = "func.call"(%44, %46, %47) <{callee = @_where}> : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %49 = "stablehlo.all_reduce"(%48) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %54 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%54) : (tensor<f32>) -> ()
      }) : (tensor<f32>) -> tensor<f32>
      %50 = "stablehlo.convert"(%8) : (tensor<i32>) -> tensor<f32>
      %51 = "stablehlo.add"(%49, %50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %53 = "stablehlo.all_gather"(%42) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<16xf32>
      "sdy.return"(%52, %53) : (tensor<1xf32>, tensor<16xf32>) -> ()
    }) : (tensor<8x16xf32>) -> (tensor<2xf32>, tensor<16xf32>)
    "func.return"(%2#0, %2#1) : (tensor<2xf32>, tensor<16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.select"(%arg0, %arg1, %0) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%1) : (tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

