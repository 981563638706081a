// Keys and values in a ring of three devices: the parts are sent on before the part at hand is computed with, all rows resume their maxima, sums and
// products, and the places of columns follow from the device and the step. Nothing is gathered, and nothing is sent in the last step.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-tile-attention,canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_gather
// CHECK: %[[K1:.*]] = call @tp.permute.700x16xf32(%arg1) {tp.pairs = {{\[}}[0, 2], [1, 0], [2, 1]]}
// CHECK: %[[V1:.*]] = call @tp.permute.700x8xf32(%arg2) {tp.pairs = {{\[}}[0, 2], [1, 0], [2, 1]]}
// CHECK: %[[R:.*]] = shard.process_multi_index on @mesh axes = [0] : index
// CHECK: %[[F0:.*]] = arith.muli %[[R]], %c700 : index
// CHECK: %[[S1:.*]]:3 = scf.for %{{.*}} iter_args({{.*}}) -> (tensor<300xf32>, tensor<300xf32>, tensor<300x8xf32>)
// CHECK: scf.for %[[J:.*]] = %c0 to %c700 step %c350
// CHECK: %[[AT:.*]] = arith.addi %[[F0]], %[[J]]
// CHECK: tensor.extract_slice %arg1[%[[J]], 0] [350, 16]
// CHECK: arith.addi %{{.*}}, %[[AT]]
// CHECK: tensor.extract_slice %arg2[%[[J]], 0] [350, 8]
// CHECK: %[[K2:.*]] = call @tp.permute.700x16xf32(%[[K1]])
// CHECK: %[[V2:.*]] = call @tp.permute.700x8xf32(%[[V1]])
// CHECK: arith.addi %[[R]], %c1
// CHECK: arith.remui %{{.*}}, %c3
// CHECK: %[[S2:.*]]:3 = scf.for %{{.*}} iter_args(%{{.*}} = %[[S1]]#0, %{{.*}} = %[[S1]]#1, %{{.*}} = %[[S1]]#2)
// CHECK: tensor.extract_slice %[[K1]]
// CHECK: tensor.extract_slice %[[V1]]
// CHECK-NOT: call @tp.permute
// CHECK: arith.addi %[[R]], %c2
// CHECK: %[[S3:.*]]:3 = scf.for %{{.*}} iter_args(%{{.*}} = %[[S2]]#0, %{{.*}} = %[[S2]]#1, %{{.*}} = %[[S2]]#2)
// CHECK: tensor.extract_slice %[[K2]]
// CHECK: tensor.extract_slice %[[V2]]
// CHECK-NOT: call @tp.permute
// CHECK-NOT: shard.all_gather
// CHECK: return

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 3) {tp.axes = ["tp"]}
  func.func @main(%q: tensor<300x16xf32>, %k: tensor<700x16xf32>, %v: tensor<700x8xf32>) -> tensor<300x8xf32> {
    %zero = arith.constant 0.0 : f32
    %inf = arith.constant 0xFF800000 : f32
    %keys = shard.all_gather %k on @mesh grid_axes = [0] gather_axis = 0 {tp.ring} : tensor<700x16xf32> -> tensor<2100x16xf32>
    %values = shard.all_gather %v on @mesh grid_axes = [0] gather_axis = 0 {tp.ring} : tensor<700x8xf32> -> tensor<2100x8xf32>
    %es = tensor.empty() : tensor<300x2100xf32>
    %er = tensor.empty() : tensor<300xf32>
    %eo = tensor.empty() : tensor<300x8xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<300x2100xf32>) -> tensor<300x2100xf32>
    %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<300xf32>) -> tensor<300xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<300xf32>) -> tensor<300xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<300x8xf32>) -> tensor<300x8xf32>
    %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %keys : tensor<300x16xf32>, tensor<2100x16xf32>) outs(%s0 : tensor<300x2100xf32>) -> tensor<300x2100xf32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<300x2100xf32>) outs(%es : tensor<300x2100xf32>) {
    ^bb0(%x: f32, %z: f32):
      %j = linalg.index 1 : index
      %c = arith.constant 2000 : index
      %sees = arith.cmpi slt, %j, %c : index
      %y = arith.select %sees, %x, %inf : f32
      linalg.yield %y : f32
    } -> tensor<300x2100xf32>
    %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<300x2100xf32>) outs(%m0 : tensor<300xf32>) {
    ^bb0(%x: f32, %z: f32):
      %y = arith.maximumf %x, %z : f32
      linalg.yield %y : f32
    } -> tensor<300xf32>
    %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %m : tensor<300x2100xf32>, tensor<300xf32>) outs(%es : tensor<300x2100xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %d = arith.subf %x, %y : f32
      %w = math.exp %d : f32
      linalg.yield %w : f32
    } -> tensor<300x2100xf32>
    %l = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<300x2100xf32>) outs(%l0 : tensor<300xf32>) {
    ^bb0(%x: f32, %z: f32):
      %y = arith.addf %x, %z : f32
      linalg.yield %y : f32
    } -> tensor<300xf32>
    %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %l : tensor<300x2100xf32>, tensor<300xf32>) outs(%es : tensor<300x2100xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %d = arith.divf %x, %y : f32
      linalg.yield %d : f32
    } -> tensor<300x2100xf32>
    %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %values : tensor<300x2100xf32>, tensor<2100x8xf32>) outs(%o0 : tensor<300x8xf32>) -> tensor<300x8xf32>
    return %o : tensor<300x8xf32>
  }
}
