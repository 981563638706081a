// The maximum and the sums of an online softmax in one loop: with -inf in front, behind and all over, with and without a guard, and weighted sums.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=2x4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x2
// RUN: shard-run %s --mesh 2x4 --launch processes

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// The maxima first; each part starts from the greatest element before it; then maxima and sums.
// CHECK-LABEL: func.func @main
// CHECK: arith.maximumf
// CHECK: shard.all_gather
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-COUNT-2: shard.all_gather
// CHECK: iterator_types = ["reduction", "parallel"]
func.func @main(%a: tensor<6x9xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<9xf32> {tp.sharding = [["tp"]]}, %m0: tensor<6xf32>, %s0: tensor<6xf32>)
    -> (tensor<6xf32> {tp.sharding = [[]]}, tensor<6xf32> {tp.sharding = [[]]}, tensor<6xf32> {tp.sharding = [[]]}, tensor<6xf32> {tp.sharding = [[]]}, tensor<6xf32> {tp.sharding = [[]]}, tensor<6xf32>, tensor<6xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %max = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %sum = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  // Row 0: -inf from the fourth element on. Row 1: -inf everywhere. Row 2: in the middle. The first element of the rows is finite but for row 1 and 3.
  %ea = tensor.empty() : tensor<6x9xf32>
  %x = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x9xf32>) outs(%ea : tensor<6x9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %row = linalg.index 0 : index
    %col = linalg.index 1 : index
    %r0 = arith.cmpi eq, %row, %c0 : index
    %r1 = arith.cmpi eq, %row, %c1 : index
    %r2 = arith.cmpi eq, %row, %c2 : index
    %r3 = arith.cmpi eq, %row, %c3 : index
    %behind = arith.cmpi uge, %col, %c3 : index
    %before = arith.cmpi ult, %col, %c6 : index
    %middle = arith.andi %behind, %before : i1
    %m0x = arith.andi %r0, %behind : i1
    %m2x = arith.andi %r2, %middle : i1
    %m3x = arith.andi %r3, %before : i1
    %m01 = arith.ori %m0x, %r1 : i1
    %m23 = arith.ori %m2x, %m3x : i1
    %m = arith.ori %m01, %m23 : i1
    %y = arith.select %m, %least, %v : f32
    linalg.yield %y : f32
  } -> tensor<6x9xf32>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x9xf32>) outs(%max, %sum : tensor<6xf32>, tensor<6xf32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%v: f32, %m: f32, %s: f32):
    %n = arith.maximumf %m, %v : f32
    %d = arith.subf %m, %n : f32
    %f = math.exp %d : f32
    %b = arith.subf %v, %n : f32
    %p = math.exp %b : f32
    %t = arith.mulf %s, %f : f32
    %u = arith.addf %t, %p : f32
    linalg.yield %n, %u : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  // Guarded, with a weighted sum, to the base of 2; a part of the loop that goes on from given values.
  %1:3 = linalg.generic {indexing_maps = [#ij, #j, #i, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<6x9xf32>, tensor<9xf32>) outs(%max, %sum, %sum : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%v: f32, %q: f32, %m: f32, %s: f32, %z: f32):
    %n = arith.maximumf %v, %m : f32
    %is = arith.cmpf oeq, %n, %least : f32
    %g = arith.select %is, %zero, %n : f32
    %d = arith.subf %m, %g : f32
    %f = math.exp2 %d : f32
    %b = arith.subf %v, %g : f32
    %p = math.exp2 %b : f32
    %t = arith.mulf %f, %s : f32
    %u = arith.addf %p, %t : f32
    %h = arith.mulf %z, %f : f32
    %pq = arith.mulf %p, %q : f32
    %k = arith.addf %h, %pq : f32
    linalg.yield %n, %u, %k : f32, f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %2:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x9xf32>) outs(%s0, %m0 : tensor<6xf32>, tensor<6xf32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%v: f32, %s: f32, %m: f32):
    %n = arith.maxnumf %m, %v : f32
    %d = arith.subf %m, %n : f32
    %f = math.exp %d : f32
    %b = arith.subf %v, %n : f32
    %p = math.exp %b : f32
    %t = arith.mulf %s, %f : f32
    %u = arith.addf %t, %p : f32
    linalg.yield %u, %n : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  return %0#0, %0#1, %1#0, %1#1, %1#2, %2#0, %2#1 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
