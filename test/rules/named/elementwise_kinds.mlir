// linalg.elementwise of every kind, with operands that are transposed and broadcast.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %a0_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o0: tensor<5x6xf32>,
    %a1_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o1: tensor<5x6xf32>,
    %a2_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o2: tensor<5x6xf32>,
    %a3_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o3: tensor<5x6xf32>,
    %a4_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o4: tensor<5x6xf32>,
    %a5_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o5: tensor<5x6xf32>,
    %a6_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o6: tensor<5x6xf32>,
    %a7_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o7: tensor<5x6xf32>,
    %a8_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o8: tensor<5x6xf32>,
    %a9_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o9: tensor<5x6xf32>,
    %a10_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o10: tensor<5x6xf32>,
    %a11_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o11: tensor<5x6xf32>,
    %a12_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o12: tensor<5x6xf32>, %a13_0: tensor<5x6xf32>,
    %a13_1: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o13: tensor<5x6xf32>,
    %a14_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %a14_1: tensor<5x6xf32>, %o14: tensor<5x6xf32>,
    %a15_0: tensor<5x6xf32>, %a15_1: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o15: tensor<5x6xf32>,
    %a16_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %a16_1: tensor<5x6xf32>, %o16: tensor<5x6xf32>, %a17_0: tensor<5x6xf32>,
    %a17_1: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o17: tensor<5x6xf32>,
    %a18_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %a18_1: tensor<5x6xf32>, %o18: tensor<5x6xf32>, %a19_0: tensor<5x6xf32>,
    %a19_1: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o19: tensor<5x6xf32>,
    %a20_0: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, %a20_1: tensor<5x6xi32>, %o20: tensor<5x6xi32>,
    %a21_0: tensor<5x6xi32>, %a21_1: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %o21: tensor<5x6xi32>,
    %a22_0: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %a22_1: tensor<5x6xi32>, %o22: tensor<5x6xi32>, %a23_0: tensor<5x6xi1>,
    %a23_1: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %a23_2: tensor<5x6xf32>, %o23: tensor<5x6xf32>,
    %a24_0: tensor<6xf32> {tp.sharding = [["x"]]}, %a24_1: tensor<6x5xf32>, %o24: tensor<5x6xf32>)
    -> (tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32>, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf32>) {
  %r0 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a0_0 : tensor<5x6xf32>) outs(%o0 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r1 = linalg.elementwise kind=#linalg.elementwise_kind<log> ins(%a1_0 : tensor<5x6xf32>) outs(%o1 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r2 = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%a2_0 : tensor<5x6xf32>) outs(%o2 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r3 = linalg.elementwise kind=#linalg.elementwise_kind<ceil> ins(%a3_0 : tensor<5x6xf32>) outs(%o3 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r4 = linalg.elementwise kind=#linalg.elementwise_kind<floor> ins(%a4_0 : tensor<5x6xf32>) outs(%o4 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r5 = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a5_0 : tensor<5x6xf32>) outs(%o5 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r6 = linalg.elementwise kind=#linalg.elementwise_kind<reciprocal> ins(%a6_0 : tensor<5x6xf32>) outs(%o6 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r7 = linalg.elementwise kind=#linalg.elementwise_kind<round> ins(%a7_0 : tensor<5x6xf32>) outs(%o7 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r8 = linalg.elementwise kind=#linalg.elementwise_kind<sqrt> ins(%a8_0 : tensor<5x6xf32>) outs(%o8 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r9 = linalg.elementwise kind=#linalg.elementwise_kind<rsqrt> ins(%a9_0 : tensor<5x6xf32>) outs(%o9 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r10 = linalg.elementwise kind=#linalg.elementwise_kind<square> ins(%a10_0 : tensor<5x6xf32>) outs(%o10 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r11 = linalg.elementwise kind=#linalg.elementwise_kind<tanh> ins(%a11_0 : tensor<5x6xf32>) outs(%o11 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r12 = linalg.elementwise kind=#linalg.elementwise_kind<erf> ins(%a12_0 : tensor<5x6xf32>) outs(%o12 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r13 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a13_0, %a13_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o13 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r14 = linalg.elementwise kind=#linalg.elementwise_kind<sub> ins(%a14_0, %a14_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o14 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r15 = linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%a15_0, %a15_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o15 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r16 = linalg.elementwise kind=#linalg.elementwise_kind<div> ins(%a16_0, %a16_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o16 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r17 = linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(%a17_0, %a17_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o17 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r18 = linalg.elementwise kind=#linalg.elementwise_kind<min_signed> ins(%a18_0, %a18_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o18 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r19 = linalg.elementwise kind=#linalg.elementwise_kind<powf> ins(%a19_0, %a19_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o19 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %one20 = arith.constant dense<1> : tensor<5x6xi32>
  %d20 = arith.ori %a20_1, %one20 : tensor<5x6xi32>
  %r20 = linalg.elementwise kind=#linalg.elementwise_kind<div_unsigned> ins(%a20_0, %d20 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o20 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r21 = linalg.elementwise kind=#linalg.elementwise_kind<max_unsigned> ins(%a21_0, %a21_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o21 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r22 = linalg.elementwise kind=#linalg.elementwise_kind<min_unsigned> ins(%a22_0, %a22_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o22 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r23 = linalg.elementwise kind=#linalg.elementwise_kind<select> ins(%a23_0, %a23_1, %a23_2 : tensor<5x6xi1>, tensor<5x6xf32>, tensor<5x6xf32>) outs(%o23 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r24 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d1,d0)>, affine_map<(d0,d1)->(d0,d1)>] ins(%a24_0, %a24_1 : tensor<6xf32>, tensor<6x5xf32>) outs(%o24 : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22,
      %r23, %r24
      : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xi32>,
        tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xf32>, tensor<5x6xf32>
}
