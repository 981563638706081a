// Every conversion of arith, with and without rounding modes.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --mesh 2x2 --target=cuda
// RUN: shard-run %s --mesh 1x4 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %i8_0: tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]}, %i1_0: tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
    %i32_0: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %f16_0: tensor<5x6xf16> {tp.sharding = [["x"], ["y"]]},
    %bf16_0: tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]}, %f32_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]},
    %f64_0: tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]}, %i64_0: tensor<5x6xi64> {tp.sharding = [[], ["x", "y"]]})
    -> (tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi64> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf64> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xindex> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xindex> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi16> {tp.sharding = [["x"], ["y"]]}) {
  %r_0 = arith.extui %i8_0 : tensor<5x6xi8> to tensor<5x6xi32>
  %r_1 = arith.extsi %i8_0 : tensor<5x6xi8> to tensor<5x6xi32>
  %r_2 = arith.extui %i1_0 : tensor<5x6xi1> to tensor<5x6xi32>
  %r_3 = arith.extsi %i1_0 : tensor<5x6xi1> to tensor<5x6xi32>
  %r_4 = arith.extui %i32_0 : tensor<5x6xi32> to tensor<5x6xi64>
  %r_5 = arith.extsi %i32_0 : tensor<5x6xi32> to tensor<5x6xi64>
  %r_6 = arith.extf %f16_0 : tensor<5x6xf16> to tensor<5x6xf32>
  %r_7 = arith.extf %bf16_0 : tensor<5x6xbf16> to tensor<5x6xf32>
  %r_8 = arith.extf %f32_0 : tensor<5x6xf32> to tensor<5x6xf64>
  %r_9 = arith.extf %bf16_0 : tensor<5x6xbf16> to tensor<5x6xf64>
  %r_10 = arith.truncf %f32_0 : tensor<5x6xf32> to tensor<5x6xf16>
  %r_11 = arith.truncf %f32_0 : tensor<5x6xf32> to tensor<5x6xbf16>
  %r_12 = arith.truncf %f64_0 : tensor<5x6xf64> to tensor<5x6xf32>
  %r_13 = arith.truncf %f64_0 : tensor<5x6xf64> to tensor<5x6xf16>
  %r_14 = arith.truncf %f64_0 to_nearest_even : tensor<5x6xf64> to tensor<5x6xf32>
  %r_15 = arith.trunci %i64_0 : tensor<5x6xi64> to tensor<5x6xi8>
  %r_16 = arith.uitofp %i32_0 : tensor<5x6xi32> to tensor<5x6xf32>
  %r_17 = arith.uitofp %i8_0 : tensor<5x6xi8> to tensor<5x6xf16>
  %r_18 = arith.uitofp %i1_0 : tensor<5x6xi1> to tensor<5x6xf32>
  %r_19 = arith.uitofp %i64_0 : tensor<5x6xi64> to tensor<5x6xbf16>
  %r_20 = arith.sitofp %i32_0 : tensor<5x6xi32> to tensor<5x6xf32>
  %r_21 = arith.sitofp %i8_0 : tensor<5x6xi8> to tensor<5x6xf16>
  %r_22 = arith.sitofp %i1_0 : tensor<5x6xi1> to tensor<5x6xf32>
  %r_23 = arith.sitofp %i64_0 : tensor<5x6xi64> to tensor<5x6xbf16>
  %r_24 = arith.fptosi %f32_0 : tensor<5x6xf32> to tensor<5x6xi32>
  %p_25 = math.absf %f32_0 : tensor<5x6xf32>
  %r_25 = arith.fptoui %p_25 : tensor<5x6xf32> to tensor<5x6xi32>
  %r_26 = arith.index_cast %i32_0 : tensor<5x6xi32> to tensor<5x6xindex>
  %r_27 = arith.index_castui %i32_0 : tensor<5x6xi32> to tensor<5x6xindex>
  %r_28 = arith.bitcast %i32_0 : tensor<5x6xi32> to tensor<5x6xf32>
  %r_29 = arith.bitcast %f32_0 : tensor<5x6xf32> to tensor<5x6xi32>
  %r_30 = arith.bitcast %bf16_0 : tensor<5x6xbf16> to tensor<5x6xi16>
  return %r_0, %r_1, %r_2, %r_3, %r_4, %r_5, %r_6, %r_7, %r_8, %r_9, %r_10, %r_11, %r_12, %r_13, %r_14, %r_15, %r_16, %r_17, %r_18, %r_19,
      %r_20, %r_21, %r_22, %r_23, %r_24, %r_25, %r_26, %r_27, %r_28, %r_29, %r_30
      : tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi64>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf16>,
        tensor<5x6xf32>, tensor<5x6xi8>, tensor<5x6xf32>, tensor<5x6xf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xf16>, tensor<5x6xf32>, tensor<5x6xbf16>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xindex>, tensor<5x6xindex>,
        tensor<5x6xf32>, tensor<5x6xi32>, tensor<5x6xi16>
}
