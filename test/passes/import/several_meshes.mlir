// Of several meshes, that which annotations name is the module's; the others vanish.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(tp-import,tp-normalize)' | FileCheck %s

// CHECK: shard.grid @b(shape = 2x4) {tp.axes = ["d0", "d1"]}
// CHECK-NOT: shard.grid
// CHECK: func.func @upstream(%{{.*}}: tensor<8xf32> {tp.sharding = {{\[}}["d1"]]})
shard.grid @a(shape = 8) {tp.axes = ["x"]}
shard.grid @b(shape = 2x4)
func.func @upstream(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @b split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-NOT: sdy.mesh
// CHECK: shard.grid @mesh.1(shape = 4) {tp.axes = ["y"]}
// CHECK-NOT: sdy.mesh
// CHECK-NOT: shard.grid
// CHECK: func.func @shardy(%{{.*}}: tensor<8xf32> {tp.sharding = {{\[}}["y"]]})
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], device_ids=[1, 0]>, sym_name = "mesh"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["y"=4]>, sym_name = "mesh.1"}> : () -> ()
shard.grid @unused(shape = 2x4)
func.func @shardy(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh.1, [{"y"}]>}) { return }

// -----

// CHECK-NOT: sdy.mesh
// CHECK: shard.grid @grid(shape = 4) {tp.axes = ["z"]}
// CHECK: func.func @grid_beside_a_mesh
// CHECK: shard.all_gather {{.*}} on @grid grid_axes = [0]
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
shard.grid @grid(shape = 4) {tp.axes = ["z"]}
func.func @grid_beside_a_mesh(%x: tensor<8xf32>) -> tensor<32xf32> {
  %0 = shard.all_gather %x on @grid grid_axes = [0] gather_axis = 0 : tensor<8xf32> -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

// A tp.sharding may name its mesh.
// CHECK: shard.grid @p(shape = 8) {tp.axes = ["x"]}
// CHECK-NOT: shard.grid
// CHECK: func.func @own_form(%{{.*}}: tensor<8xf32> {tp.sharding = {{\[}}["x"]]}, %{{.*}}: tensor<8xf32> {tp.sharding = {{\[}}["x"]]})
shard.grid @p(shape = 8) {tp.axes = ["x"]}
shard.grid @q(shape = 8) {tp.axes = ["y"]}
func.func @own_form(%x: tensor<8xf32> {tp.sharding = {mesh = @p, dims = [["x"]]}}, %y: tensor<8xf32> {tp.sharding = [["x"]]}) { return }
