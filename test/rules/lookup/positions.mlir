// What models compute from positions: buckets of relative positions that index a table of biases, causal and windowed masks, one-hot rows. All of it is
// computed where it is needed, from the global index; no device makes the whole of it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=2x4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x2 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#hij = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#12 = affine_map<(d0, d1, d2) -> (d1, d2)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK-LABEL: func.func @main
// CHECK-SAME: tp.plan
// CHECK-NOT: tensor<11x11x
// CHECK-NOT: tensor<7x11x11x
// CHECK-NOT: all_gather
// CHECK: tensor.extract %{{.*}} : tensor<{{.*}}x2xf32>
// CHECK-NOT: tensor<7x11x11x
// CHECK: return
func.func @main(%scores: tensor<7x11x11xf32> {tp.sharding = [["tp"], ["dp"], []]}, %bias: tensor<32x7xf32> {tp.sharding = [[], ["tp"]]},
                %ids: tensor<11xi32> {tp.sharding = [["dp"]]})
    -> (tensor<7x11x11xf32> {tp.sharding = [["tp"], ["dp"], []]}, tensor<11x13xf32> {tp.sharding = [["dp"], ["tp"]]}) {
  %e = tensor.empty() : tensor<11x11xi32>
  %eh = tensor.empty() : tensor<7x11x11xf32>
  %row = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<11x11xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<11x11xi32>
  %col = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<11x11xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<11x11xi32>
  // Exact up to a distance of 4, logarithmic beyond, the other direction in the upper half.
  %bucket = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%row, %col : tensor<11x11xi32>, tensor<11x11xi32>) outs(%e : tensor<11x11xi32>) {
  ^bb0(%r: i32, %c: i32, %o: i32):
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %half = arith.constant 16 : i32
    %top = arith.constant 15 : i32
    %scale = arith.constant 3.0 : f32
    %quarter = arith.constant 0.25 : f32
    %d = arith.subi %c, %r : i32
    %ahead = arith.cmpi sgt, %d, %zero : i32
    %neg = arith.subi %zero, %d : i32
    %abs = arith.maxsi %d, %neg : i32
    %f = arith.sitofp %abs : i32 to f32
    %g = arith.mulf %f, %quarter : f32
    %l = math.log2 %g : f32
    %m = arith.mulf %l, %scale : f32
    %near = arith.cmpi slt, %abs, %four : i32
    %n = arith.constant 0.0 : f32
    %safe = arith.select %near, %n, %m : f32
    %p = arith.fptosi %safe : f32 to i32
    %q = arith.addi %p, %four : i32
    %far = arith.minsi %q, %top : i32
    %s = arith.select %near, %abs, %far : i32
    %t = arith.addi %s, %half : i32
    %u = arith.select %ahead, %t, %s : i32
    linalg.yield %u : i32
  } -> tensor<11x11xi32>
  %biases = linalg.generic {indexing_maps = [#12, #hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bucket : tensor<11x11xi32>) outs(%eh : tensor<7x11x11xf32>) {
  ^bb0(%b: i32, %o: f32):
    %i = arith.index_cast %b : i32 to index
    %h = linalg.index 0 : index
    %v = tensor.extract %bias[%i, %h] : tensor<32x7xf32>
    linalg.yield %v : f32
  } -> tensor<7x11x11xf32>
  // Causal, and not further back than 5.
  %em = tensor.empty() : tensor<11x11xi1>
  %mask = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%row, %col : tensor<11x11xi32>, tensor<11x11xi32>) outs(%em : tensor<11x11xi1>) {
  ^bb0(%r: i32, %c: i32, %o: i1):
    %five = arith.constant 5 : i32
    %causal = arith.cmpi sge, %r, %c : i32
    %d = arith.subi %r, %c : i32
    %window = arith.cmpi slt, %d, %five : i32
    %both = arith.andi %causal, %window : i1
    linalg.yield %both : i1
  } -> tensor<11x11xi1>
  %masked = linalg.generic {indexing_maps = [#hij, #hij, #12, #hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %biases, %mask : tensor<7x11x11xf32>, tensor<7x11x11xf32>, tensor<11x11xi1>) outs(%eh : tensor<7x11x11xf32>) {
  ^bb0(%s: f32, %b: f32, %m: i1, %o: f32):
    %low = arith.constant -1.0e+9 : f32
    %x = arith.addf %s, %b : f32
    %y = arith.select %m, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<7x11x11xf32>
  // One-hot rows of ids.
  %e13 = tensor.empty() : tensor<11x13xf32>
  %hot = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<11xi32>) outs(%e13 : tensor<11x13xf32>) {
  ^bb0(%id: i32, %o: f32):
    %thirteen = arith.constant 13 : i32
    %r = arith.remui %id, %thirteen : i32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %is = arith.cmpi eq, %r, %k : i32
    %f = arith.uitofp %is : i1 to f32
    linalg.yield %f : f32
  } -> tensor<11x13xf32>
  return %masked, %hot : tensor<7x11x11xf32>, tensor<11x13xf32>
}
