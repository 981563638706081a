// Layouts and exchanges: rows are gathered to the devices of their groups, and scattered back. What is between them has the rows of the
// device alone; with a second axis, columns of the weights are split, too.
// RUN: shard-opt %S/execute.mlir --pass-pipeline='builtin.module(tp-plan{mesh=ep=4 objective=bytes})' | FileCheck %s --check-prefix=PLAN
// RUN: shard-opt %S/execute.mlir --pass-pipeline='builtin.module(tp-spmd{mesh=ep=4 objective=bytes})' | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %S/execute.mlir --pass-pipeline='builtin.module(tp-spmd{mesh=ep=4 objective=bytes},tp-bound-rows)' | FileCheck %s --check-prefix=BOUND
// RUN: shard-run %S/execute.mlir --mesh ep=2,tp=2 --objective bytes | FileCheck %s --check-prefix=RAN

// PLAN: tp.rows = "gather_to", tp.sharding = {dims = {{\[\[\], \[\]\]}}, partial = {ep = "rows"}}
// PLAN: tp.rows = "mask", tp.sharding = {{\[\["ep"\], \[\], \[\]\]}}
// PLAN: tp.rows = "product", tp.sharding = {dims = {{\[\[\], \[\]\]}}, partial = {ep = "rows"}}
// PLAN: math.tanh {{.*}}tp.rows = "each", tp.sharding = {dims = {{\[\[\], \[\]\]}}, partial = {ep = "rows"}}
// PLAN: tp.rows = "scatter_from", tp.sharding = {{\[\["ep"\], \[\]\]}}

// LOCAL: call @tp.route(%arg0, {{.*}}tp.route = {axes = ["ep"], form = "gather", rows = 180 : i64, to = "groups"}} : (tensor<45x8xf32>, tensor<180xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<180x8xf32>
// LOCAL: math.tanh {{.*}}tp.rows = "own"{{.*}} : tensor<180x16xf32>
// LOCAL: call @tp.route.1({{.*}}tp.route = {axes = ["ep"], form = "add", rows = 180 : i64, to = "blocks"}} : (tensor<180x8xf32>, tensor<180xi32>, tensor<8xi32>, tensor<8xi32>, tensor<45x8xf32>) -> tensor<45x8xf32>

// A loop over the groups of the device, and in it one over blocks of their rows: a product reads the weights of one group.
// BOUND-NOT: tp.rows
// BOUND: scf.for %[[G:arg[0-9]+]] = {{.*}} -> (tensor<180x8xf32>)
// BOUND: cf.assert {{.*}}, "a group of rows does not follow the one before it: sizes of groups must not be negative, nor their sum overflow"
// BOUND: tensor.extract_slice %arg2[%[[G]], 0, 0] [1, 8, 16] [1, 1, 1]
// BOUND: scf.for
// BOUND: math.tanh {{.*}} : tensor<18x16xf32>
// BOUND: scf.yield {{.*}} : tensor<180x8xf32>

// RAN: verified
