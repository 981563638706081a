// Every op of math on f32 and bf16, on integers and floats.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 1x4 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %f32_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %bf16_0: tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
    %i32_0: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %i8_0: tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
    %f32_1: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %bf16_1: tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
    %f32_2: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %i32_1: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
    %bf16_2: tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]})
    -> (tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}) {
  %r_0 = math.absf %f32_0 : tensor<5x6xf32>
  %r_1 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_2 = math.asinh %f32_0 : tensor<5x6xf32>
  %r_3 = math.asinh %bf16_0 : tensor<5x6xbf16>
  %r_4 = math.atan %f32_0 : tensor<5x6xf32>
  %r_5 = math.atan %bf16_0 : tensor<5x6xbf16>
  %r_6 = math.cbrt %f32_0 : tensor<5x6xf32>
  %r_7 = math.cbrt %bf16_0 : tensor<5x6xbf16>
  %r_8 = math.ceil %f32_0 : tensor<5x6xf32>
  %r_9 = math.ceil %bf16_0 : tensor<5x6xbf16>
  %r_10 = math.cos %f32_0 : tensor<5x6xf32>
  %r_11 = math.cos %bf16_0 : tensor<5x6xbf16>
  %r_12 = math.cosh %f32_0 : tensor<5x6xf32>
  %r_13 = math.cosh %bf16_0 : tensor<5x6xbf16>
  %r_14 = math.sin %f32_0 : tensor<5x6xf32>
  %r_15 = math.sin %bf16_0 : tensor<5x6xbf16>
  %r_16 = math.sinh %f32_0 : tensor<5x6xf32>
  %r_17 = math.sinh %bf16_0 : tensor<5x6xbf16>
  %r_18 = math.erf %f32_0 : tensor<5x6xf32>
  %r_19 = math.erf %bf16_0 : tensor<5x6xbf16>
  %r_20 = math.erfc %f32_0 : tensor<5x6xf32>
  %r_21 = math.erfc %bf16_0 : tensor<5x6xbf16>
  %r_22 = math.exp %f32_0 : tensor<5x6xf32>
  %r_23 = math.exp %bf16_0 : tensor<5x6xbf16>
  %r_24 = math.exp2 %f32_0 : tensor<5x6xf32>
  %r_25 = math.exp2 %bf16_0 : tensor<5x6xbf16>
  %r_26 = math.expm1 %f32_0 : tensor<5x6xf32>
  %r_27 = math.expm1 %bf16_0 : tensor<5x6xbf16>
  %r_28 = math.floor %f32_0 : tensor<5x6xf32>
  %r_29 = math.floor %bf16_0 : tensor<5x6xbf16>
  %r_30 = math.tan %f32_0 : tensor<5x6xf32>
  %r_31 = math.tan %bf16_0 : tensor<5x6xbf16>
  %r_32 = math.tanh %f32_0 : tensor<5x6xf32>
  %r_33 = math.tanh %bf16_0 : tensor<5x6xbf16>
  %r_34 = math.roundeven %f32_0 : tensor<5x6xf32>
  %r_35 = math.roundeven %bf16_0 : tensor<5x6xbf16>
  %r_36 = math.round %f32_0 : tensor<5x6xf32>
  %r_37 = math.round %bf16_0 : tensor<5x6xbf16>
  %r_38 = math.trunc %f32_0 : tensor<5x6xf32>
  %r_39 = math.trunc %bf16_0 : tensor<5x6xbf16>
  %p_40 = math.absf %f32_0 : tensor<5x6xf32>
  %r_40 = math.log %p_40 : tensor<5x6xf32>
  %p_41 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_41 = math.log %p_41 : tensor<5x6xbf16>
  %p_42 = math.absf %f32_0 : tensor<5x6xf32>
  %r_42 = math.log10 %p_42 : tensor<5x6xf32>
  %p_43 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_43 = math.log10 %p_43 : tensor<5x6xbf16>
  %p_44 = math.absf %f32_0 : tensor<5x6xf32>
  %r_44 = math.log1p %p_44 : tensor<5x6xf32>
  %p_45 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_45 = math.log1p %p_45 : tensor<5x6xbf16>
  %p_46 = math.absf %f32_0 : tensor<5x6xf32>
  %r_46 = math.log2 %p_46 : tensor<5x6xf32>
  %p_47 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_47 = math.log2 %p_47 : tensor<5x6xbf16>
  %p_48 = math.absf %f32_0 : tensor<5x6xf32>
  %r_48 = math.rsqrt %p_48 : tensor<5x6xf32>
  %p_49 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_49 = math.rsqrt %p_49 : tensor<5x6xbf16>
  %p_50 = math.absf %f32_0 : tensor<5x6xf32>
  %r_50 = math.sqrt %p_50 : tensor<5x6xf32>
  %p_51 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_51 = math.sqrt %p_51 : tensor<5x6xbf16>
  %p_52 = math.absf %f32_0 : tensor<5x6xf32>
  %r_52 = math.acosh %p_52 : tensor<5x6xf32>
  %p_53 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_53 = math.acosh %p_53 : tensor<5x6xbf16>
  %p_54 = math.absf %f32_0 : tensor<5x6xf32>
  %r_54 = math.acos %p_54 : tensor<5x6xf32>
  %p_55 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_55 = math.acos %p_55 : tensor<5x6xbf16>
  %p_56 = math.absf %f32_0 : tensor<5x6xf32>
  %r_56 = math.asin %p_56 : tensor<5x6xf32>
  %p_57 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_57 = math.asin %p_57 : tensor<5x6xbf16>
  %p_58 = math.absf %f32_0 : tensor<5x6xf32>
  %r_58 = math.atanh %p_58 : tensor<5x6xf32>
  %p_59 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_59 = math.atanh %p_59 : tensor<5x6xbf16>
  %r_60 = math.absi %i32_0 : tensor<5x6xi32>
  %r_61 = math.absi %i8_0 : tensor<5x6xi8>
  %r_62 = math.ctlz %i32_0 : tensor<5x6xi32>
  %r_63 = math.ctlz %i8_0 : tensor<5x6xi8>
  %r_64 = math.cttz %i32_0 : tensor<5x6xi32>
  %r_65 = math.cttz %i8_0 : tensor<5x6xi8>
  %r_66 = math.ctpop %i32_0 : tensor<5x6xi32>
  %r_67 = math.ctpop %i8_0 : tensor<5x6xi8>
  %r_68 = math.atan2 %f32_0, %f32_1 : tensor<5x6xf32>
  %r_69 = math.atan2 %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_70 = math.copysign %f32_0, %f32_1 : tensor<5x6xf32>
  %r_71 = math.copysign %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %p_72 = math.absf %f32_0 : tensor<5x6xf32>
  %r_72 = math.powf %p_72, %f32_1 : tensor<5x6xf32>
  %p_73 = math.absf %bf16_0 : tensor<5x6xbf16>
  %r_73 = math.powf %p_73, %bf16_1 : tensor<5x6xbf16>
  %r_74 = math.fma %f32_0, %f32_1, %f32_2 : tensor<5x6xf32>
  %r_75 = math.clampf %f32_0 to [%f32_1, %f32_2] : tensor<5x6xf32>
  %r_76 = math.fpowi %f32_0, %i32_1 : tensor<5x6xf32>, tensor<5x6xi32>
  %r_77, %r1_77 = math.sincos %f32_0 : tensor<5x6xf32>
  %r_78 = math.isfinite %f32_0 : tensor<5x6xf32>
  %r_79 = math.isinf %f32_0 : tensor<5x6xf32>
  %r_80 = math.isnan %f32_0 : tensor<5x6xf32>
  %r_81 = math.isnormal %f32_0 : tensor<5x6xf32>
  %r_82 = math.fma %bf16_0, %bf16_1, %bf16_2 : tensor<5x6xbf16>
  %r_83 = math.clampf %bf16_0 to [%bf16_1, %bf16_2] : tensor<5x6xbf16>
  %r_84 = math.fpowi %bf16_0, %i32_1 : tensor<5x6xbf16>, tensor<5x6xi32>
  %r_85, %r1_85 = math.sincos %bf16_0 : tensor<5x6xbf16>
  %r_86 = math.isfinite %bf16_0 : tensor<5x6xbf16>
  %r_87 = math.isinf %bf16_0 : tensor<5x6xbf16>
  %r_88 = math.isnan %bf16_0 : tensor<5x6xbf16>
  %r_89 = math.isnormal %bf16_0 : tensor<5x6xbf16>
  %r_90 = math.ipowi %i32_0, %i32_1 : tensor<5x6xi32>
  return %r_0, %r_1, %r_2, %r_3, %r_4, %r_5, %r_6, %r_7, %r_8, %r_9, %r_10, %r_11, %r_12, %r_13, %r_14, %r_15, %r_16, %r_17, %r_18, %r_19,
      %r_20, %r_21, %r_22, %r_23, %r_24, %r_25, %r_26, %r_27, %r_28, %r_29, %r_30, %r_31, %r_32, %r_33, %r_34, %r_35, %r_36, %r_37,
      %r_38, %r_39, %r_40, %r_41, %r_42, %r_43, %r_44, %r_45, %r_46, %r_47, %r_48, %r_49, %r_50, %r_51, %r_52, %r_53, %r_54, %r_55,
      %r_56, %r_57, %r_58, %r_59, %r_60, %r_61, %r_62, %r_63, %r_64, %r_65, %r_66, %r_67, %r_68, %r_69, %r_70, %r_71, %r_72, %r_73,
      %r_74, %r_75, %r_76, %r_77, %r1_77, %r_78, %r_79, %r_80, %r_81, %r_82, %r_83, %r_84, %r_85, %r1_85, %r_86, %r_87, %r_88, %r_89,
      %r_90
      : tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>,
        tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xf32>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xbf16>,
        tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>,
        tensor<5x6xi1>, tensor<5x6xi32>
}
