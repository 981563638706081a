// What tp-fuse-collectives writes, what it says, and when it leaves things alone.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// Unfused, the first one pays the latencies of two collectives, 10 us each with four devices, and a
// launch; fused, a launch and two signals. test/sharding/fused_cost_test.c (fused_rows) has the formulas.
// RUN: %python -B %S/../Inputs/relations.py 'fused=%t.remarks~RMS norm, all_gather, 32 rows of 16: one kernel .slices. takes ([0-9.]+) us' \
// RUN:   'separate=%t.remarks~RMS norm, all_gather, 32 rows of 16: .*, separate ones ([0-9.]+) us' -- '4 + 2 * 2 <= fused < 9' '2 * 10 + 4 <= separate < 25'
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always})' 2>/dev/null | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=no})' 2>&1 | FileCheck %s --check-prefix=NO
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives)' 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json},tp-inline-calls)' 2>/dev/null | FileCheck %s --check-prefix=INLINED

// NO-NOT: remark
// NO-NOT: tp.fused
// CPU: is not fused: topology "cpu" has no fused kernels that span all devices of the group
// CPU-NOT: tp.fused
// INLINED-NOT: tp.fused
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#stat = affine_map<(d0, d1) -> (d0)>

// Both the sum and its norm are used, the gather is the norm's only reader.
// REMARK: 'shard.reduce_scatter': is fused with residual, RMS norm, all_gather, 32 rows of 16: one kernel (slices) takes {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @block
// CHECK-SAME: (%[[D:.*]]: tensor<32x16xf32>, %[[RES:.*]]: tensor<8x16xf32>, %[[G:.*]]: tensor<16xf32>)
// CHECK: %[[C:.*]]:2 = call @tp.fused.0(%[[D]], %[[RES]], %[[G]]) : (tensor<32x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>)
// CHECK: return %[[C]]#0, %[[C]]#1
// CHECK: func.func private @tp.fused.0(%[[A0:.*]]: tensor<32x16xf32>, %[[A1:.*]]: tensor<8x16xf32>, %[[A2:.*]]: tensor<16xf32>)
// CHECK-SAME: tp.fused = {algorithm = "slices", axes = ["tp"], dim = 0 : i64, epsilon = 9.99999974E-6 : f32, kind = "reduce_rows", layout = "gathered", norm = "rms_norm", operands = ["input", "residual", "gamma"], results = ["residual_out", "out"]}
// CHECK: %[[S:.*]] = shard.reduce_scatter %[[A0]] on @mesh grid_axes = [1] scatter_axis = 0
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[A1]] :
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<8x16xf32>) outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[A2]], %[[Q]] :
// CHECK: %[[GATHERED:.*]] = shard.all_gather %[[Y]] on @mesh grid_axes = [1] gather_axis = 0
// CHECK: return %[[R]], %[[GATHERED]]
// INLINED-LABEL: func.func @block
// INLINED: shard.reduce_scatter
// INLINED: shard.all_gather
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @block(%d: tensor<32x16xf32>, %residual: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %hidden = arith.constant 16.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %a = shard.reduce_scatter %d on @mesh grid_axes = [1] scatter_axis = 0 : tensor<32x16xf32> -> tensor<8x16xf32>
  %r = arith.addf %a, %residual : tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%r : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %xx = arith.mulf %x, %x : f32
    %sum = arith.addf %o, %xx : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#whole, #stat, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%r, %s, %gamma : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: f32, %sum: f32, %g: f32, %o: f32):
    %mean = arith.divf %sum, %hidden : f32
    %var = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %var : f32
    %n = arith.mulf %x, %root : f32
    %out = arith.mulf %n, %g : f32
    linalg.yield %out : f32
  } -> tensor<8x16xf32>
  %all = shard.all_gather %y on @mesh grid_axes = [1] gather_axis = 0 : tensor<8x16xf32> -> tensor<32x16xf32>
  return %r, %all : tensor<8x16xf32>, tensor<32x16xf32>
}
}

// -----

