// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/gamma | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/gamma | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_gamma_functions"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<8x16xf32>, %arg5: tensor<8x16xf32>, %arg6: tensor<8x16xi32>):
    %2 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -1.000000e+00, -2.500000e+00, 0x7F800000, 1.000000e+00, 2.000000e+00]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %3 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -1.000000e+00, -2.500000e+00, 1.000000e+00, 5.000000e-01, 3.000000e+01]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %4 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 5.000000e-01, 2.000000e+00, 2.500000e+00]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %5 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -1.000000e+00, -1.000000e+00, 1.000000e+00, 1.000000e+00, -5.000000e-01]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %6 = "chlo.lgamma"(%arg5) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %7 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %9 = "stablehlo.multiply"(%arg4, %8) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %10 = "chlo.lgamma"(%9) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %11 = "chlo.digamma"(%arg5) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %12 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %14 = "stablehlo.multiply"(%arg4, %13) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %15 = "chlo.digamma"(%14) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %16 = "stablehlo.constant"() <{value = dense<1.100000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %18 = "stablehlo.add"(%arg5, %17) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %19 = "chlo.zeta"(%18, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %20 = "func.call"(%arg5) <{callee = @round}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %21 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %23 = "stablehlo.add"(%20, %22) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %24 = "chlo.zeta"(%23, %arg4) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %25 = "stablehlo.convert"(%arg6) : (tensor<8x16xi32>) -> tensor<8x16xf32>
    %26 = "chlo.polygamma"(%25, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %27 = "stablehlo.constant"() <{value = dense<9.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %29 = "stablehlo.multiply"(%arg4, %28) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %30 = "chlo.bessel_i1e"(%29) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %31 = "stablehlo.abs"(%arg4) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %33 = "chlo.bessel_i1e"(%arg4) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %34 = "stablehlo.multiply"(%32, %33) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %35 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %37 = "stablehlo.add"(%arg5, %36) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %38 = "stablehlo.compare"(%arg5, %arg5) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %39 = "stablehlo.compare"(%37, %37) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %40 = "stablehlo.or"(%38, %39) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %41 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %43 = "stablehlo.compare"(%37, %42) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %46 = "stablehlo.compare"(%arg5, %45) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %49 = "stablehlo.compare"(%37, %48) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %52 = "stablehlo.compare"(%37, %51) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %53 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %55 = "stablehlo.compare"(%arg5, %54) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %56 = "stablehlo.and"(%46, %49) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %57 = "stablehlo.or"(%52, %55) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %58 = "stablehlo.or"(%57, %56) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %59 = "stablehlo.or"(%58, %40) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %60 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %62 = "stablehlo.compare"(%37, %61) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %63 = "stablehlo.compare"(%37, %arg5) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %64 = "stablehlo.and"(%62, %63) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %65 = "stablehlo.log"(%37) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %66 = "stablehlo.multiply"(%arg5, %65) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %67 = "stablehlo.subtract"(%66, %37) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %68 = "chlo.lgamma"(%arg5) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %69 = "stablehlo.subtract"(%67, %68) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %70 = "stablehlo.constant"() <{value = dense<3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.log"(%70) : (tensor<f32>) -> tensor<f32>
    %72 = "stablehlo.negate"(%71) : (tensor<f32>) -> tensor<f32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %74 = "stablehlo.compare"(%69, %73) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %75 = "stablehlo.exponential"(%69) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %76 = "stablehlo.or"(%49, %59) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %77 = "stablehlo.or"(%76, %74) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %78 = "stablehlo.or"(%77, %43) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %79 = "stablehlo.not"(%78) : (tensor<8x16xi1>) -> tensor<8x16xi1>
    %80 = "stablehlo.and"(%79, %64) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %81 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %83 = "stablehlo.subtract"(%82, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %84 = "stablehlo.add"(%37, %83) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %85 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %87 = "stablehlo.add"(%84, %86) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %88 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %90 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %92 = "stablehlo.add"(%37, %91) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %93 = "stablehlo.multiply"(%87, %37) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %94 = "stablehlo.divide"(%92, %93) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %95 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %99 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %100 = "stablehlo.broadcast_in_dim"(%99) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %101 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %103 = "stablehlo.negate"(%37) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %104 = "stablehlo.multiply"(%94, %103) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %105 = "stablehlo.subtract"(%102, %104) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %106 = "stablehlo.divide"(%105, %93) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %107 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %108:15 = "stablehlo.while"(%80, %94, %96, %83, %87, %107, %92, %93, %89, %37, %98, %100, %102, %103, %106) ({
    ^bb0(%arg38: tensor<8x16xi1>, %arg39: tensor<8x16xf32>, %arg40: tensor<8x16xf32>, %arg41: tensor<8x16xf32>, %arg42: tensor<8x16xf32>, %arg43: tensor<f32>, %arg44: tensor<8x16xf32>, %arg45: tensor<8x16xf32>, %arg46: tensor<8x16xf32>, %arg47: tensor<8x16xf32>, %arg48: tensor<8x16xf32>, %arg49: tensor<8x16xf32>, %arg50: tensor<8x16xf32>, %arg51: tensor<8x16xf32>, %arg52: tensor<8x16xf32>):
      %371 = "stablehlo.constant"() <{value = dense<2.000000e+03> : tensor<f32>}> : () -> tensor<f32>
      %372 = "stablehlo.compare"(%arg43, %371) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %373 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %374 = "stablehlo.reduce"(%arg38, %373) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%arg53: tensor<i1>, %arg54: tensor<i1>):
        %376 = "stablehlo.or"(%arg53, %arg54) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%376) : (tensor<i1>) -> ()
      }) : (tensor<8x16xi1>, tensor<i1>) -> tensor<i1>
      %375 = "stablehlo.and"(%372, %374) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%375) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg23: tensor<8x16xi1>, %arg24: tensor<8x16xf32>, %arg25: tensor<8x16xf32>, %arg26: tensor<8x16xf32>, %arg27: tensor<8x16xf32>, %arg28: tensor<f32>, %arg29: tensor<8x16xf32>, %arg30: tensor<8x16xf32>, %arg31: tensor<8x16xf32>, %arg32: tensor<8x16xf32>, %arg33: tensor<8x16xf32>, %arg34: tensor<8x16xf32>, %arg35: tensor<8x16xf32>, %arg36: tensor<8x16xf32>, %arg37: tensor<8x16xf32>):
      %265 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %266 = "stablehlo.add"(%arg28, %265) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %267 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %268 = "stablehlo.broadcast_in_dim"(%267) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %269 = "stablehlo.add"(%arg26, %268) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %270 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %271 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %272 = "stablehlo.add"(%arg27, %271) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %273 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %274 = "stablehlo.multiply"(%269, %273) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %275 = "stablehlo.multiply"(%arg29, %272) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %276 = "stablehlo.multiply"(%arg31, %274) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %277 = "stablehlo.subtract"(%275, %276) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %278 = "stablehlo.multiply"(%arg30, %272) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %279 = "stablehlo.multiply"(%arg32, %274) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %280 = "stablehlo.subtract"(%278, %279) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %281 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %282 = "stablehlo.broadcast_in_dim"(%281) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %283 = "stablehlo.compare"(%280, %282) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
      %284 = "stablehlo.divide"(%277, %280) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %285 = "stablehlo.subtract"(%arg24, %284) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %286 = "stablehlo.divide"(%285, %284) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %287 = "stablehlo.abs"(%286) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %288 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %289 = "stablehlo.broadcast_in_dim"(%288) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %290 = "stablehlo.select"(%283, %287, %289) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %291 = "stablehlo.select"(%283, %284, %arg24) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %292 = "stablehlo.multiply"(%arg35, %272) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %293 = "stablehlo.subtract"(%292, %arg29) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %294 = "stablehlo.multiply"(%arg33, %274) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %295 = "stablehlo.subtract"(%293, %294) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %296 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %297 = "stablehlo.multiply"(%arg31, %296) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %298 = "stablehlo.add"(%295, %297) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %299 = "stablehlo.multiply"(%arg36, %272) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %300 = "stablehlo.subtract"(%299, %arg30) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %301 = "stablehlo.multiply"(%arg34, %274) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %302 = "stablehlo.subtract"(%300, %301) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %303 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %304 = "stablehlo.multiply"(%arg32, %303) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %305 = "stablehlo.add"(%302, %304) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %306 = "stablehlo.multiply"(%291, %305) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %307 = "stablehlo.subtract"(%298, %306) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %308 = "stablehlo.divide"(%307, %280) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %309 = "stablehlo.select"(%283, %308, %arg37) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %310 = "stablehlo.subtract"(%309, %arg37) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %311 = "stablehlo.abs"(%310) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %312 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %313 = "stablehlo.broadcast_in_dim"(%312) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %314 = "stablehlo.select"(%283, %311, %313) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %315 = "stablehlo.abs"(%277) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %316 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %317 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %318 = "stablehlo.broadcast_in_dim"(%317) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
      %319 = "stablehlo.divide"(%318, %316) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %320 = "stablehlo.broadcast_in_dim"(%319) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %321 = "stablehlo.compare"(%315, %320) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
      %322 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %323 = "stablehlo.broadcast_in_dim"(%322) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %324 = "stablehlo.multiply"(%arg29, %323) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %325 = "stablehlo.select"(%321, %324, %arg29) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %326 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %327 = "stablehlo.broadcast_in_dim"(%326) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %328 = "stablehlo.multiply"(%277, %327) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %329 = "stablehlo.select"(%321, %328, %277) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %330 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %331 = "stablehlo.broadcast_in_dim"(%330) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %332 = "stablehlo.multiply"(%arg30, %331) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %333 = "stablehlo.select"(%321, %332, %arg30) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %334 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %335 = "stablehlo.broadcast_in_dim"(%334) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %336 = "stablehlo.multiply"(%280, %335) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %337 = "stablehlo.select"(%321, %336, %280) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %338 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %339 = "stablehlo.broadcast_in_dim"(%338) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %340 = "stablehlo.multiply"(%arg35, %339) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %341 = "stablehlo.select"(%321, %340, %arg35) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %342 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %343 = "stablehlo.broadcast_in_dim"(%342) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %344 = "stablehlo.multiply"(%arg36, %343) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %345 = "stablehlo.select"(%321, %344, %arg36) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %346 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %347 = "stablehlo.broadcast_in_dim"(%346) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %348 = "stablehlo.multiply"(%298, %347) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %349 = "stablehlo.select"(%321, %348, %298) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %350 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %351 = "stablehlo.broadcast_in_dim"(%350) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %352 = "stablehlo.multiply"(%305, %351) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %353 = "stablehlo.select"(%321, %352, %305) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %354 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %355 = "stablehlo.broadcast_in_dim"(%354) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %356 = "stablehlo.compare"(%290, %355) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
      %357 = "stablehlo.and"(%arg23, %356) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
      %358 = "stablehlo.select"(%arg23, %291, %arg24) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %359 = "stablehlo.select"(%arg23, %290, %arg25) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %360 = "stablehlo.select"(%arg23, %269, %arg26) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %361 = "stablehlo.select"(%arg23, %272, %arg27) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %362 = "stablehlo.select"(%arg23, %329, %arg29) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %363 = "stablehlo.select"(%arg23, %337, %arg30) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %364 = "stablehlo.select"(%arg23, %325, %arg31) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %365 = "stablehlo.select"(%arg23, %333, %arg32) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %366 = "stablehlo.select"(%arg23, %341, %arg33) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %367 = "stablehlo.select"(%arg23, %345, %arg34) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %368 = "stablehlo.select"(%arg23, %349, %arg35) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %369 = "stablehlo.select"(%arg23, %353, %arg36) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %370 = "stablehlo.select"(%arg23, %309, %arg37) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%357, %358, %359, %360, %361, %266, %362, %363, %364, %365, %366, %367, %368, %369, %370) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> ()
    }) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
    %109 = "stablehlo.multiply"(%108#1, %75) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %110 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %112 = "stablehlo.subtract"(%111, %109) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %113 = "stablehlo.not"(%64) : (tensor<8x16xi1>) -> tensor<8x16xi1>
    %114 = "stablehlo.and"(%79, %113) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %115 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %119 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %120 = "stablehlo.broadcast_in_dim"(%119) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %121 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %122 = "stablehlo.broadcast_in_dim"(%121) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %123:7 = "stablehlo.while"(%114, %arg5, %116, %118, %37, %120, %122) ({
    ^bb0(%arg14: tensor<8x16xi1>, %arg15: tensor<8x16xf32>, %arg16: tensor<8x16xf32>, %arg17: tensor<8x16xf32>, %arg18: tensor<8x16xf32>, %arg19: tensor<8x16xf32>, %arg20: tensor<8x16xf32>):
      %262 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %263 = "stablehlo.reduce"(%arg14, %262) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%arg21: tensor<i1>, %arg22: tensor<i1>):
        %264 = "stablehlo.or"(%arg21, %arg22) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%264) : (tensor<i1>) -> ()
      }) : (tensor<8x16xi1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%263) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg7: tensor<8x16xi1>, %arg8: tensor<8x16xf32>, %arg9: tensor<8x16xf32>, %arg10: tensor<8x16xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<8x16xf32>, %arg13: tensor<8x16xf32>):
      %238 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %239 = "stablehlo.broadcast_in_dim"(%238) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %240 = "stablehlo.add"(%arg8, %239) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %241 = "stablehlo.divide"(%arg11, %240) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %242 = "stablehlo.multiply"(%arg12, %241) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %243 = "stablehlo.multiply"(%arg9, %arg11) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %244 = "stablehlo.multiply"(%240, %240) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %245 = "stablehlo.divide"(%243, %244) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %246 = "stablehlo.subtract"(%242, %245) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %247 = "stablehlo.add"(%arg13, %246) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %248 = "stablehlo.divide"(%arg11, %240) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %249 = "stablehlo.multiply"(%arg9, %248) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %250 = "stablehlo.add"(%arg10, %249) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %251 = "stablehlo.divide"(%249, %250) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %252 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %253 = "stablehlo.broadcast_in_dim"(%252) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %254 = "stablehlo.compare"(%251, %253) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
      %255 = "stablehlo.and"(%arg7, %254) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
      %256 = "stablehlo.select"(%arg7, %240, %arg8) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %257 = "stablehlo.select"(%arg7, %249, %arg9) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %258 = "stablehlo.select"(%arg7, %250, %arg10) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %259 = "stablehlo.select"(%arg7, %arg11, %arg11) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %260 = "stablehlo.select"(%arg7, %246, %arg12) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %261 = "stablehlo.select"(%arg7, %247, %arg13) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%255, %256, %257, %258, %259, %260, %261) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> ()
    }) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
    %124 = "stablehlo.multiply"(%123#3, %75) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %125 = "stablehlo.divide"(%124, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %126 = "stablehlo.select"(%64, %112, %125) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %127 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %128 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %129 = "stablehlo.select"(%49, %128, %126) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %130 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %132 = "stablehlo.select"(%43, %131, %129) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %133 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %134 = "stablehlo.broadcast_in_dim"(%133) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %135 = "stablehlo.select"(%59, %134, %132) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %136 = "stablehlo.minimum"(%arg5, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %137 = "stablehlo.maximum"(%arg5, %arg5) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %138 = "chlo.lgamma"(%136) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %139 = "chlo.lgamma"(%137) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %140 = "stablehlo.add"(%136, %137) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %141 = "chlo.lgamma"(%140) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %142 = "stablehlo.subtract"(%139, %141) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %143 = "stablehlo.add"(%138, %142) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %144 = "chlo.lgamma"(%136) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %145 = "stablehlo.divide"(%136, %137) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %146 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %147 = "stablehlo.broadcast_in_dim"(%146) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %148 = "stablehlo.add"(%147, %145) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %149 = "stablehlo.divide"(%145, %148) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %150 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %151 = "stablehlo.broadcast_in_dim"(%150) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %152 = "stablehlo.add"(%151, %145) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %153 = "stablehlo.divide"(%145, %152) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %154 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.broadcast_in_dim"(%154) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %156 = "stablehlo.subtract"(%136, %155) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %157 = "stablehlo.add"(%137, %156) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %158 = "stablehlo.multiply"(%153, %153) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %159 = "stablehlo.add"(%153, %158) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %160 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %162 = "stablehlo.add"(%161, %159) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %163 = "stablehlo.multiply"(%158, %162) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %164 = "stablehlo.add"(%153, %163) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %165 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %166 = "stablehlo.broadcast_in_dim"(%165) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %167 = "stablehlo.add"(%166, %164) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %168 = "stablehlo.multiply"(%158, %167) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %169 = "stablehlo.add"(%153, %168) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %170 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %171 = "stablehlo.broadcast_in_dim"(%170) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %172 = "stablehlo.add"(%171, %169) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %173 = "stablehlo.multiply"(%158, %172) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %174 = "stablehlo.add"(%153, %173) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %175 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %177 = "stablehlo.add"(%176, %174) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %178 = "stablehlo.multiply"(%158, %177) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %179 = "stablehlo.add"(%153, %178) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %180 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %181 = "stablehlo.broadcast_in_dim"(%180) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %182 = "stablehlo.add"(%181, %179) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %183 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %184 = "stablehlo.broadcast_in_dim"(%183) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %185 = "stablehlo.divide"(%184, %137) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %186 = "stablehlo.multiply"(%185, %185) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %187 = "stablehlo.constant"() <{value = dense<-0.00165322958> : tensor<f32>}> : () -> tensor<f32>
    %188 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %189 = "stablehlo.multiply"(%188, %182) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %190 = "stablehlo.multiply"(%189, %186) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %191 = "stablehlo.constant"() <{value = dense<8.373080e-04> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %193 = "stablehlo.multiply"(%192, %177) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %194 = "stablehlo.add"(%190, %193) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %195 = "stablehlo.multiply"(%194, %186) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %196 = "stablehlo.constant"() <{value = dense<-5.95202902E-4> : tensor<f32>}> : () -> tensor<f32>
    %197 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %198 = "stablehlo.multiply"(%197, %172) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %199 = "stablehlo.add"(%195, %198) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %200 = "stablehlo.multiply"(%199, %186) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %201 = "stablehlo.constant"() <{value = dense<7.93650688E-4> : tensor<f32>}> : () -> tensor<f32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %203 = "stablehlo.multiply"(%202, %167) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %204 = "stablehlo.add"(%200, %203) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %205 = "stablehlo.multiply"(%204, %186) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %206 = "stablehlo.constant"() <{value = dense<-0.00277777785> : tensor<f32>}> : () -> tensor<f32>
    %207 = "stablehlo.broadcast_in_dim"(%206) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %208 = "stablehlo.multiply"(%207, %162) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %209 = "stablehlo.add"(%205, %208) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %210 = "stablehlo.multiply"(%209, %186) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %211 = "stablehlo.constant"() <{value = dense<0.0833333358> : tensor<f32>}> : () -> tensor<f32>
    %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %213 = "stablehlo.add"(%210, %212) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %214 = "stablehlo.divide"(%149, %137) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %215 = "stablehlo.multiply"(%213, %214) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %216 = "stablehlo.divide"(%136, %137) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %217 = "stablehlo.log_plus_one"(%216) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %218 = "stablehlo.multiply"(%157, %217) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %219 = "stablehlo.log"(%137) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %220 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.broadcast_in_dim"(%220) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %222 = "stablehlo.subtract"(%219, %221) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %223 = "stablehlo.multiply"(%136, %222) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %224 = "stablehlo.compare"(%218, %223) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %225 = "stablehlo.subtract"(%215, %223) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %226 = "stablehlo.subtract"(%225, %218) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %227 = "stablehlo.subtract"(%215, %218) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %228 = "stablehlo.subtract"(%227, %223) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %229 = "func.call"(%224, %226, %228) <{callee = @_where}> : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %230 = "stablehlo.add"(%144, %229) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %231 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %232 = "stablehlo.broadcast_in_dim"(%231) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %233 = "stablehlo.compare"(%137, %232) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %234 = "func.call"(%233, %143, %230) <{callee = @_where}> : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %235 = "chlo.lgamma"(%2) : (tensor<6xf32>) -> tensor<6xf32>
    %236 = "chlo.digamma"(%3) : (tensor<6xf32>) -> tensor<6xf32>
    %237 = "chlo.zeta"(%4, %5) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    "func.return"(%6, %10, %11, %15, %19, %24, %26, %30, %34, %135, %234, %235, %236, %237) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "round", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<8x16xf32>):
    %1 = "stablehlo.round_nearest_even"(%arg3) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%1) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xi1>, %arg1: tensor<8x16xf32>, %arg2: tensor<8x16xf32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%0) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

