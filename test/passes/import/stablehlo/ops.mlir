// Ops that the functions of JAX in jax_*.mlir do not have, and forms of others.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo)' | FileCheck %s

// CHECK-LABEL: func.func @functions
// CHECK: math.acos
// CHECK: math.acosh
// CHECK: math.atanh
// CHECK: math.round
// CHECK: math.expm1
// CHECK: math.tan
// CHECK: math.exp
// CHECK-NOT: stablehlo
// CHECK: return
func.func @functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "chlo.acos"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "chlo.acosh"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "chlo.atanh"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.round_nearest_afz"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.exponential_minus_one"(%3) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.tan"(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = "stablehlo.logistic"(%5) : (tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// The boundary loses its signs, and says so; the ops keep their meaning.
// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[A:.*]]: tensor<4xi8> {tp.unsigned}, %[[B:.*]]: tensor<4xi8>) -> (tensor<4xi32> {tp.unsigned}, tensor<4xi1>)
// CHECK: arith.maxui %[[A]]
// CHECK: arith.extui
// CHECK: arith.cmpi ult, %[[A]], %[[A]]
// CHECK: arith.cmpi slt, %[[B]], %[[B]]
func.func @unsigned(%a: tensor<4xui8>, %b: tensor<4xi8>) -> (tensor<4xui32>, tensor<4xi1>) {
  %0 = "stablehlo.maximum"(%a, %a) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = "stablehlo.convert"(%0) : (tensor<4xui8>) -> tensor<4xui32>
  %2 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %3 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %4 = "stablehlo.and"(%2, %3) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %1, %4 : tensor<4xui32>, tensor<4xi1>
}

// In the total order floats are compared as integers.
// CHECK-LABEL: func.func @total_order
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : tensor<4xf32> to tensor<4xi32>
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[BITS]]
// CHECK: %[[REST:.*]] = arith.shrui %[[SIGN]]
// CHECK: arith.xori %[[BITS]], %[[REST]]
// CHECK: arith.cmpi slt
func.func @total_order(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func.func @map
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[S:.*]] = arith.subf %[[X]], %[[Y]] : f32
// CHECK-NEXT: linalg.yield %[[S]]
func.func @map(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.subtract"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @passed_on
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[B:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: arith.constant dense<4> : tensor<i32>
// CHECK: %[[C:.*]] = call @twice(%[[B]])
// CHECK: return %[[C]]
func.func @passed_on(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = "stablehlo.optimization_barrier"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "annotate_device_placement"}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.get_dimension_size"(%1) <{dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<i32>
  %3 = "stablehlo.composite"(%1) <{decomposition = @twice, name = "my.twice"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %2 : tensor<4xf32>, tensor<i32>
}

// Of a barrier, what holds memory that is worth computing again: no number, and nothing that is computed from constants alone.
// CHECK-LABEL: func.func @barrier
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[S:[a-z0-9]+]]: tensor<f32>
// CHECK: %[[I:.*]] = linalg.generic
// CHECK: %[[B:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK-NOT: alloc_tensor
// CHECK: return %[[B]], %[[S]], %[[I]]
func.func @barrier(%a: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xi32>) {
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
  %0:3 = "stablehlo.optimization_barrier"(%a, %s, %i) : (tensor<4xf32>, tensor<f32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xi32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<f32>, tensor<4xi32>
}

func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An op with a rule stays.
// CHECK-LABEL: func.func @with_rule
// CHECK: "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "mine"}> {tp.rule = "([i])->([i])"}
func.func @with_rule(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "mine"}> {tp.rule = "([i])->([i])"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A branch of stablehlo.if captures values from outside; a call in it is kept.
// CHECK-LABEL: func.func @branches
// CHECK: %[[C:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: scf.if %[[C]] -> (tensor<4xf32>) {
// CHECK: call @twice
// CHECK: } else {
// CHECK: arith.negf
func.func @branches(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%c) ({
    %1 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An annotation of an op becomes a constraint on its result.
// CHECK-LABEL: func.func @annotated
// CHECK: %[[T:.*]] = math.tanh
// CHECK: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0]]
// CHECK: %[[K:.*]] = shard.shard %[[T]] to %[[S]] {tp.sharding = {{\[\[}}"tp"]]}
// CHECK: arith.negf %[[K]]
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @annotated(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.tanh"(%a) {tp.sharding = [["tp"]]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.negate"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
