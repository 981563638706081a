// Rows sorted by group: masks that JAX writes as tensors become one op, and all ops from the gather to the scatter are marked. The bounds of
// the groups, which are computed behind the gather, move in front of it.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-group-rows)' | FileCheck %s

// CHECK-LABEL: func.func @routed
// CHECK: %[[E:.*]] = linalg.generic {{.*}}ins(%arg3 : tensor<4xi32>)
// CHECK: %[[S:.*]] = arith.subi %[[E]], %arg3
// CHECK: linalg.generic {{.*}}ins(%arg1, %[[S]], %[[E]] : tensor<8xi32>, tensor<4xi32>, tensor<4xi32>){{.*}} attrs =  {tp.groups = 0 : i64, tp.rows = "gather_to"}
// CHECK: linalg.generic {{.*}}ins(%{{.*}}, %[[S]], %[[E]] : tensor<8x2xf32>, tensor<4xi32>, tensor<4xi32>) outs(%{{.*}} : tensor<4x8x2xf32>) attrs =  {tp.groups = 0 : i64, tp.rows = "mask"}
// CHECK: linalg.fill {tp.rows = "each"}
// CHECK: attrs =  {tp.groups = 0 : i64, tp.rows = "product"}
// CHECK: math.tanh %{{.*}} {tp.groups = 0 : i64, tp.rows = "each"}
// CHECK: linalg.generic {{.*}}ins(%arg1, %{{.*}}, %[[S]], %[[E]] : tensor<8xi32>, tensor<8x3xf32>, tensor<4xi32>, tensor<4xi32>){{.*}} attrs =  {tp.groups = 0 : i64, tp.rows = "scatter_from"}
#rows = affine_map<(r, c) -> (r)>
#id = affine_map<(r, c) -> (r, c)>
#mask = affine_map<(g, r, c) -> (g, r, c)>
func.func @routed(%x: tensor<8x2xf32>, %place: tensor<8xi32>, %w: tensor<4x2x3xf32>, %sizes: tensor<4xi32>) -> tensor<8x3xf32> {
  %e = tensor.empty() : tensor<8x2xf32>
  %taken = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]} ins(%place : tensor<8xi32>) outs(%e : tensor<8x2xf32>) {
  ^bb0(%p: i32, %o: f32):
    %at = arith.index_cast %p : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%at, %c] : tensor<8x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %no = arith.constant dense<0> : tensor<4xi32>
  %ends = linalg.generic {indexing_maps = [affine_map<(g, h) -> (h)>, affine_map<(g, h) -> (g)>], iterator_types = ["parallel", "reduction"]} ins(%sizes : tensor<4xi32>) outs(%no : tensor<4xi32>) {
  ^bb0(%n: i32, %o: i32):
    %g = linalg.index 0 : index
    %h = linalg.index 1 : index
    %zero = arith.constant 0 : i32
    %before = arith.cmpi ule, %h, %g : index
    %m = arith.select %before, %n, %zero : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  %starts = arith.subi %ends, %sizes : tensor<4xi32>
  %m = tensor.empty() : tensor<4x8x2xf32>
  %copies = linalg.generic {indexing_maps = [affine_map<(g, r, c) -> (r, c)>, #mask], iterator_types = ["parallel", "parallel", "parallel"]} ins(%taken : tensor<8x2xf32>) outs(%m : tensor<4x8x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<4x8x2xf32>
  %n = tensor.empty() : tensor<4x8x2xi32>
  %row = linalg.generic {indexing_maps = [#mask], iterator_types = ["parallel", "parallel", "parallel"]} outs(%n : tensor<4x8x2xi32>) {
  ^bb0(%o: i32):
    %r = linalg.index 1 : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<4x8x2xi32>
  %first = linalg.generic {indexing_maps = [affine_map<(g, r, c) -> (g)>, #mask], iterator_types = ["parallel", "parallel", "parallel"]} ins(%starts : tensor<4xi32>) outs(%n : tensor<4x8x2xi32>) {
  ^bb0(%v: i32, %o: i32):
    linalg.yield %v : i32
  } -> tensor<4x8x2xi32>
  %end = linalg.generic {indexing_maps = [affine_map<(g, r, c) -> (g)>, #mask], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ends : tensor<4xi32>) outs(%n : tensor<4x8x2xi32>) {
  ^bb0(%v: i32, %o: i32):
    linalg.yield %v : i32
  } -> tensor<4x8x2xi32>
  %above = arith.cmpi sle, %first, %row : tensor<4x8x2xi32>
  %below = arith.cmpi slt, %row, %end : tensor<4x8x2xi32>
  %inside = arith.andi %above, %below : tensor<4x8x2xi1>
  %zeros = arith.constant dense<0.0> : tensor<4x8x2xf32>
  %masked = arith.select %inside, %copies, %zeros : tensor<4x8x2xi1>, tensor<4x8x2xf32>
  %z = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<8x3xf32>
  %sum = linalg.fill ins(%z : f32) outs(%f : tensor<8x3xf32>) -> tensor<8x3xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(r, c, k, g) -> (g, r, k)>, affine_map<(r, c, k, g) -> (g, k, c)>, affine_map<(r, c, k, g) -> (r, c)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%masked, %w : tensor<4x8x2xf32>, tensor<4x2x3xf32>) outs(%sum : tensor<8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x3xf32>
  %active = math.tanh %h : tensor<8x3xf32>
  %none = arith.constant dense<0.0> : tensor<8x3xf32>
  %back = linalg.generic {indexing_maps = [affine_map<(t, c, r) -> (r)>, affine_map<(t, c, r) -> (r, c)>, affine_map<(t, c, r) -> (t, c)>],
                          iterator_types = ["parallel", "parallel", "reduction"]} ins(%place, %active : tensor<8xi32>, tensor<8x3xf32>) outs(%none : tensor<8x3xf32>) {
  ^bb0(%p: i32, %v: f32, %o: f32):
    %at = arith.index_cast %p : i32 to index
    %t = linalg.index 0 : index
    %is = arith.cmpi eq, %at, %t : index
    %new = arith.select %is, %v, %o : f32
    linalg.yield %new : f32
  } -> tensor<8x3xf32>
  return %back : tensor<8x3xf32>
}

// -----

// Rows that are not exchanged at both ends stay as they are.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: tp.rows
func.func @stays(%x: tensor<8x2xf32>, %starts: tensor<4xi32>, %ends: tensor<4xi32>) -> tensor<4x8x2xf32> {
  %m = tensor.empty() : tensor<4x8x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(g, r, c) -> (r, c)>, affine_map<(g, r, c) -> (g)>, affine_map<(g, r, c) -> (g)>, affine_map<(g, r, c) -> (g, r, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %starts, %ends : tensor<8x2xf32>, tensor<4xi32>, tensor<4xi32>) outs(%m : tensor<4x8x2xf32>)
                       attrs = {tp.rows = "mask"} {
  ^bb0(%v: f32, %s: i32, %e: i32, %o: f32):
    %r = linalg.index 1 : index
    %at = arith.index_cast %r : index to i32
    %above = arith.cmpi sge, %at, %s : i32
    %below = arith.cmpi slt, %at, %e : i32
    %inside = arith.andi %above, %below : i1
    %zero = arith.constant 0.0 : f32
    %w = arith.select %inside, %v, %zero : f32
    linalg.yield %w : f32
  } -> tensor<4x8x2xf32>
  return %0 : tensor<4x8x2xf32>
}
