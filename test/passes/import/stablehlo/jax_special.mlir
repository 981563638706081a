// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/special | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/special | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_special"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}, {jax.result_info = "result[19]"}, {jax.result_info = "result[20]"}, {jax.result_info = "result[21]"}, {jax.result_info = "result[22]"}, {jax.result_info = "result[23]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<8x16xf32>):
    %14 = "chlo.erf"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %15 = "chlo.erfc"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %16 = "stablehlo.tanh"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %17 = "chlo.erf_inv"(%16) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %18 = "chlo.sinh"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %19 = "chlo.cosh"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %22 = "stablehlo.add"(%arg7, %21) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %23 = "stablehlo.atan2"(%arg7, %22) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %24 = "stablehlo.cbrt"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %25 = "stablehlo.constant"() <{value = dense<0.693147182> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %27 = "stablehlo.multiply"(%26, %arg7) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %28 = "stablehlo.exponential"(%27) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %29 = "stablehlo.abs"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %30 = "stablehlo.log_plus_one"(%29) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %31 = "stablehlo.exponential_minus_one"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %32 = "stablehlo.negate"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %33 = "stablehlo.exponential"(%32) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %34 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %36 = "stablehlo.add"(%35, %33) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %37 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %39 = "stablehlo.divide"(%38, %36) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %40 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %42 = "stablehlo.divide"(%arg7, %41) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %43 = "stablehlo.is_finite"(%42) : (tensor<8x16xf32>) -> tensor<8x16xi1>
    %44 = "func.call"(%arg7) <{callee = @isinf}> : (tensor<8x16xf32>) -> tensor<8x16xi1>
    %45 = "func.call"(%arg7) <{callee = @round}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %46 = "stablehlo.floor"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %47 = "stablehlo.ceil"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %48 = "stablehlo.sign"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %49 = "stablehlo.abs"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %50 = "stablehlo.rsqrt"(%49) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %51 = "stablehlo.tanh"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %52 = "chlo.asin"(%51) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %53 = "chlo.atan"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %54 = "chlo.asinh"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %55 = "stablehlo.tan"(%arg7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %56 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %57 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %58 = "func.call"(%arg7, %56, %57) <{callee = @clip}> : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %59 = "stablehlo.constant"() <{value = dense<0.699999988> : tensor<f32>}> : () -> tensor<f32>
    %60 = "func.call"(%arg7, %59) <{callee = @fmod}> : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
    "func.return"(%14, %15, %17, %18, %19, %23, %24, %28, %30, %31, %39, %43, %44, %45, %46, %47, %48, %50, %52, %53, %54, %55, %58, %60) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> tensor<8x16xi1>, res_attrs = [{}], sym_name = "isinf", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<8x16xf32>):
    %10 = "stablehlo.abs"(%arg6) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %11 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %13 = "stablehlo.compare"(%10, %12) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    "func.return"(%13) : (tensor<8x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "round", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<8x16xf32>):
    %9 = "stablehlo.round_nearest_even"(%arg5) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%9) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<8x16xf32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %3 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %5 = "stablehlo.maximum"(%4, %arg2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %6 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %8 = "stablehlo.minimum"(%7, %5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%8) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "fmod", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<f32>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %2 = "stablehlo.remainder"(%arg0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%2) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

