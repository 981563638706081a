// Elements that no point writes keep those of the init, also where it is one number that the body reads: they were lost, on one device as on many,
// which only an evaluation of the text shows (shard-fuzz texts).
// RUN: shard-run %s
// RUN: shard-run %s --strategy follow

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<3xi32>, %b: tensor<24xf32> {tp.sharding = [["x"]]}) -> (tensor<8xi32>, tensor<24x24xf32>, tensor<24x71xf32>) {
  %two = arith.constant 2 : i32
  %0 = tensor.empty() : tensor<8xi32>
  %twos = linalg.fill ins(%two : i32) outs(%0 : tensor<8xi32>) -> tensor<8xi32>
  %stride = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%a : tensor<3xi32>) outs(%twos : tensor<8xi32>) {
  ^bb0(%in: i32, %o: i32):
    %y = arith.addi %in, %o : i32
    linalg.yield %y : i32
  } -> tensor<8xi32>
  %one = arith.constant 1.0 : f32
  %1 = tensor.empty() : tensor<24x24xf32>
  %ones = linalg.fill ins(%one : f32) outs(%1 : tensor<24x24xf32>) -> tensor<24x24xf32>
  %2 = tensor.empty() : tensor<24x71xf32>
  %wide = linalg.fill ins(%one : f32) outs(%2 : tensor<24x71xf32>) -> tensor<24x71xf32>
  %diagonals:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0, d0 * 3)>],
                                 iterator_types = ["parallel"]}
      ins(%b : tensor<24xf32>) outs(%ones, %wide : tensor<24x24xf32>, tensor<24x71xf32>) {
  ^bb0(%in: f32, %o: f32, %p: f32):
    %y = arith.addf %in, %o : f32
    %z = arith.mulf %in, %p : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<24x24xf32>, tensor<24x71xf32>)
  return %stride, %diagonals#0, %diagonals#1 : tensor<8xi32>, tensor<24x24xf32>, tensor<24x71xf32>
}
