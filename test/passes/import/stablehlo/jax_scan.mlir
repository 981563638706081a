// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/scan | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/scan | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_scan"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<3x16x16xf32>) -> (tensor<f32>, tensor<8x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg20: tensor<8x16xf32>, %arg21: tensor<3x16x16xf32>):
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %35 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8x16xf32>
    %37 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %38:5 = "stablehlo.while"(%arg21, %37, %arg20, %34, %36) ({
    ^bb0(%arg39: tensor<3x16x16xf32>, %arg40: tensor<i32>, %arg41: tensor<8x16xf32>, %arg42: tensor<3xf32>, %arg43: tensor<3x8x16xf32>):
      %66 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %67 = "stablehlo.compare"(%arg40, %66) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%67) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg34: tensor<3x16x16xf32>, %arg35: tensor<i32>, %arg36: tensor<8x16xf32>, %arg37: tensor<3xf32>, %arg38: tensor<3x8x16xf32>):
      %60 = "func.call"(%arg34, %arg35) <{callee = @dynamic_index_in_dim}> : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %61:3 = "func.call"(%arg36, %60) <{callee = @closed_call}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>)
      %62 = "func.call"(%arg37, %61#1, %arg35) <{callee = @dynamic_update_index_in_dim}> : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
      %63 = "func.call"(%arg38, %61#2, %arg35) <{callee = @dynamic_update_index_in_dim_0}> : (tensor<3x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<3x8x16xf32>
      %64 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %65 = "stablehlo.add"(%arg35, %64) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg34, %65, %61#0, %62, %63) : (tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<3xf32>, tensor<3x8x16xf32>) -> ()
    }) : (tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<3xf32>, tensor<3x8x16xf32>) -> (tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<3xf32>, tensor<3x8x16xf32>)
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%38#3, %39) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %59 = "stablehlo.add"(%arg32, %arg33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%59) : (tensor<f32>) -> ()
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %41 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %45 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %46:5 = "stablehlo.while"(%42, %38#4, %arg21, %45, %44) ({
    ^bb0(%arg27: tensor<3xf32>, %arg28: tensor<3x8x16xf32>, %arg29: tensor<3x16x16xf32>, %arg30: tensor<i32>, %arg31: tensor<8x16xf32>):
      %57 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %58 = "stablehlo.compare"(%arg30, %57) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%58) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg22: tensor<3xf32>, %arg23: tensor<3x8x16xf32>, %arg24: tensor<3x16x16xf32>, %arg25: tensor<i32>, %arg26: tensor<8x16xf32>):
      %47 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %48 = "stablehlo.subtract"(%47, %arg25) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %49 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %50 = "stablehlo.subtract"(%48, %49) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %51 = "func.call"(%arg22, %50) <{callee = @dynamic_index_in_dim_1}> : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
      %52 = "func.call"(%arg23, %50) <{callee = @dynamic_index_in_dim_2}> : (tensor<3x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %53 = "func.call"(%arg24, %50) <{callee = @dynamic_index_in_dim}> : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %54 = "func.call"(%arg26, %51, %52, %53) <{callee = @closed_call_3}> : (tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %55 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %56 = "stablehlo.add"(%arg25, %55) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg22, %arg23, %arg24, %56, %54) : (tensor<3xf32>, tensor<3x8x16xf32>, tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>) -> ()
    }) : (tensor<3xf32>, tensor<3x8x16xf32>, tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>) -> (tensor<3xf32>, tensor<3x8x16xf32>, tensor<3x16x16xf32>, tensor<i32>, tensor<8x16xf32>)
    "func.return"(%40, %46#4) : (tensor<f32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<3x16x16xf32>, %arg19: tensor<i32>):
    %29 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.dynamic_slice"(%arg18, %arg19, %29, %30) <{slice_sizes = array<i64: 1, 16, 16>}> : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    "func.return"(%32) : (tensor<16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>), res_attrs = [{}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<8x16xf32>, %arg15: tensor<16x16xf32>):
    %24 = "stablehlo.dot_general"(%arg14, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %25 = "stablehlo.tanh"(%24) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.reduce"(%25, %26) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %28 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%28) : (tensor<f32>) -> ()
    }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%25, %27, %arg14) : (tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<3xf32>, %arg12: tensor<f32>, %arg13: tensor<i32>):
    %22 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %23 = "stablehlo.dynamic_update_slice"(%arg11, %22, %arg13) : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    "func.return"(%23) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<3x8x16xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<3x8x16xf32>, %arg9: tensor<8x16xf32>, %arg10: tensor<i32>):
    %18 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.dynamic_update_slice"(%arg8, %18, %arg10, %19, %20) : (tensor<3x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x16xf32>
    "func.return"(%21) : (tensor<3x8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xf32>, tensor<i32>) -> tensor<f32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<3xf32>, %arg7: tensor<i32>):
    %16 = "stablehlo.dynamic_slice"(%arg6, %arg7) <{slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %17 = "stablehlo.reshape"(%16) : (tensor<1xf32>) -> tensor<f32>
    "func.return"(%17) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_2", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<3x8x16xf32>, %arg5: tensor<i32>):
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.dynamic_slice"(%arg4, %arg5, %12, %13) <{slice_sizes = array<i64: 1, 8, 16>}> : (tensor<3x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %15 = "stablehlo.reshape"(%14) : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%15) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<f32>, %arg2: tensor<8x16xf32>, %arg3: tensor<16x16xf32>):
    %0:4 = "stablehlo.optimization_barrier"(%arg2, %arg3, %arg0, %arg1) : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<f32>) -> (tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<f32>)
    %1 = "stablehlo.dot_general"(%0#0, %0#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %2 = "stablehlo.tanh"(%1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %5 = "stablehlo.subtract"(%4, %2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %6 = "stablehlo.broadcast_in_dim"(%0#3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %7 = "stablehlo.add"(%0#2, %6) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %8 = "stablehlo.multiply"(%7, %5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %9 = "stablehlo.multiply"(%8, %2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %10 = "stablehlo.add"(%8, %9) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %11 = "stablehlo.dot_general"(%10, %0#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    "func.return"(%11) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

