// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/random_bits | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/random_bits | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_random_bits"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> (tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<7xui32>, tensor<4xui32>, tensor<7xui32>, tensor<4xui32>, tensor<7xui32>, tensor<8x4xf32>, tensor<2x4xui32>), res_attrs = [{jax.result_info = "result[0][0][0]"}, {jax.result_info = "result[0][0][1]"}, {jax.result_info = "result[0][1][0]"}, {jax.result_info = "result[0][1][1]"}, {jax.result_info = "result[0][2][0]"}, {jax.result_info = "result[0][2][1]"}, {jax.result_info = "result[0][3][0]"}, {jax.result_info = "result[0][3][1]"}, {jax.result_info = "result[0][4][0]"}, {jax.result_info = "result[0][4][1]"}, {jax.result_info = "result[0][5][0]"}, {jax.result_info = "result[0][5][1]"}, {jax.result_info = "result[0][6][0]"}, {jax.result_info = "result[0][6][1]"}, {jax.result_info = "result[0][7][0]"}, {jax.result_info = "result[0][7][1]"}, {jax.result_info = "result[0][8][0]"}, {jax.result_info = "result[0][8][1]"}, {jax.result_info = "result[0][9][0]"}, {jax.result_info = "result[0][9][1]"}, {jax.result_info = "result[0][10][0]"}, {jax.result_info = "result[0][10][1]"}, {jax.result_info = "result[0][11][0]"}, {jax.result_info = "result[0][11][1]"}, {jax.result_info = "result[0][12][0]"}, {jax.result_info = "result[0][12][1]"}, {jax.result_info = "result[0][13][0]"}, {jax.result_info = "result[0][13][1]"}, {jax.result_info = "result[0][14][0]"}, {jax.result_info = "result[0][14][1]"}, {jax.result_info = "result[0][15][0]"}, {jax.result_info = "result[0][15][1]"}, {jax.result_info = "result[0][16][0]"}, {jax.result_info = "result[0][16][1]"}, {jax.result_info = "result[0][17][0]"}, {jax.result_info = "result[0][17][1]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<4xui32>):
    %32 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %33 = "stablehlo.bitcast_convert"(%32) : (tensor<2x2xui32>) -> tensor<2xui64>
    %34:2 = "stablehlo.rng_bit_generator"(%33) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3xui32>)
    %35 = "stablehlo.bitcast_convert"(%34#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %36 = "stablehlo.reshape"(%35) : (tensor<2x2xui32>) -> tensor<4xui32>
    %37 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %38 = "stablehlo.bitcast_convert"(%37) : (tensor<2x2xui32>) -> tensor<2xui64>
    %39:2 = "stablehlo.rng_bit_generator"(%38) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3xui32>)
    %40 = "stablehlo.bitcast_convert"(%39#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %41 = "stablehlo.reshape"(%40) : (tensor<2x2xui32>) -> tensor<4xui32>
    %42 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %43 = "stablehlo.bitcast_convert"(%42) : (tensor<2x2xui32>) -> tensor<2xui64>
    %44:2 = "stablehlo.rng_bit_generator"(%43) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3xui32>)
    %45 = "stablehlo.bitcast_convert"(%44#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %46 = "stablehlo.reshape"(%45) : (tensor<2x2xui32>) -> tensor<4xui32>
    %47 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %48 = "stablehlo.bitcast_convert"(%47) : (tensor<2x2xui32>) -> tensor<2xui64>
    %49:2 = "stablehlo.rng_bit_generator"(%48) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui8>)
    %50 = "stablehlo.bitcast_convert"(%49#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %51 = "stablehlo.reshape"(%50) : (tensor<2x2xui32>) -> tensor<4xui32>
    %52 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %53 = "stablehlo.bitcast_convert"(%52) : (tensor<2x2xui32>) -> tensor<2xui64>
    %54:2 = "stablehlo.rng_bit_generator"(%53) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui8>)
    %55 = "stablehlo.bitcast_convert"(%54#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %56 = "stablehlo.reshape"(%55) : (tensor<2x2xui32>) -> tensor<4xui32>
    %57 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %58 = "stablehlo.bitcast_convert"(%57) : (tensor<2x2xui32>) -> tensor<2xui64>
    %59:2 = "stablehlo.rng_bit_generator"(%58) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui8>)
    %60 = "stablehlo.bitcast_convert"(%59#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %61 = "stablehlo.reshape"(%60) : (tensor<2x2xui32>) -> tensor<4xui32>
    %62 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %63 = "stablehlo.bitcast_convert"(%62) : (tensor<2x2xui32>) -> tensor<2xui64>
    %64:2 = "stablehlo.rng_bit_generator"(%63) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui16>)
    %65 = "stablehlo.bitcast_convert"(%64#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %66 = "stablehlo.reshape"(%65) : (tensor<2x2xui32>) -> tensor<4xui32>
    %67 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %68 = "stablehlo.bitcast_convert"(%67) : (tensor<2x2xui32>) -> tensor<2xui64>
    %69:2 = "stablehlo.rng_bit_generator"(%68) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui16>)
    %70 = "stablehlo.bitcast_convert"(%69#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %71 = "stablehlo.reshape"(%70) : (tensor<2x2xui32>) -> tensor<4xui32>
    %72 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %73 = "stablehlo.bitcast_convert"(%72) : (tensor<2x2xui32>) -> tensor<2xui64>
    %74:2 = "stablehlo.rng_bit_generator"(%73) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui16>)
    %75 = "stablehlo.bitcast_convert"(%74#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %76 = "stablehlo.reshape"(%75) : (tensor<2x2xui32>) -> tensor<4xui32>
    %77 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %78 = "stablehlo.bitcast_convert"(%77) : (tensor<2x2xui32>) -> tensor<2xui64>
    %79:2 = "stablehlo.rng_bit_generator"(%78) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
    %80 = "stablehlo.bitcast_convert"(%79#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %81 = "stablehlo.reshape"(%80) : (tensor<2x2xui32>) -> tensor<4xui32>
    %82 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %83 = "stablehlo.bitcast_convert"(%82) : (tensor<2x2xui32>) -> tensor<2xui64>
    %84:2 = "stablehlo.rng_bit_generator"(%83) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
    %85 = "stablehlo.bitcast_convert"(%84#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %86 = "stablehlo.reshape"(%85) : (tensor<2x2xui32>) -> tensor<4xui32>
    %87 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %88 = "stablehlo.bitcast_convert"(%87) : (tensor<2x2xui32>) -> tensor<2xui64>
    %89:2 = "stablehlo.rng_bit_generator"(%88) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
    %90 = "stablehlo.bitcast_convert"(%89#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %91 = "stablehlo.reshape"(%90) : (tensor<2x2xui32>) -> tensor<4xui32>
    %92 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %93 = "stablehlo.bitcast_convert"(%92) : (tensor<2x2xui32>) -> tensor<2xui64>
    %94:2 = "stablehlo.rng_bit_generator"(%93) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %95 = "stablehlo.bitcast_convert"(%94#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %96 = "stablehlo.reshape"(%95) : (tensor<2x2xui32>) -> tensor<4xui32>
    %97 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %98 = "stablehlo.bitcast_convert"(%97) : (tensor<2x2xui32>) -> tensor<2xui64>
    %99:2 = "stablehlo.rng_bit_generator"(%98) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %100 = "stablehlo.bitcast_convert"(%99#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %101 = "stablehlo.reshape"(%100) : (tensor<2x2xui32>) -> tensor<4xui32>
    %102 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %103 = "stablehlo.bitcast_convert"(%102) : (tensor<2x2xui32>) -> tensor<2xui64>
    %104:2 = "stablehlo.rng_bit_generator"(%103) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %105 = "stablehlo.bitcast_convert"(%104#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %106 = "stablehlo.reshape"(%105) : (tensor<2x2xui32>) -> tensor<4xui32>
    %107 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %108 = "stablehlo.bitcast_convert"(%107) : (tensor<2x2xui32>) -> tensor<2xui64>
    %109:2 = "stablehlo.rng_bit_generator"(%108) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
    %110 = "stablehlo.bitcast_convert"(%109#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %111 = "stablehlo.reshape"(%110) : (tensor<2x2xui32>) -> tensor<4xui32>
    %112 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %113 = "stablehlo.bitcast_convert"(%112) : (tensor<2x2xui32>) -> tensor<2xui64>
    %114:2 = "stablehlo.rng_bit_generator"(%113) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
    %115 = "stablehlo.bitcast_convert"(%114#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %116 = "stablehlo.reshape"(%115) : (tensor<2x2xui32>) -> tensor<4xui32>
    %117 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %118 = "stablehlo.bitcast_convert"(%117) : (tensor<2x2xui32>) -> tensor<2xui64>
    %119:2 = "stablehlo.rng_bit_generator"(%118) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
    %120 = "stablehlo.bitcast_convert"(%119#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %121 = "stablehlo.reshape"(%120) : (tensor<2x2xui32>) -> tensor<4xui32>
    %122 = "func.call"(%arg5) <{callee = @_normal}> : (tensor<4xui32>) -> tensor<8x4xf32>
    %123 = "stablehlo.reshape"(%arg5) : (tensor<4xui32>) -> tensor<2x2xui32>
    %124 = "stablehlo.bitcast_convert"(%123) : (tensor<2x2xui32>) -> tensor<2xui64>
    %125:2 = "stablehlo.rng_bit_generator"(%124) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<20x4xui32>)
    %126 = "stablehlo.bitcast_convert"(%125#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %127 = "stablehlo.reshape"(%126) : (tensor<2x2xui32>) -> tensor<4xui32>
    %128 = "stablehlo.slice"(%125#1) <{limit_indices = array<i64: 20, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 10, 1>}> : (tensor<20x4xui32>) -> tensor<2x4xui32>
    "func.return"(%36, %34#1, %41, %39#1, %46, %44#1, %51, %49#1, %56, %54#1, %61, %59#1, %66, %64#1, %71, %69#1, %76, %74#1, %81, %79#1, %86, %84#1, %91, %89#1, %96, %94#1, %101, %99#1, %106, %104#1, %111, %109#1, %116, %114#1, %121, %119#1, %122, %128) : (tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<5x3xui32>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<3x4xui8>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<4x6xui16>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<ui32>, tensor<4xui32>, tensor<7xui32>, tensor<4xui32>, tensor<7xui32>, tensor<4xui32>, tensor<7xui32>, tensor<8x4xf32>, tensor<2x4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<4xui32>):
    %31 = "func.call"(%arg4) <{callee = @_normal_real}> : (tensor<4xui32>) -> tensor<8x4xf32>
    "func.return"(%31) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4xui32>):
    %24 = "stablehlo.constant"() <{value = dense<-0.99999994> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "func.call"(%arg3, %24, %25) <{callee = @_uniform}> : (tensor<4xui32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
    %27 = "chlo.erf_inv"(%26) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %28 = "stablehlo.constant"() <{value = dense<1.41421354> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %30 = "stablehlo.multiply"(%29, %27) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%30) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xui32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %2 = "stablehlo.reshape"(%arg0) : (tensor<4xui32>) -> tensor<2x2xui32>
    %3 = "stablehlo.bitcast_convert"(%2) : (tensor<2x2xui32>) -> tensor<2xui64>
    %4:2 = "stablehlo.rng_bit_generator"(%3) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32>)
    %5 = "stablehlo.bitcast_convert"(%4#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %6 = "stablehlo.reshape"(%5) : (tensor<2x2xui32>) -> tensor<4xui32>
    %7 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %9 = "stablehlo.shift_right_logical"(%4#1, %8) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %10 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %12 = "stablehlo.or"(%9, %11) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %13 = "stablehlo.bitcast_convert"(%12) : (tensor<8x4xui32>) -> tensor<8x4xf32>
    %14 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %16 = "stablehlo.subtract"(%13, %15) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %17 = "stablehlo.subtract"(%1, %0) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %19 = "stablehlo.multiply"(%16, %18) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %20 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %21 = "stablehlo.add"(%19, %20) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %22 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %23 = "stablehlo.maximum"(%22, %21) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%23) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

