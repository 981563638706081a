// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(tp-import)' | FileCheck %s

// A mesh, arguments and results, as JAX exports them: closed, open, sub-axes, priorities, several axes, the identity as device order.

// CHECK: shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK-LABEL: func.func @boundary
// CHECK-SAME: %{{.*}}: tensor<8x16xf32> {jax.name = "x", tp.sharding = {{\[}}["dp"], []]}
// CHECK-SAME: %{{.*}}: tensor<8x16xf32> {tp.sharding = {{\[}}["?"], ["tp", "?"]]}
// CHECK-SAME: %{{.*}}: tensor<8x16xf32> {tp.sharding = {{\[}}["tp:(1)2", "dp"], ["tp:(2)2"]]}
// CHECK-SAME: %{{.*}}: tensor<8x16xf32> {tp.sharding = {{\[}}["dp", "tp"], []]}
// CHECK-SAME: %{{.*}}: tensor<f32> {tp.sharding = []}
// CHECK-SAME: %{{.*}}: i32,
// CHECK-SAME: %{{.*}}: tensor<4xf32>)
// CHECK-SAME: -> (tensor<8x16xf32> {tp.sharding = {{\[}}["dp"], []]}, tensor<4xf32>)
"sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>, sym_name = "mesh"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> : () -> ()
func.func @boundary(%a: tensor<8x16xf32> {jax.name = "x", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>},
                    %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"tp", ?}]>},
                    %c: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp":(1)2, "dp"}, {"tp":(2)2}]>},
                    %d: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh,[{"dp","tp"}p0,{}p12]>},
                    %e: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>},
                    %f: i32 {sdy.sharding = #sdy.sharding<@mesh, []>}, %g: tensor<4xf32>)
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@"mesh", [{"dp"}, {}]>}, tensor<4xf32>) {
  return %a, %g : tensor<8x16xf32>, tensor<4xf32>
}

// -----

// Explicitly replicated axes: with closed dimensions they say nothing more, open ones are closed. Unreduced axes are partial sums.

// CHECK-LABEL: func.func private @sets
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {{\[}}["x"], []]}
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {{\[}}[], ["x"]]}
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {dims = {{\[}}["x", "?"], []], partial = {y = "sum"}}}
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {dims = {{\[}}[], []], partial = {x = "sum", "y:(1)2" = "sum"}}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
func.func private @sets(tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>},
                        tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}], replicated={"y"}>},
                        tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}], unreduced={"y"}>},
                        tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={}, unreduced={"x", "y":(1)2}>})

// -----

// Ops: a list with an entry per result; constraints and reshards; barriers, groups, and constraints that state nothing vanish. Scalars of a list have no layout.

// CHECK: shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @ops
// CHECK: %[[A:.*]] = arith.negf %arg0 {tp.sharding = {{\[}}["x"]]}
// CHECK: %[[B:.*]]:2 = "test.two"(%[[A]]) {tp.sharding = {{\[}}{{\[}}["x"]], []]}
// CHECK: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[}}[0]]
// CHECK: %[[C:.*]] = shard.shard %[[B]]#0 to %[[S]] {tp.sharding = {{\[}}["x"]]}
// CHECK: %[[D:.*]] = shard.shard %[[C]] {{.*}} {tp.sharding = {{\[}}["x", "?"]]}
// CHECK-NOT: sdy
// CHECK: return %[[D]]
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
func.func @ops(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = arith.negf %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %b:2 = "test.two"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, i32)
  %c = "sdy.sharding_constraint"(%b#0) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  %d = "sdy.reshard"(%c) {sharding = #sdy.sharding<@mesh, [{"x", ?}p1]>} : (tensor<8xf32>) -> tensor<8xf32>
  %open = "sdy.sharding_constraint"(%d) <{sharding = #sdy.sharding<@mesh, [{?}p1]>}> : (tensor<8xf32>) -> tensor<8xf32>
  %e = "sdy.propagation_barrier"(%open) <{allowed_direction = 0 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  "sdy.sharding_group"(%e) <{group_id = 0 : i64}> : (tensor<8xf32>) -> ()
  return %e : tensor<8xf32>
}

// -----

// Without a mesh that has axes nothing is to be said.

// CHECK-LABEL: module
// CHECK-NOT: sdy
// CHECK-NOT: tp.sharding
"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> : () -> ()
func.func @no_mesh(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> tensor<8xf32> {
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@empty_mesh, [{?}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Shardings may name the grid of the module.

// CHECK-LABEL: func.func private @with_grid
// CHECK-SAME: tp.sharding = {{\[}}["d0"]]
shard.grid @devices(shape = 4)
func.func private @with_grid(tensor<8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"d0"}]>})
