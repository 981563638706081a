// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/shape | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/shape | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_shapes"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> (tensor<2x4x16xf32>, tensor<8x16xf32>, tensor<4x5xf32>, tensor<8x32xf32>, tensor<11x19xf32>, tensor<22x17xf32>, tensor<8x3x16xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<128xf32>, tensor<8x0xf32>, tensor<16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<8x16xf32>):
    %5 = "stablehlo.reshape"(%arg3) : (tensor<8x16xf32>) -> tensor<4x16x2xf32>
    %6 = "stablehlo.transpose"(%5) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x2xf32>) -> tensor<2x4x16xf32>
    %7 = "stablehlo.reverse"(%arg3) <{dimensions = array<i64: 0>}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %8 = "stablehlo.slice"(%arg3) <{limit_indices = array<i64: 6, 16>, start_indices = array<i64: 2, 1>, strides = array<i64: 1, 3>}> : (tensor<8x16xf32>) -> tensor<4x5xf32>
    %9 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %11 = "stablehlo.multiply"(%arg3, %10) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %12 = "stablehlo.concatenate"(%arg3, %11) <{dimension = 1 : i64}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "func.call"(%arg3, %13) <{callee = @_pad}> : (tensor<8x16xf32>, tensor<i32>) -> tensor<11x19xf32>
    %15 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.pad"(%arg3, %15) <{edge_padding_high = array<i64: -1, 3>, edge_padding_low = array<i64: 1, -2>, interior_padding = array<i64: 2, 0>}> : (tensor<8x16xf32>, tensor<f32>) -> tensor<22x17xf32>
    %17 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x16xf32>) -> tensor<8x1x16xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x1x16xf32>) -> tensor<8x3x16xf32>
    %19 = "stablehlo.reshape"(%arg3) : (tensor<8x16xf32>) -> tensor<1x8x1x16xf32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x16xf32>) -> tensor<2x8x2x16xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<2x8x2x16xf32>) -> tensor<16x32xf32>
    %22 = "func.call"(%arg3) <{callee = @_roll_static}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %23 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %24 = "stablehlo.reshape"(%23) : (tensor<16x8xf32>) -> tensor<128xf32>
    %25 = "stablehlo.slice"(%arg3) <{limit_indices = array<i64: 8, 0>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<8x16xf32>) -> tensor<8x0xf32>
    %26 = "stablehlo.slice"(%arg3) <{limit_indices = array<i64: 1, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<8x16xf32>) -> tensor<1x16xf32>
    %27 = "stablehlo.reshape"(%26) : (tensor<1x16xf32>) -> tensor<16xf32>
    "func.return"(%6, %7, %8, %12, %14, %16, %18, %21, %22, %24, %25, %27) : (tensor<2x4x16xf32>, tensor<8x16xf32>, tensor<4x5xf32>, tensor<8x32xf32>, tensor<11x19xf32>, tensor<22x17xf32>, tensor<8x3x16xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<128xf32>, tensor<8x0xf32>, tensor<16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<i32>) -> tensor<11x19xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<8x16xf32>, %arg2: tensor<i32>):
    %3 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %4 = "stablehlo.pad"(%arg1, %3) <{edge_padding_high = array<i64: 2, 3>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<8x16xf32>, tensor<f32>) -> tensor<11x19xf32>
    "func.return"(%4) : (tensor<11x19xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 16>, start_indices = array<i64: 5, 0>, strides = array<i64: 1, 1>}> : (tensor<8x16xf32>) -> tensor<3x16xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 5, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<8x16xf32>) -> tensor<5x16xf32>
    %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<3x16xf32>, tensor<5x16xf32>) -> tensor<8x16xf32>
    "func.return"(%2) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

