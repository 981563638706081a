// What tp-fuse-collectives makes of a softmax of rows whose columns are on different devices, and what it says.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always})' 2>/dev/null | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives)' 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always},tp-inline-calls)' 2>/dev/null | FileCheck %s --check-prefix=INLINED

// CPU: is not fused: topology "cpu" has no fused kernels that span all devices of the group
// CPU-NOT: tp.fused
// INLINED-NOT: tp.fused

// Of the softmax both the sum and the largest are used, of the pick only what this device has: no sum over devices reads it.
// REMARK: 'shard.all_reduce': is fused with sum of exponentials, a pick relative to the maximum, 8 rows of 16: one exchange takes {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @loss
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xbf16>, %[[T:.*]]: tensor<8x1xi64>)
// CHECK: %[[C:.*]]:3 = call @tp.fused.0(%[[X]], %[[T]]) : (tensor<8x16xbf16>, tensor<8x1xi64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NOT: shard.all_reduce
// CHECK: return %[[C]]#0, %[[C]]#1, %[[C]]#2
// CHECK: func.func private @tp.fused.0(%[[ROWS:.*]]: tensor<8x16xbf16>, %[[TARGET:.*]]: tensor<8x1xi64>)
// CHECK-SAME: tp.fused = {axes = ["tp"], infinite = "nan", kind = "softmax_rows", operands = ["logits", "target"], pick = "less_largest", picks_of = "device", results = ["largest", "sum", "picked"]}
// CHECK: shard.process_multi_index on @mesh axes = [1]
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]] :
// CHECK: arith.maximumf
// CHECK: %[[M:.*]] = shard.all_reduce %{{.*}} on @mesh grid_axes = [1] reduction = max : tensor<8xf32> -> tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %[[M]] :
// CHECK: math.exp
// CHECK: %[[S:.*]] = shard.all_reduce %{{.*}} on @mesh grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[M]], %[[S]], %{{.*}} :
// CHECK: linalg.index 1
// CHECK-NOT: shard.all_reduce
// CHECK: return %[[M]], %[[S]], %[[P]]
// INLINED-LABEL: func.func @loss
// INLINED: reduction = max
// INLINED: shard.all_reduce
#whole = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#number = affine_map<(d0, d1) -> (d0)>
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @loss(%logits: tensor<8x16xbf16>, %target: tensor<8x1xi64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %none = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %x = arith.extf %logits : tensor<8x16xbf16> to tensor<8x16xf32>
  %local = linalg.reduce ins(%x : tensor<8x16xf32>) outs(%none : tensor<8xf32>) dimensions = [1] (%in: f32, %o: f32) {
    %m = arith.maximumf %o, %in : f32
    linalg.yield %m : f32
  }
  %largest = shard.all_reduce %local on @mesh grid_axes = [1] reduction = max : tensor<8xf32> -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %spread = linalg.broadcast ins(%largest : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %less = arith.subf %x, %spread : tensor<8x16xf32>
  %exp = math.exp %less : tensor<8x16xf32>
  %part = linalg.reduce ins(%exp : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1] (%in: f32, %o: f32) {
    %s = arith.addf %o, %in : f32
    linalg.yield %s : f32
  }
  %sum = shard.all_reduce %part on @mesh grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
  %rank = shard.process_multi_index on @mesh axes = [1] : index
  %begin = arith.muli %rank, %c16 : index
  %picked = linalg.generic {indexing_maps = [#whole, #first, #number], iterator_types = ["parallel", "reduction"]} ins(%less, %target : tensor<8x16xf32>, tensor<8x1xi64>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: f32, %t: i64, %o: f32):
    %i = linalg.index 1 : index
    %column = arith.addi %begin, %i : index
    %number = arith.index_cast %column : index to i64
    %is = arith.cmpi eq, %number, %t : i64
    %v = arith.select %is, %in, %zero : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %largest, %sum, %picked : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

// Columns of a rank that are not those that its rank says: the pick stays.
// REMARK: 'shard.all_reduce': is fused with sum of exponentials, 8 rows of 16:
// CHECK-LABEL: func.func @other_columns
// CHECK: call @tp.fused.0(%{{.*}}) : (tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: arith.cmpi eq
// CHECK: func.func private @tp.fused.0
// CHECK-SAME: tp.fused = {axes = ["tp"], infinite = "nan", kind = "softmax_rows", operands = ["logits"], results = ["largest", "sum"]}
#whole = affine_map<(d0, d1) -> (d0, d1)>
#number = affine_map<(d0, d1) -> (d0)>
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @other_columns(%x: tensor<8x16xf32>, %target: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %none = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %local = linalg.reduce {arith.maximumf} ins(%x : tensor<8x16xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %largest = shard.all_reduce %local on @mesh grid_axes = [1] reduction = max : tensor<8xf32> -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %spread = linalg.broadcast ins(%largest : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %less = arith.subf %x, %spread : tensor<8x16xf32>
  %exp = math.exp %less : tensor<8x16xf32>
  %part = linalg.reduce {arith.addf} ins(%exp : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %sum = shard.all_reduce %part on @mesh grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
  %rank = shard.process_multi_index on @mesh axes = [0] : index
  %begin = arith.muli %rank, %c16 : index
  %picked = linalg.generic {indexing_maps = [#whole, #number, #number], iterator_types = ["parallel", "reduction"]} ins(%less, %target : tensor<8x16xf32>, tensor<8xi32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: f32, %t: i32, %o: f32):
    %i = linalg.index 1 : index
    %column = arith.addi %begin, %i : index
    %number = arith.index_cast %column : index to i32
    %is = arith.cmpi eq, %number, %t : i32
    %v = arith.select %is, %in, %zero : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %sum, %picked : tensor<8xf32>, tensor<8xf32>
}
}

// -----

// Over nodes there are no kernels; sums over other devices than the largest are another matter.
// REMARK: 'shard.all_reduce': is not fused: topology "kernels" has no fused kernels that span all devices of the group
// REMARK: 'shard.all_reduce': is not fused: no sum of exponentials relative to the row maxima is reduced over the same devices
// ALWAYS-LABEL: func.func @groups
// ALWAYS-NOT: softmax_rows
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @groups(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %none = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %x0 = linalg.reduce {arith.maximumf} ins(%x : tensor<8x16xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %x1 = shard.all_reduce %x0 on @mesh grid_axes = [0, 1] reduction = max : tensor<8xf32> -> tensor<8xf32>
  %x2 = linalg.broadcast ins(%x1 : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %x3 = arith.subf %x, %x2 : tensor<8x16xf32>
  %x4 = math.exp %x3 : tensor<8x16xf32>
  %x5 = linalg.reduce {arith.addf} ins(%x4 : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %x6 = shard.all_reduce %x5 on @mesh grid_axes = [0, 1] : tensor<8xf32> -> tensor<8xf32>
  %y0 = linalg.reduce {arith.maximumf} ins(%y : tensor<8x16xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %y1 = shard.all_reduce %y0 on @mesh grid_axes = [1] reduction = max : tensor<8xf32> -> tensor<8xf32>
  %y2 = linalg.broadcast ins(%y1 : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %y3 = arith.subf %y, %y2 : tensor<8x16xf32>
  %y4 = math.exp %y3 : tensor<8x16xf32>
  %y5 = linalg.reduce {arith.addf} ins(%y4 : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %y6 = shard.all_reduce %y5 on @mesh grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %x6, %y6 : tensor<8xf32>, tensor<8xf32>
}
}

// -----

// Many short rows: the exchange sends twice as much as both sums do, and that is what takes the time.
// REMARK: 'shard.all_reduce': is not fused with sum of exponentials, 4194304 rows of 4: one exchange takes {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @short
// CHECK: shard.all_reduce
// CHECK-NOT: softmax_rows
// ALWAYS-LABEL: func.func @short
// ALWAYS: kind = "softmax_rows"
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x8) {tp.axes = ["dp", "tp"]}
func.func @short(%x: tensor<4194304x4xf32>) -> tensor<4194304xf32> {
  %none = arith.constant dense<0xFF800000> : tensor<4194304xf32>
  %zeros = arith.constant dense<0.0> : tensor<4194304xf32>
  %e = tensor.empty() : tensor<4194304x4xf32>
  %local = linalg.reduce {arith.maximumf} ins(%x : tensor<4194304x4xf32>) outs(%none : tensor<4194304xf32>) dimensions = [1]
  %largest = shard.all_reduce %local on @mesh grid_axes = [1] reduction = max : tensor<4194304xf32> -> tensor<4194304xf32>
  %spread = linalg.broadcast ins(%largest : tensor<4194304xf32>) outs(%e : tensor<4194304x4xf32>) dimensions = [1]
  %less = arith.subf %x, %spread : tensor<4194304x4xf32>
  %exp = math.exp %less : tensor<4194304x4xf32>
  %part = linalg.reduce {arith.addf} ins(%exp : tensor<4194304x4xf32>) outs(%zeros : tensor<4194304xf32>) dimensions = [1]
  %sum = shard.all_reduce %part on @mesh grid_axes = [1] : tensor<4194304xf32> -> tensor<4194304xf32>
  return %sum : tensor<4194304xf32>
}
}
