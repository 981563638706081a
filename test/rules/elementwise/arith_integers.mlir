// Every op of arith on integers of several widths and indices; divisors are odd, and padding divides nothing.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 1x4 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %i32_0: tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, %i32_1: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
    %i8_0: tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]}, %i8_1: tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
    %i64_0: tensor<5x6xi64> {tp.sharding = [[], ["x", "y"]]}, %i64_1: tensor<5x6xi64> {tp.sharding = [["y"], ["x"]]},
    %index_0: tensor<5x6xindex> {tp.sharding = [["x"], ["y"]]}, %index_1: tensor<5x6xindex> {tp.sharding = [[], ["x", "y"]]})
    -> (tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xindex> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi64> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xindex> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xindex> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xindex> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi64> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi8> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xindex> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi64> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi8> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xindex> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi64> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi8> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xindex> {tp.sharding = [["y"], ["x"]]},
        tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]},
        tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}) {
  %r_0 = arith.addi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_1 = arith.addi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_2 = arith.subi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_3 = arith.subi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_4 = arith.muli %i32_0, %i32_1 : tensor<5x6xi32>
  %r_5 = arith.muli %i8_0, %i8_1 : tensor<5x6xi8>
  %r_6 = arith.andi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_7 = arith.andi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_8 = arith.ori %i32_0, %i32_1 : tensor<5x6xi32>
  %r_9 = arith.ori %i8_0, %i8_1 : tensor<5x6xi8>
  %r_10 = arith.xori %i32_0, %i32_1 : tensor<5x6xi32>
  %r_11 = arith.xori %i8_0, %i8_1 : tensor<5x6xi8>
  %r_12 = arith.maxsi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_13 = arith.maxsi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_14 = arith.maxui %i32_0, %i32_1 : tensor<5x6xi32>
  %r_15 = arith.maxui %i8_0, %i8_1 : tensor<5x6xi8>
  %r_16 = arith.minsi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_17 = arith.minsi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_18 = arith.minui %i32_0, %i32_1 : tensor<5x6xi32>
  %r_19 = arith.minui %i8_0, %i8_1 : tensor<5x6xi8>
  %r_20 = arith.shli %i32_0, %i32_1 : tensor<5x6xi32>
  %r_21 = arith.shli %i8_0, %i8_1 : tensor<5x6xi8>
  %r_22 = arith.shrsi %i32_0, %i32_1 : tensor<5x6xi32>
  %r_23 = arith.shrsi %i8_0, %i8_1 : tensor<5x6xi8>
  %r_24 = arith.shrui %i32_0, %i32_1 : tensor<5x6xi32>
  %r_25 = arith.shrui %i8_0, %i8_1 : tensor<5x6xi8>
  %one_26 = arith.constant dense<1> : tensor<5x6xi32>
  %d_26 = arith.ori %i32_1, %one_26 : tensor<5x6xi32>
  %r_26 = arith.divsi %i32_0, %d_26 : tensor<5x6xi32>
  %one_27 = arith.constant dense<1> : tensor<5x6xi64>
  %d_27 = arith.ori %i64_1, %one_27 : tensor<5x6xi64>
  %r_27 = arith.divsi %i64_0, %d_27 : tensor<5x6xi64>
  %one_28 = arith.constant dense<1> : tensor<5x6xi8>
  %d_28 = arith.ori %i8_1, %one_28 : tensor<5x6xi8>
  %r_28 = arith.divsi %i8_0, %d_28 : tensor<5x6xi8>
  %one_29 = arith.constant dense<1> : tensor<5x6xindex>
  %d_29 = arith.ori %index_1, %one_29 : tensor<5x6xindex>
  %r_29 = arith.divsi %index_0, %d_29 : tensor<5x6xindex>
  %one_30 = arith.constant dense<1> : tensor<5x6xi32>
  %d_30 = arith.ori %i32_1, %one_30 : tensor<5x6xi32>
  %r_30 = arith.divui %i32_0, %d_30 : tensor<5x6xi32>
  %one_31 = arith.constant dense<1> : tensor<5x6xi64>
  %d_31 = arith.ori %i64_1, %one_31 : tensor<5x6xi64>
  %r_31 = arith.divui %i64_0, %d_31 : tensor<5x6xi64>
  %one_32 = arith.constant dense<1> : tensor<5x6xi8>
  %d_32 = arith.ori %i8_1, %one_32 : tensor<5x6xi8>
  %r_32 = arith.divui %i8_0, %d_32 : tensor<5x6xi8>
  %one_33 = arith.constant dense<1> : tensor<5x6xindex>
  %d_33 = arith.ori %index_1, %one_33 : tensor<5x6xindex>
  %r_33 = arith.divui %index_0, %d_33 : tensor<5x6xindex>
  %one_34 = arith.constant dense<1> : tensor<5x6xi32>
  %d_34 = arith.ori %i32_1, %one_34 : tensor<5x6xi32>
  %r_34 = arith.remsi %i32_0, %d_34 : tensor<5x6xi32>
  %one_35 = arith.constant dense<1> : tensor<5x6xi64>
  %d_35 = arith.ori %i64_1, %one_35 : tensor<5x6xi64>
  %r_35 = arith.remsi %i64_0, %d_35 : tensor<5x6xi64>
  %one_36 = arith.constant dense<1> : tensor<5x6xi8>
  %d_36 = arith.ori %i8_1, %one_36 : tensor<5x6xi8>
  %r_36 = arith.remsi %i8_0, %d_36 : tensor<5x6xi8>
  %one_37 = arith.constant dense<1> : tensor<5x6xindex>
  %d_37 = arith.ori %index_1, %one_37 : tensor<5x6xindex>
  %r_37 = arith.remsi %index_0, %d_37 : tensor<5x6xindex>
  %one_38 = arith.constant dense<1> : tensor<5x6xi32>
  %d_38 = arith.ori %i32_1, %one_38 : tensor<5x6xi32>
  %r_38 = arith.remui %i32_0, %d_38 : tensor<5x6xi32>
  %one_39 = arith.constant dense<1> : tensor<5x6xi64>
  %d_39 = arith.ori %i64_1, %one_39 : tensor<5x6xi64>
  %r_39 = arith.remui %i64_0, %d_39 : tensor<5x6xi64>
  %one_40 = arith.constant dense<1> : tensor<5x6xi8>
  %d_40 = arith.ori %i8_1, %one_40 : tensor<5x6xi8>
  %r_40 = arith.remui %i8_0, %d_40 : tensor<5x6xi8>
  %one_41 = arith.constant dense<1> : tensor<5x6xindex>
  %d_41 = arith.ori %index_1, %one_41 : tensor<5x6xindex>
  %r_41 = arith.remui %index_0, %d_41 : tensor<5x6xindex>
  %one_42 = arith.constant dense<1> : tensor<5x6xi32>
  %d_42 = arith.ori %i32_1, %one_42 : tensor<5x6xi32>
  %r_42 = arith.ceildivsi %i32_0, %d_42 : tensor<5x6xi32>
  %one_43 = arith.constant dense<1> : tensor<5x6xi64>
  %d_43 = arith.ori %i64_1, %one_43 : tensor<5x6xi64>
  %r_43 = arith.ceildivsi %i64_0, %d_43 : tensor<5x6xi64>
  %one_44 = arith.constant dense<1> : tensor<5x6xi8>
  %d_44 = arith.ori %i8_1, %one_44 : tensor<5x6xi8>
  %r_44 = arith.ceildivsi %i8_0, %d_44 : tensor<5x6xi8>
  %one_45 = arith.constant dense<1> : tensor<5x6xindex>
  %d_45 = arith.ori %index_1, %one_45 : tensor<5x6xindex>
  %r_45 = arith.ceildivsi %index_0, %d_45 : tensor<5x6xindex>
  %one_46 = arith.constant dense<1> : tensor<5x6xi32>
  %d_46 = arith.ori %i32_1, %one_46 : tensor<5x6xi32>
  %r_46 = arith.ceildivui %i32_0, %d_46 : tensor<5x6xi32>
  %one_47 = arith.constant dense<1> : tensor<5x6xi64>
  %d_47 = arith.ori %i64_1, %one_47 : tensor<5x6xi64>
  %r_47 = arith.ceildivui %i64_0, %d_47 : tensor<5x6xi64>
  %one_48 = arith.constant dense<1> : tensor<5x6xi8>
  %d_48 = arith.ori %i8_1, %one_48 : tensor<5x6xi8>
  %r_48 = arith.ceildivui %i8_0, %d_48 : tensor<5x6xi8>
  %one_49 = arith.constant dense<1> : tensor<5x6xindex>
  %d_49 = arith.ori %index_1, %one_49 : tensor<5x6xindex>
  %r_49 = arith.ceildivui %index_0, %d_49 : tensor<5x6xindex>
  %one_50 = arith.constant dense<1> : tensor<5x6xi32>
  %d_50 = arith.ori %i32_1, %one_50 : tensor<5x6xi32>
  %r_50 = arith.floordivsi %i32_0, %d_50 : tensor<5x6xi32>
  %one_51 = arith.constant dense<1> : tensor<5x6xi64>
  %d_51 = arith.ori %i64_1, %one_51 : tensor<5x6xi64>
  %r_51 = arith.floordivsi %i64_0, %d_51 : tensor<5x6xi64>
  %one_52 = arith.constant dense<1> : tensor<5x6xi8>
  %d_52 = arith.ori %i8_1, %one_52 : tensor<5x6xi8>
  %r_52 = arith.floordivsi %i8_0, %d_52 : tensor<5x6xi8>
  %one_53 = arith.constant dense<1> : tensor<5x6xindex>
  %d_53 = arith.ori %index_1, %one_53 : tensor<5x6xindex>
  %r_53 = arith.floordivsi %index_0, %d_53 : tensor<5x6xindex>
  %r_54, %r1_54 = arith.addui_extended %i32_0, %i32_1 : tensor<5x6xi32>, tensor<5x6xi1>
  %r_55, %r1_55 = arith.mulsi_extended %i32_0, %i32_1 : tensor<5x6xi32>
  %r_56, %r1_56 = arith.mului_extended %i32_0, %i32_1 : tensor<5x6xi32>
  return %r_0, %r_1, %r_2, %r_3, %r_4, %r_5, %r_6, %r_7, %r_8, %r_9, %r_10, %r_11, %r_12, %r_13, %r_14, %r_15, %r_16, %r_17, %r_18, %r_19,
      %r_20, %r_21, %r_22, %r_23, %r_24, %r_25, %r_26, %r_27, %r_28, %r_29, %r_30, %r_31, %r_32, %r_33, %r_34, %r_35, %r_36, %r_37,
      %r_38, %r_39, %r_40, %r_41, %r_42, %r_43, %r_44, %r_45, %r_46, %r_47, %r_48, %r_49, %r_50, %r_51, %r_52, %r_53, %r_54, %r1_54,
      %r_55, %r1_55, %r_56, %r1_56
      : tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>,
        tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>,
        tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>,
        tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi8>, tensor<5x6xi32>, tensor<5x6xi64>,
        tensor<5x6xi8>, tensor<5x6xindex>, tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi8>, tensor<5x6xindex>, tensor<5x6xi32>,
        tensor<5x6xi64>, tensor<5x6xi8>, tensor<5x6xindex>, tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi8>, tensor<5x6xindex>,
        tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi8>, tensor<5x6xindex>, tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi8>,
        tensor<5x6xindex>, tensor<5x6xi32>, tensor<5x6xi64>, tensor<5x6xi8>, tensor<5x6xindex>, tensor<5x6xi32>, tensor<5x6xi1>,
        tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>
}
