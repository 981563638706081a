// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// The maximum of a softmax as PyTorch exports it: the index is not used, the value does not need it.

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @max
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[V:.*]]: tensor<4xf32>
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: ins(%[[A]] : tensor<4x8xf32>) outs(%[[V]] : tensor<4xf32>) attrs = {tp.sharding = {{\[}}["dp"]]}
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[IN]], %[[OUT]]
// CHECK-NEXT: linalg.yield %[[M]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK: return %[[R]]
func.func @max(%a: tensor<4x8xf32>, %v: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%v, %n : tensor<4xf32>, tensor<4xi64>) attrs = {tp.sharding = [[["dp"]], [["dp"]]]} {
  ^bb0(%in: f32, %value: f32, %index: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %value : f32
    %g = arith.cmpf ogt, %in, %value : f32
    %s = arith.select %g, %k, %index : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0 : tensor<4xf32>
}

// -----

// The middle one of three; ops that nothing needed go too, an assert stays with what it needs.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @three
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sge, %[[IN]]
// CHECK-NEXT: cf.assert %[[C]]
// CHECK-NEXT: linalg.yield %[[IN]], %[[IN]] : i32, i32
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @three(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = tensor.empty() : tensor<4xi32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e, %f, %e : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  ^bb0(%in: i32, %x: i32, %y: i32, %z: i32):
    %c = arith.cmpi sge, %in, %zero : i32
    cf.assert %c, "negative"
    %d = arith.addi %y, %in : i32
    %unused = arith.muli %y, %d : i32
    linalg.yield %in, %d, %in : i32, i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  return %r#0, %r#2 : tensor<4xi32>, tensor<4xi32>
}

// -----

// Two unused results that need only each other.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @pair
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT: linalg.yield %[[IN]] : i32
func.func @pair(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e, %b, %c : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  ^bb0(%in: i32, %x: i32, %y: i32, %z: i32):
    linalg.yield %in, %z, %y : i32, i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  return %r#0 : tensor<4xi32>
}

// -----

// Not a result that another one needs: argmax reads the running maximum.

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @argmax
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i64
func.func @argmax(%a: tensor<4x8xf32>, %v: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xi64> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%v, %n : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %value: f32, %index: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %value : f32
    %g = arith.cmpf ogt, %in, %value : f32
    %s = arith.select %g, %k, %index : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

// Nor one that an assert reads, nor one that alone says how long a loop is.
// CHECK-LABEL: func.func @asserted
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i1
func.func @asserted(%a: tensor<4x8xf32>, %v: tensor<4xf32>, %n: tensor<4xi1>) -> tensor<4xf32> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%v, %n : tensor<4xf32>, tensor<4xi1>) {
  ^bb0(%in: f32, %value: f32, %ok: i1):
    cf.assert %ok, "not ok"
    %m = arith.maximumf %in, %value : f32
    linalg.yield %m, %ok : f32, i1
  } -> (tensor<4xf32>, tensor<4xi1>)
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @range
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
func.func @range(%a: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4x8xf32>) -> tensor<4xf32> {
  %r:2 = linalg.generic {indexing_maps = [#out, #out, #in], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4xf32>) outs(%v, %w : tensor<4xf32>, tensor<4x8xf32>) {
  ^bb0(%in: f32, %x: f32, %y: f32):
    %s = arith.addf %in, %x : f32
    linalg.yield %s, %in : f32, f32
  } -> (tensor<4xf32>, tensor<4x8xf32>)
  return %r#0 : tensor<4xf32>
}
