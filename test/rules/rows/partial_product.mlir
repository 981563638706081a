// Weights of groups are split, and rows are not: a device has zeros for rows of groups of others, and the product is a partial sum.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-plan)' | FileCheck %s --check-prefix=PLAN
// CHECK: verified
// PLAN: tp.rows = "product", tp.sharding = {dims = {{\[\[\], \[\]\]}}, partial = {ep = "sum"}}
shard.grid @mesh(shape = 2) {tp.axes = ["ep"]}
func.func @main(%x: tensor<180x8xf32> {tp.sharding = [[], []]}, %number: tensor<180xi32> {tp.sharding = [[]]},
                %up: tensor<2x8x16xf32> {tp.sharding = [["ep"], [], []]}, %down: tensor<2x16x8xf32> {tp.sharding = [["ep"], [], []]})
    -> (tensor<180x8xf32> {tp.sharding = [[], []]}) {
  %one = arith.constant dense<1> : tensor<180xi32>
  %expert = arith.andi %number, %one : tensor<180xi32>
  %e = tensor.empty() : tensor<180xi32>
  %place = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>], iterator_types = ["parallel"]} outs(%e : tensor<180xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %i : index to i32
    linalg.yield %p : i32
  } -> tensor<180xi32>
  %sorted:2 = call @tp.sort(%expert, %place) {tp.sort = {dim = 0, less = @less}} : (tensor<180xi32>, tensor<180xi32>) -> (tensor<180xi32>, tensor<180xi32>)
  %zeros = arith.constant dense<0> : tensor<2xi32>
  %sizes = linalg.generic {indexing_maps = [affine_map<(g, r) -> (r)>, affine_map<(g, r) -> (g)>], iterator_types = ["parallel", "reduction"]}
      ins(%expert : tensor<180xi32>) outs(%zeros : tensor<2xi32>) {
  ^bb0(%n: i32, %o: i32):
    %i = linalg.index 0 : index
    %g = arith.index_cast %i : index to i32
    %is = arith.cmpi eq, %n, %g : i32
    %unit = arith.extui %is : i1 to i32
    %sum = arith.addi %o, %unit : i32
    linalg.yield %sum : i32
  } -> tensor<2xi32>
  %rows = tensor.empty() : tensor<180x8xf32>
  %taken = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%sorted#1 : tensor<180xi32>) outs(%rows : tensor<180x8xf32>) {
  ^bb0(%p: i32, %o: f32):
    %at = arith.index_cast %p : i32 to index
    %low = arith.constant 0 : index
    %high = arith.constant 179 : index
    %above = arith.maxsi %at, %low : index
    %within = arith.minsi %above, %high : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%within, %c] : tensor<180x8xf32>
    linalg.yield %v : f32
  } -> tensor<180x8xf32>
  %h = "chlo.ragged_dot"(%taken, %up, %sizes) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<180x8xf32>, tensor<2x8x16xf32>, tensor<2xi32>) -> tensor<180x16xf32>
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %pinned = shard.shard %h to %s {tp.sharding = {dims = [[], []], partial = {ep = "sum"}}} : tensor<180x16xf32>
  %active = math.tanh %pinned : tensor<180x16xf32>
  %y = "chlo.ragged_dot"(%active, %down, %sizes) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<180x16xf32>, tensor<2x16x8xf32>, tensor<2xi32>) -> tensor<180x8xf32>
  %none = arith.constant dense<0.0> : tensor<180x8xf32>
  %back = linalg.generic {indexing_maps = [affine_map<(t, c, r) -> (r)>, affine_map<(t, c, r) -> (r, c)>, affine_map<(t, c, r) -> (t, c)>],
                          iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%sorted#1, %y : tensor<180xi32>, tensor<180x8xf32>) outs(%none : tensor<180x8xf32>) {
  ^bb0(%p: i32, %v: f32, %o: f32):
    %sum = arith.addf %o, %v : f32
    %at = arith.index_cast %p : i32 to index
    %t = linalg.index 0 : index
    %is = arith.cmpi eq, %at, %t : index
    %new = arith.select %is, %sum, %o : f32
    linalg.yield %new : f32
  } -> tensor<180x8xf32>
  return %back : tensor<180x8xf32>
}
func.func private @tp.sort(tensor<180xi32>, tensor<180xi32>) -> (tensor<180xi32>, tensor<180xi32>)
func.func private @less(%a: i32, %b: i32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi slt, %a, %b : i32
  return %0 : i1
}
