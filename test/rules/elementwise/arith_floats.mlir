// Every op of arith on floats, on 5 x 6 elements: even and uneven shards.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --mesh 2x2 --target=cuda
// RUN: shard-run %s --mesh 1x4 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %f32_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %f32_1: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]},
    %f64_0: tensor<5x6xf64> {tp.sharding = [["y"], ["x"]]}, %f64_1: tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]},
    %f16_0: tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]}, %f16_1: tensor<5x6xf16> {tp.sharding = [["y"], ["x"]]},
    %bf16_0: tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]}, %bf16_1: tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]})
    -> (tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf64> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf16> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf16> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf64> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf16> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf16> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf64> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf16> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf16> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf16> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xbf16> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xbf16> {tp.sharding = [[], ["x", "y"]]}) {
  %r_0 = arith.addf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_1 = arith.addf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_2 = arith.addf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_3 = arith.addf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_4 = arith.subf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_5 = arith.subf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_6 = arith.subf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_7 = arith.subf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_8 = arith.mulf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_9 = arith.mulf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_10 = arith.mulf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_11 = arith.mulf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_12 = arith.divf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_13 = arith.divf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_14 = arith.divf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_15 = arith.divf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_16 = arith.remf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_17 = arith.remf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_18 = arith.remf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_19 = arith.remf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_20 = arith.maximumf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_21 = arith.maximumf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_22 = arith.maximumf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_23 = arith.maximumf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_24 = arith.minimumf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_25 = arith.minimumf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_26 = arith.minimumf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_27 = arith.minimumf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_28 = arith.maxnumf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_29 = arith.maxnumf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_30 = arith.maxnumf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_31 = arith.maxnumf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_32 = arith.minnumf %f32_0, %f32_1 : tensor<5x6xf32>
  %r_33 = arith.minnumf %f64_0, %f64_1 : tensor<5x6xf64>
  %r_34 = arith.minnumf %f16_0, %f16_1 : tensor<5x6xf16>
  %r_35 = arith.minnumf %bf16_0, %bf16_1 : tensor<5x6xbf16>
  %r_36 = arith.negf %f32_0 : tensor<5x6xf32>
  %r_37 = arith.negf %bf16_0 : tensor<5x6xbf16>
  return %r_0, %r_1, %r_2, %r_3, %r_4, %r_5, %r_6, %r_7, %r_8, %r_9, %r_10, %r_11, %r_12, %r_13, %r_14, %r_15, %r_16, %r_17, %r_18, %r_19,
      %r_20, %r_21, %r_22, %r_23, %r_24, %r_25, %r_26, %r_27, %r_28, %r_29, %r_30, %r_31, %r_32, %r_33, %r_34, %r_35, %r_36, %r_37
      : tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>,
        tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>,
        tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>,
        tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>, tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xf64>, tensor<5x6xf16>,
        tensor<5x6xbf16>, tensor<5x6xf32>, tensor<5x6xbf16>
}
