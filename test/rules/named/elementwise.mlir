// Named ops of linalg that go element by element, on floats and integers.
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
    %a12_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o12: tensor<5x6xf32>,
    %a13_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o13: tensor<5x6xf32>,
    %a14_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %a14_1: tensor<5x6xf32>, %o14: tensor<5x6xf32>,
    %a15_0: tensor<5x6xf32>, %a15_1: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %o15: tensor<5x6xf32>,
    %a16_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]}, %a16_1: tensor<5x6xf32>, %o16: tensor<5x6xf32>, %a17_0: tensor<5x6xf32>,
    %a17_1: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o17: tensor<5x6xf32>,
    %a18_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %a18_1: tensor<5x6xf32>, %o18: tensor<5x6xf32>, %a19_0: tensor<5x6xf32>,
    %a19_1: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o19: tensor<5x6xf32>,
    %a20_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %a20_1: tensor<5x6xf32>, %o20: tensor<5x6xf32>,
    %a21_0: tensor<5x6xi32>, %a21_1: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %o21: tensor<5x6xi32>,
    %a22_0: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %a22_1: tensor<5x6xi32>, %o22: tensor<5x6xi32>, %a23_0: tensor<5x6xi32>,
    %a23_1: tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, %o23: tensor<5x6xi32>,
    %a24_0: tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]}, %a24_1: tensor<5x6xi32>, %o24: tensor<5x6xi32>, %a25_0: tensor<5x6xi32>,
    %a25_1: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, %o25: tensor<5x6xi32>,
    %a26_0: tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, %a26_1: tensor<5x6xi32>, %o26: tensor<5x6xi32>,
    %a27_0: tensor<5x6xi32>, %a27_1: tensor<5x6xi32> {tp.sharding = [["y"], ["x"]]}, %o27: tensor<5x6xi32>,
    %a28_0: tensor<5x6xi1> {tp.sharding = [["y"], ["x"]]}, %a28_1: tensor<5x6xf32>, %a28_2: tensor<5x6xf32>, %o28: tensor<5x6xf32>)
    -> (tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32>, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32>, tensor<5x6xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xi32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}) {
  %r0 = linalg.copy  ins(%a0_0 : tensor<5x6xf32>) outs(%o0 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r1 = linalg.exp  ins(%a1_0 : tensor<5x6xf32>) outs(%o1 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r2 = linalg.log  ins(%a2_0 : tensor<5x6xf32>) outs(%o2 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r3 = linalg.abs  ins(%a3_0 : tensor<5x6xf32>) outs(%o3 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r4 = linalg.ceil  ins(%a4_0 : tensor<5x6xf32>) outs(%o4 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r5 = linalg.floor  ins(%a5_0 : tensor<5x6xf32>) outs(%o5 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r6 = linalg.negf  ins(%a6_0 : tensor<5x6xf32>) outs(%o6 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r7 = linalg.reciprocal  ins(%a7_0 : tensor<5x6xf32>) outs(%o7 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r8 = linalg.round  ins(%a8_0 : tensor<5x6xf32>) outs(%o8 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r9 = linalg.sqrt  ins(%a9_0 : tensor<5x6xf32>) outs(%o9 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r10 = linalg.rsqrt  ins(%a10_0 : tensor<5x6xf32>) outs(%o10 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r11 = linalg.square  ins(%a11_0 : tensor<5x6xf32>) outs(%o11 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r12 = linalg.tanh  ins(%a12_0 : tensor<5x6xf32>) outs(%o12 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r13 = linalg.erf  ins(%a13_0 : tensor<5x6xf32>) outs(%o13 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r14 = linalg.add  ins(%a14_0, %a14_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o14 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r15 = linalg.sub  ins(%a15_0, %a15_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o15 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r16 = linalg.mul  ins(%a16_0, %a16_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o16 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r17 = linalg.div  ins(%a17_0, %a17_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o17 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r18 = linalg.max  ins(%a18_0, %a18_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o18 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r19 = linalg.min  ins(%a19_0, %a19_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o19 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r20 = linalg.powf  ins(%a20_0, %a20_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o20 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r21 = linalg.add  ins(%a21_0, %a21_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o21 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r22 = linalg.sub  ins(%a22_0, %a22_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o22 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r23 = linalg.mul  ins(%a23_0, %a23_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o23 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %one24 = arith.constant dense<1> : tensor<5x6xi32>
  %d24 = arith.ori %a24_1, %one24 : tensor<5x6xi32>
  %r24 = linalg.div  ins(%a24_0, %d24 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o24 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %one25 = arith.constant dense<1> : tensor<5x6xi32>
  %d25 = arith.ori %a25_1, %one25 : tensor<5x6xi32>
  %r25 = linalg.div_unsigned  ins(%a25_0, %d25 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o25 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r26 = linalg.max  ins(%a26_0, %a26_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o26 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r27 = linalg.min  ins(%a27_0, %a27_1 : tensor<5x6xi32>, tensor<5x6xi32>) outs(%o27 : tensor<5x6xi32>) -> tensor<5x6xi32>
  %r28 = linalg.select  ins(%a28_0, %a28_1, %a28_2 : tensor<5x6xi1>, tensor<5x6xf32>, tensor<5x6xf32>) outs(%o28 : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22,
      %r23, %r24, %r25, %r26, %r27, %r28
      : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>,
        tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>,
        tensor<5x6xf32>
}
