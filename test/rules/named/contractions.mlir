// Contractions by name, transposed and broadcast by their maps, quantized, onto values that are not zero.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %a0_0: tensor<6x7xf32> {tp.sharding = [["x"], ["y"]]}, %a0_1: tensor<7x5xf32>, %o0: tensor<6x5xf32>, %a1_0: tensor<4x6x7xf32>,
    %a1_1: tensor<4x7x5xf32> {tp.sharding = [[], ["x", "y"], []]}, %o1: tensor<4x6x5xf32>,
    %a2_0: tensor<4x6x7xf32> {tp.sharding = [[], ["x", "y"], []]}, %a2_1: tensor<4x7x5xf32>, %o2: tensor<6x5xf32>,
    %a3_0: tensor<6x7xf32>, %a3_1: tensor<7xf32> {tp.sharding = [["x"]]}, %o3: tensor<6xf32>,
    %a4_0: tensor<7xf32> {tp.sharding = [["x"]]}, %a4_1: tensor<7x5xf32>, %o4: tensor<5xf32>, %a5_0: tensor<4x6x7xf32>,
    %a5_1: tensor<4x7xf32> {tp.sharding = [["x"], ["y"]]}, %o5: tensor<4x6xf32>,
    %a6_0: tensor<4x7xf32> {tp.sharding = [["x"], ["y"]]}, %a6_1: tensor<4x7x5xf32>, %o6: tensor<4x5xf32>, %a7_0: tensor<7xf32>,
    %a7_1: tensor<7xf32> {tp.sharding = [["x", "y"]]}, %o7: tensor<f32>,
    %a8_0: tensor<3x4x2x3xf32> {tp.sharding = [[], [], ["x", "y"], []]}, %a8_1: tensor<5x4x2x3xf32>, %o8: tensor<3x5x2x2xf32>,
    %a9_0: tensor<4x3x4x2x3xf32>, %a9_1: tensor<4x5x4x2x3xf32> {tp.sharding = [[], [], [], ["y"], ["x"]]},
    %o9: tensor<4x3x5x2x2xf32>, %a10_0: tensor<6x7xi8> {tp.sharding = [["y"], ["x"]]}, %a10_1: tensor<7x5xi8>, %o10: tensor<6x5xi32>,
    %a11_0: tensor<4x6x7xi8>, %a11_1: tensor<4x7x5xi8> {tp.sharding = [["x"], ["y"], []]}, %o11: tensor<4x6x5xi32>,
    %a12_0: tensor<7x6xf32> {tp.sharding = [["x"], ["y"]]}, %a12_1: tensor<7x5xf32>, %o12: tensor<6x5xf32>, %a13_0: tensor<6x7xf32>,
    %a13_1: tensor<5x7xf32> {tp.sharding = [[], ["x", "y"]]}, %o13: tensor<6x5xf32>,
    %a14_0: tensor<7xf32> {tp.sharding = [["x", "y"]]}, %a14_1: tensor<7x5xf32>, %o14: tensor<6x5xf32>, %a15_0: tensor<6x7xf32>,
    %a15_1: tensor<7xf32> {tp.sharding = [["x"]]}, %o15: tensor<6x5xf32>,
    %a16_0: tensor<4x7x6xf32> {tp.sharding = [[], ["y"], ["x"]]}, %a16_1: tensor<4x7x5xf32>, %o16: tensor<4x6x5xf32>,
    %a17_0: tensor<6x7xf32>, %a17_1: tensor<4x7x5xf32> {tp.sharding = [["x"], ["y"], []]}, %o17: tensor<4x6x5xf32>,
    %a18_0: tensor<4x6x7xf32> {tp.sharding = [["x"], ["y"], []]}, %a18_1: tensor<4x5x7xf32>, %o18: tensor<6x5xf32>,
    %a19_0: tensor<6x7xf32>, %a19_1: tensor<7x5x4xf32> {tp.sharding = [[], ["x", "y"], []]}, %o19: tensor<4x5x6xf32>)
    -> (tensor<6x5xf32>, tensor<4x6x5xf32> {tp.sharding = [[], ["x", "y"], []]}, tensor<6x5xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<6xf32>, tensor<5xf32> {tp.sharding = [["x", "y"]]}, tensor<4x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<4x5xf32>,
        tensor<f32>, tensor<3x5x2x2xf32> {tp.sharding = [["x"], ["y"], [], []]}, tensor<4x3x5x2x2xf32>,
        tensor<6x5xi32> {tp.sharding = [[], ["x", "y"]]}, tensor<4x6x5xi32> {tp.sharding = [["x"], ["y"], []]}, tensor<6x5xf32>,
        tensor<6x5xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<6x5xf32> {tp.sharding = [["x"], ["y"]]}, tensor<6x5xf32>,
        tensor<4x6x5xf32> {tp.sharding = [[], ["x", "y"], []]}, tensor<4x6x5xf32> {tp.sharding = [["x"], ["y"], []]}, tensor<6x5xf32>,
        tensor<4x5x6xf32> {tp.sharding = [[], ["x", "y"], []]}) {
  %r0 = linalg.matmul  ins(%a0_0, %a0_1 : tensor<6x7xf32>, tensor<7x5xf32>) outs(%o0 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r1 = linalg.batch_matmul  ins(%a1_0, %a1_1 : tensor<4x6x7xf32>, tensor<4x7x5xf32>) outs(%o1 : tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  %r2 = linalg.batch_reduce_matmul  ins(%a2_0, %a2_1 : tensor<4x6x7xf32>, tensor<4x7x5xf32>) outs(%o2 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r3 = linalg.matvec  ins(%a3_0, %a3_1 : tensor<6x7xf32>, tensor<7xf32>) outs(%o3 : tensor<6xf32>) -> tensor<6xf32>
  %r4 = linalg.vecmat  ins(%a4_0, %a4_1 : tensor<7xf32>, tensor<7x5xf32>) outs(%o4 : tensor<5xf32>) -> tensor<5xf32>
  %r5 = linalg.batch_matvec  ins(%a5_0, %a5_1 : tensor<4x6x7xf32>, tensor<4x7xf32>) outs(%o5 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r6 = linalg.batch_vecmat  ins(%a6_0, %a6_1 : tensor<4x7xf32>, tensor<4x7x5xf32>) outs(%o6 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %r7 = linalg.dot  ins(%a7_0, %a7_1 : tensor<7xf32>, tensor<7xf32>) outs(%o7 : tensor<f32>) -> tensor<f32>
  %r8 = linalg.mmt4d  ins(%a8_0, %a8_1 : tensor<3x4x2x3xf32>, tensor<5x4x2x3xf32>) outs(%o8 : tensor<3x5x2x2xf32>) -> tensor<3x5x2x2xf32>
  %r9 = linalg.batch_mmt4d  ins(%a9_0, %a9_1 : tensor<4x3x4x2x3xf32>, tensor<4x5x4x2x3xf32>) outs(%o9 : tensor<4x3x5x2x2xf32>) -> tensor<4x3x5x2x2xf32>
  %c10_2 = arith.constant 3 : i32
  %c10_3 = arith.constant 3 : i32
  %r10 = linalg.quantized_matmul  ins(%a10_0, %a10_1, %c10_2, %c10_3 : tensor<6x7xi8>, tensor<7x5xi8>, i32, i32) outs(%o10 : tensor<6x5xi32>) -> tensor<6x5xi32>
  %c11_2 = arith.constant 3 : i32
  %c11_3 = arith.constant 3 : i32
  %r11 = linalg.quantized_batch_matmul  ins(%a11_0, %a11_1, %c11_2, %c11_3 : tensor<4x6x7xi8>, tensor<4x7x5xi8>, i32, i32) outs(%o11 : tensor<4x6x5xi32>) -> tensor<4x6x5xi32>
  %r12 = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(k,m)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>] ins(%a12_0, %a12_1 : tensor<7x6xf32>, tensor<7x5xf32>) outs(%o12 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r13 = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(n,k)>, affine_map<(m,n,k)->(m,n)>] ins(%a13_0, %a13_1 : tensor<6x7xf32>, tensor<5x7xf32>) outs(%o13 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r14 = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>] ins(%a14_0, %a14_1 : tensor<7xf32>, tensor<7x5xf32>) outs(%o14 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r15 = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k)>, affine_map<(m,n,k)->(m,n)>] ins(%a15_0, %a15_1 : tensor<6x7xf32>, tensor<7xf32>) outs(%o15 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r16 = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,k)->(b,k,m)>, affine_map<(b,m,n,k)->(b,k,n)>, affine_map<(b,m,n,k)->(b,m,n)>] ins(%a16_0, %a16_1 : tensor<4x7x6xf32>, tensor<4x7x5xf32>) outs(%o16 : tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  %r17 = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,k)->(m,k)>, affine_map<(b,m,n,k)->(b,k,n)>, affine_map<(b,m,n,k)->(b,m,n)>] ins(%a17_0, %a17_1 : tensor<6x7xf32>, tensor<4x7x5xf32>) outs(%o17 : tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  %r18 = linalg.batch_reduce_matmul indexing_maps = [affine_map<(b,m,n,k)->(b,m,k)>, affine_map<(b,m,n,k)->(b,n,k)>, affine_map<(b,m,n,k)->(m,n)>] ins(%a18_0, %a18_1 : tensor<4x6x7xf32>, tensor<4x5x7xf32>) outs(%o18 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r19 = linalg.contract indexing_maps = [affine_map<(m,n,k,b)->(m,k)>, affine_map<(m,n,k,b)->(k,n,b)>, affine_map<(m,n,k,b)->(b,n,m)>] ins(%a19_0, %a19_1 : tensor<6x7xf32>, tensor<7x5x4xf32>) outs(%o19 : tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19
      : tensor<6x5xf32>, tensor<4x6x5xf32>, tensor<6x5xf32>, tensor<6xf32>, tensor<5xf32>, tensor<4x6xf32>, tensor<4x5xf32>, tensor<f32>,
        tensor<3x5x2x2xf32>, tensor<4x3x5x2x2xf32>, tensor<6x5xi32>, tensor<4x6x5xi32>, tensor<6x5xf32>, tensor<6x5xf32>,
        tensor<6x5xf32>, tensor<6x5xf32>, tensor<4x6x5xf32>, tensor<4x6x5xf32>, tensor<6x5xf32>, tensor<4x5x6xf32>
}
