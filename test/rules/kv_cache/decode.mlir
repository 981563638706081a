// Decoding with a cache that is split along the sequence: each step puts a row at its position and attends to all of them. Every device keeps its
// part of the cache, and changes it in place; what goes over the wire does not grow with it.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 5 --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2},tp-optimize-local,tp-lower-to-runtime,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=1},canonicalize,cse)' | FileCheck %s --check-prefix=PLACE

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.{{.*}} tensor<1x640x8xf32>
// CHECK: tensor.insert_slice {{.*}} into %{{.*}}[0, %{{.*}}, 0] [1, 1, 8] [1, 1, 1] : tensor<1x1x8xf32> into tensor<1x640x8xf32>
// CHECK-NOT: shard.{{.*}} tensor<1x640x8xf32>
// CHECK: return

// The one copy of the cache is that of the argument, in front of the loop.
// PLACE-LABEL: func.func @main(
// PLACE: memref.copy {{.*}} memref<1x640x8xf32>
// PLACE: scf.for
// PLACE-NOT: memref.copy {{.*}}1x640x8xf32
// PLACE-NOT: memref.alloc{{.*}}1x640x8xf32
// PLACE: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["b", "s"]}
func.func @main(%q: tensor<2x8xf32> {tp.sharding = [["b"], []]}, %cache: tensor<2x1280x8xf32> {tp.sharding = [["b"], ["s"], []]}, %first: tensor<i32>)
    -> (tensor<2x8xf32> {tp.sharding = [["b"], []]}, tensor<2x1280x8xf32> {tp.sharding = [["b"], ["s"], []]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %c0_i32 = arith.constant 0 : i32
  %c1276 = arith.constant 1276 : i32
  %raw = tensor.extract %first[] : tensor<i32>
  %low = arith.maxsi %raw, %c0_i32 : i32
  %high = arith.minsi %low, %c1276 : i32
  %start = arith.index_cast %high : i32 to index
  %x, %done = scf.for %i = %c0 to %steps step %c1 iter_args(%h = %q, %kv = %cache) -> (tensor<2x8xf32>, tensor<2x1280x8xf32>) {
    %at = arith.addi %start, %i : index
    %new = tensor.insert_slice %h into %kv[0, %at, 0] [2, 1, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x1280x8xf32>
    %se = tensor.empty() : tensor<2x1280xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x1280xf32>) -> tensor<2x1280xf32>
    %scores = linalg.generic {indexing_maps = [affine_map<(b, s, c) -> (b, c)>, affine_map<(b, s, c) -> (b, s, c)>, affine_map<(b, s, c) -> (b, s)>],
                              iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%h, %new : tensor<2x8xf32>, tensor<2x1280x8xf32>) outs(%s0 : tensor<2x1280xf32>) {
    ^bb0(%a: f32, %k: f32, %acc: f32):
      %m = arith.mulf %a, %k : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x1280xf32>
    %weights = linalg.generic {indexing_maps = [affine_map<(b, s) -> (b, s)>, affine_map<(b, s) -> (b, s)>], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<2x1280xf32>) outs(%se : tensor<2x1280xf32>) {
    ^bb0(%v: f32, %o: f32):
      %t = math.tanh %v : f32
      linalg.yield %t : f32
    } -> tensor<2x1280xf32>
    %he = tensor.empty() : tensor<2x8xf32>
    %h0 = linalg.fill ins(%zero : f32) outs(%he : tensor<2x8xf32>) -> tensor<2x8xf32>
    %out = linalg.generic {indexing_maps = [affine_map<(b, c, s) -> (b, s)>, affine_map<(b, c, s) -> (b, s, c)>, affine_map<(b, c, s) -> (b, c)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%weights, %new : tensor<2x1280xf32>, tensor<2x1280x8xf32>) outs(%h0 : tensor<2x8xf32>) {
    ^bb0(%w: f32, %k: f32, %acc: f32):
      %m = arith.mulf %w, %k : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x8xf32>
    scf.yield %out, %new : tensor<2x8xf32>, tensor<2x1280x8xf32>
  }
  return %x, %done : tensor<2x8xf32>, tensor<2x1280x8xf32>
}
