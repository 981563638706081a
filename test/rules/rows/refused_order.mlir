// The same where nothing is exchanged, since each device has all rows: rows are computed for their group alone.
// RUN: not shard-run %s --mesh ep=1 2>&1 | FileCheck %s
// CHECK: a group of rows does not follow the one before it: sizes of groups must not be negative, nor their sum overflow
func.func @main(%x: tensor<128x8xf32> {tp.sharding = [["ep"], []]}, %place: tensor<128xi32>, %w: tensor<2x8x8xf32> {tp.sharding = [["ep"], [], []]})
    -> (tensor<128x8xf32> {tp.sharding = [["ep"], []]}) {
  %sizes = arith.constant dense<[140, -12]> : tensor<2xi32>
  %e = tensor.empty() : tensor<128x8xf32>
  %taken = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%place : tensor<128xi32>) outs(%e : tensor<128x8xf32>) {
  ^bb0(%p: i32, %o: f32):
    %at = arith.index_cast %p : i32 to index
    %low = arith.constant 0 : index
    %high = arith.constant 127 : index
    %above = arith.maxsi %at, %low : index
    %within = arith.minsi %above, %high : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%within, %c] : tensor<128x8xf32>
    linalg.yield %v : f32
  } -> tensor<128x8xf32>
  %y = "chlo.ragged_dot"(%taken, %w, %sizes) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<128x8xf32>, tensor<2x8x8xf32>, tensor<2xi32>) -> tensor<128x8xf32>
  %f = tensor.empty() : tensor<128x8xf32>
  %back = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%place : tensor<128xi32>) outs(%f : tensor<128x8xf32>) {
  ^bb0(%p: i32, %o: f32):
    %at = arith.index_cast %p : i32 to index
    %low = arith.constant 0 : index
    %high = arith.constant 127 : index
    %above = arith.maxsi %at, %low : index
    %within = arith.minsi %above, %high : index
    %c = linalg.index 1 : index
    %v = tensor.extract %y[%within, %c] : tensor<128x8xf32>
    linalg.yield %v : f32
  } -> tensor<128x8xf32>
  return %back : tensor<128x8xf32>
}
