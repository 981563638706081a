// Comparisons by every predicate, and selects by elements, by a constant and by what the program reads.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 1x4 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %i32_0: tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, %i32_1: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
    %f32_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %f32_1: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
    %i1_0: tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, %f32_2: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]})
    -> (tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}) {
  %r_0 = arith.cmpi eq, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_1 = arith.cmpi ne, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_2 = arith.cmpi slt, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_3 = arith.cmpi sle, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_4 = arith.cmpi sgt, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_5 = arith.cmpi sge, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_6 = arith.cmpi ult, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_7 = arith.cmpi ule, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_8 = arith.cmpi ugt, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_9 = arith.cmpi uge, %i32_0, %i32_1 : tensor<5x6xi32>
  %r_10 = arith.cmpf false, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_11 = arith.cmpf oeq, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_12 = arith.cmpf ogt, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_13 = arith.cmpf oge, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_14 = arith.cmpf olt, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_15 = arith.cmpf ole, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_16 = arith.cmpf one, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_17 = arith.cmpf ord, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_18 = arith.cmpf ueq, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_19 = arith.cmpf ugt, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_20 = arith.cmpf uge, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_21 = arith.cmpf ult, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_22 = arith.cmpf ule, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_23 = arith.cmpf une, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_24 = arith.cmpf uno, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_25 = arith.cmpf true, %f32_0, %f32_1 : tensor<5x6xf32>
  %r_26 = arith.select %i1_0, %f32_1, %f32_2 : tensor<5x6xi1>, tensor<5x6xf32>
  %c_27 = arith.constant true
  %r_27 = arith.select %c_27, %f32_0, %f32_1 : tensor<5x6xf32>
  %z_28 = arith.constant 0 : index
  %c_28 = tensor.extract %i1_0[%z_28, %z_28] : tensor<5x6xi1>
  %r_28 = arith.select %c_28, %f32_1, %f32_2 : tensor<5x6xf32>
  return %r_0, %r_1, %r_2, %r_3, %r_4, %r_5, %r_6, %r_7, %r_8, %r_9, %r_10, %r_11, %r_12, %r_13, %r_14, %r_15, %r_16, %r_17, %r_18, %r_19,
      %r_20, %r_21, %r_22, %r_23, %r_24, %r_25, %r_26, %r_27, %r_28
      : tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>,
        tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>,
        tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xi1>,
        tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>
}