// A residual that is made behind the sum is moved in front of the call; a gamma that is made of the rows cannot be.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': is not fused: an operand of its rows depends on the reduced value
// CHECK-LABEL: func.func @order
// CHECK: arith.mulf
// CHECK: call @tp.fused.0
// CHECK-NOT: call @tp.fused.1
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @order(%d: tensor<8x16xf32>, %x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %xx = arith.mulf %x, %x : tensor<8x16xf32>
  %r = arith.addf %a, %xx : tensor<8x16xf32>

  %b = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %gamma = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["reduction", "parallel"]} ins(%b : tensor<8x16xf32>) outs(%zero : tensor<16xf32>) {
  ^bb0(%in: f32, %o: f32):
    %sum = arith.addf %in, %o : f32
    linalg.yield %sum : f32
  } -> tensor<16xf32>
  %bb = arith.mulf %b, %b : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.reduce ins(%bb : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1] (%in: f32, %o: f32) {
    %sum = arith.addf %in, %o : f32
    linalg.yield %sum : f32
  }
  %hidden = arith.constant dense<16.0> : tensor<8xf32>
  %mean = arith.divf %s, %hidden : tensor<8xf32>
  %root = math.rsqrt %mean : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %spread = linalg.broadcast ins(%root : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %n = arith.mulf %b, %spread : tensor<8x16xf32>
  %factors = linalg.broadcast ins(%gamma : tensor<16xf32>) outs(%e : tensor<8x16xf32>) dimensions = [0]
  %y = arith.mulf %n, %factors : tensor<8x16xf32>
  return %r, %y : tensor<8x16xf32>, tensor<8x16xf32>
}
}

// -----

// No kernel reaches from one node to another; other reductions than sums, and numbers, are no matter of rows.
// REMARK: 'shard.all_reduce': is not fused: topology "kernels" has no fused kernels that span all devices of the group
// REMARK-NOT: 'shard
// CHECK-LABEL: func.func @groups
// CHECK-NOT: tp.fused
// ALWAYS-LABEL: func.func @groups
// ALWAYS-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @groups(%d: tensor<8x16xf32>, %x: tensor<8x16xf32>, %n: tensor<f32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [0, 1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %r = arith.addf %a, %x : tensor<8x16xf32>
  %m = shard.all_reduce %x on @mesh grid_axes = [1] reduction = max : tensor<8x16xf32> -> tensor<8x16xf32>
  %s = shard.all_reduce %n on @mesh grid_axes = [1] : tensor<f32> -> tensor<f32>
  return %r, %m, %s : tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>
}
}

// -----

// Large rows: their bytes go as slowly in one kernel, which reads them from all others.
// REMARK: 'shard.all_reduce': is not fused with residual, 1 rows of 1048576: one kernel (pull) takes {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @large
// CHECK: shard.all_reduce
// CHECK-NOT: tp.fused
// ALWAYS-LABEL: func.func @large
// ALWAYS: call @tp.fused.0
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x8) {tp.axes = ["dp", "tp"]}
func.func @large(%d: tensor<1x1048576xf32>, %x: tensor<1x1048576xf32>) -> tensor<1x1048576xf32> {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<1x1048576xf32> -> tensor<1x1048576xf32>
  %r = arith.addf %a, %x : tensor<1x1048576xf32>
  return %r : tensor<1x1048576xf32>
}
}

// -----

// What asserts something of the rows stays.
// REMARK: 'shard.all_reduce': is not fused: the reduced value has other users
// CHECK-LABEL: func.func @asserted
// CHECK: cf.assert
// ALWAYS-LABEL: func.func @asserted
// ALWAYS: cf.assert
#whole = affine_map<(d0, d1) -> (d0, d1)>
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @asserted(%d: tensor<8x16xf32>, %x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %checked = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %o: f32):
    %good = arith.cmpf oge, %in, %zero : f32
    cf.assert %good, "negative"
    linalg.yield %in : f32
  } -> tensor<8x16xf32>
  %r = arith.addf %a, %x : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
}
