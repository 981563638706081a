// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-prepare-fusion,canonicalize)' | FileCheck %s

// A number that two ops read from a buffer each; one from outside, one that the maker has inside, and one of a fill.
// CHECK-LABEL: func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[S:.*]]: f32)
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.0
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK: ins(%[[X]] : tensor<4x8xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
// CHECK: arith.addf %{{.*}}, %[[S]]
// CHECK: ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
// CHECK: arith.addf %{{.*}}, %[[TWO]]
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x8xf32>, %s: f32) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %two = arith.constant 2.0 : f32
  %half = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%o: f32):
    %c = arith.constant 0.5 : f32
    linalg.yield %c : f32
  } -> tensor<4x8xf32>
  %outside = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %filled = linalg.fill ins(%two : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%half, %x, %outside : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%h: f32, %a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %h : f32
    %r = arith.addf %m, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0, %half, %filled : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %h: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %h : f32
    %r = arith.addf %m, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// A constant that is one number, broadcast for two ops.
// CHECK-LABEL: func @broadcast
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.0
// CHECK-NOT: outs(%{{.*}}) {
// CHECK: ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.mulf %{{.*}}, %[[THREE]]
// CHECK: ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.addf %{{.*}}, %[[THREE]]
func.func @broadcast(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %c = arith.constant dense<3.0> : tensor<f32>
  %three = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, #map], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %three : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0, %three : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// The range of the loop would not follow from anything else: it stays.
// CHECK-LABEL: func @range
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<8xf32>)
func.func @range(%init: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<8xf32>
  %two = arith.constant 2.0 : f32
  %filled = linalg.fill ins(%two : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%filled : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// What is read is an input, and fusion gives the right numbers: each element of %acc is added once, not once for each column.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-prepare-fusion)' | FileCheck %s --check-prefix=READ
// RUN: shard-run %s --function accumulate --mesh 1 --no-verify
// READ-LABEL: func @accumulate
// READ: ins(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>)
#i = affine_map<(i) -> (i)>
func.func @accumulate() -> tensor<4x8xf32> {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = arith.constant dense<1.0> : tensor<4x8xf32>
  %i = tensor.empty() : tensor<4xf32>
  %acc = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%acc : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#map, affine_map<(i, j) -> (i)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %p : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %last = tensor.extract %c[%c3, %c7] : tensor<4x8xf32>
  %six = arith.constant 6.0 : f32
  %ok = arith.cmpf oeq, %last, %six : f32
  cf.assert %ok, "4 + sqrt 4 is 6"
  return %c : tensor<4x8xf32>
}

// Where elements stay as they are in the init, it is left to be read, and to be what they are.
// CHECK-LABEL: func @kept(
// CHECK: %[[TWOS:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} outs(%[[TWOS]] : tensor<8xi32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i32, %[[OUT:.*]]: i32):
// CHECK-NEXT: arith.addi %[[IN]], %[[OUT]]
func.func @kept(%a: tensor<3xi32>) -> tensor<8xi32> {
  %two = arith.constant 2 : i32
  %e = tensor.empty() : tensor<8xi32>
  %twos = linalg.fill ins(%two : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %0 = linalg.generic {indexing_maps = [#i, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%a : tensor<3xi32>) outs(%twos : tensor<8xi32>) {
  ^bb0(%in: i32, %o: i32):
    %y = arith.addi %in, %o : i32
    linalg.yield %y : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
