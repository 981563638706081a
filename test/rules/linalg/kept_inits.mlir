// Elements that no point writes are those of the init, which the bodies do not read: diagonals, strides, a row, one place, a reversed window of the
// result, loops over nothing, a body that stops reading once it is simplified, a value that a loop carries, and one result of two.
// RUN: shard-run %s --mesh 2 --reference evaluator
// RUN: shard-run %s --mesh 3 --reference evaluator --strategy follow
// RUN: shard-run %s --mesh 2x2 --reference evaluator --objective bytes
// RUN: shard-run %s --mesh 4x2 --reference evaluator --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%v: tensor<8xf32> {tp.sharding = [["x"]]}, %m: tensor<8x6xf32> {tp.sharding = [["x"], ["y"]]},
                %square: tensor<8x8xf32> {tp.sharding = [["x"], []]}, %wide: tensor<8x13xf32> {tp.sharding = [["x"], []]},
                %long: tensor<17xf32> {tp.sharding = [["x"]]}, %cube: tensor<8x6x6xf32> {tp.sharding = [["x"], ["y"], []]},
                %row: tensor<1x6xf32>, %number: tensor<f32>, %nothing: tensor<8x0xf32> {tp.sharding = [["x"], []]},
                %integers: tensor<7xi32>, %some: tensor<15xi32> {tp.sharding = [["x"]]})
    -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}, tensor<8x13xf32> {tp.sharding = [["x"], []]}, tensor<17xf32>, tensor<8x6x6xf32> {tp.sharding = [["x"], ["y"], []]},
        tensor<8x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<8xf32> {tp.sharding = [["x"]]}, tensor<17xf32> {tp.sharding = [["x"]]},
        tensor<8xf32> {tp.sharding = [["x"]]}, tensor<15xi32>, tensor<8x8xf32> {tp.sharding = [[], ["y"]]}, tensor<8x8xf32>, tensor<8xf32>) {
  %diagonal = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%square : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j * 2 + 1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x6xf32>) outs(%wide : tensor<8x13xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x13xf32>
  %stride = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 2)>], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%long : tensor<17xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<17xf32>
  %diagonals = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b, i)>, affine_map<(b, i) -> (b, i, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x6xf32>) outs(%cube : tensor<8x6x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x6x6xf32>
  %one_row = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + 5, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<1x6xf32>) outs(%m : tensor<8x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x6xf32>
  %place = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> (3)>], iterator_types = []}
      ins(%number : tensor<f32>) outs(%v : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  %reversed = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (-i + 11)>], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%long : tensor<17xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<17xf32>
  %kept = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%nothing : tensor<8x0xf32>) outs(%v : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  %simplified = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%integers : tensor<7xi32>) outs(%some : tensor<15xi32>) {
  ^bb0(%in: i32, %out: i32):
    %z = arith.xori %out, %out : i32
    %s = arith.addi %z, %in : i32
    linalg.yield %s : i32
  } -> tensor<15xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %carried = scf.for %k = %c0 to %c6 step %c1 iter_args(%a = %square) -> (tensor<8x8xf32>) {
    %column = tensor.extract_slice %m[0, %k] [8, 1] [1, 1] : tensor<8x6xf32> to tensor<8xf32>
    %twice = arith.addf %a, %a : tensor<8x8xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, -i + 7)>], iterator_types = ["parallel"]}
        ins(%column : tensor<8xf32>) outs(%twice : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  %two:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%carried, %v : tensor<8x8xf32>, tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32, %p: f32):
    %y = arith.mulf %in, %p : f32
    linalg.yield %in, %y : f32, f32
  } -> (tensor<8x8xf32>, tensor<8xf32>)
  return %diagonal, %columns, %stride, %diagonals, %one_row, %place, %reversed, %kept, %simplified, %carried, %two#0, %two#1
      : tensor<8x8xf32>, tensor<8x13xf32>, tensor<17xf32>, tensor<8x6x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<17xf32>, tensor<8xf32>, tensor<15xi32>, tensor<8x8xf32>,
        tensor<8x8xf32>, tensor<8xf32>
}
