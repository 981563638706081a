// Every op of the complex dialect, in bodies of linalg.generic, over 5 x 6 elements in shards that are even and uneven.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow

#id = affine_map<(i, j) -> (i, j)>
shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]}, %y: tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, %a: tensor<5x6xf32>, %n: tensor<5x6xi32>)
    -> (tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xf32> {tp.sharding = [["y"], []]},
     tensor<5x6xf32> {tp.sharding = [[], ["x"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]}, tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]}, tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]}, tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]}, tensor<5x6xi1> {tp.sharding = [[], ["x"]]},
     tensor<5x6xi1> {tp.sharding = [["x"], ["y"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["y"], []]},
     tensor<5x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, tensor<5x6xcomplex<f32>> {tp.sharding = [["x"], ["y"]]}) {
  %e0 = tensor.empty() : tensor<5x6xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e0 : tensor<5x6xf32>) {
  ^bb0(%v0: complex<f32>, %o: f32):
    %t = complex.abs %v0 : complex<f32>
    linalg.yield %t : f32
  } -> tensor<5x6xf32>
  %e1 = tensor.empty() : tensor<5x6xf32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e1 : tensor<5x6xf32>) {
  ^bb0(%v0: complex<f32>, %o: f32):
    %t = complex.angle %v0 : complex<f32>
    linalg.yield %t : f32
  } -> tensor<5x6xf32>
  %e2 = tensor.empty() : tensor<5x6xf32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e2 : tensor<5x6xf32>) {
  ^bb0(%v0: complex<f32>, %o: f32):
    %t = complex.re %v0 : complex<f32>
    linalg.yield %t : f32
  } -> tensor<5x6xf32>
  %e3 = tensor.empty() : tensor<5x6xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e3 : tensor<5x6xf32>) {
  ^bb0(%v0: complex<f32>, %o: f32):
    %t = complex.im %v0 : complex<f32>
    linalg.yield %t : f32
  } -> tensor<5x6xf32>
  %e4 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e4 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.cos %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e5 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e5 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.exp %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e6 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e6 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.expm1 %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e7 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e7 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.log %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e8 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e8 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.log1p %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e9 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e9 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.neg %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e10 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r10 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e10 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.rsqrt %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e11 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r11 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e11 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.sign %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e12 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r12 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e12 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.sin %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e13 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r13 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e13 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.sqrt %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e14 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r14 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e14 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.tanh %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e15 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r15 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e15 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.tan %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e16 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r16 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x6xcomplex<f32>>) outs(%e16 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %o: complex<f32>):
    %t = complex.conj %v0 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e17 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r17 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e17 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.add %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e18 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r18 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e18 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.sub %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e19 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r19 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e19 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.mul %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e20 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r20 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e20 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.div %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e21 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r21 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e21 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.atan2 %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e22 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r22 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e22 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: complex<f32>):
    %t = complex.pow %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e23 = tensor.empty() : tensor<5x6xi1>
  %r23 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e23 : tensor<5x6xi1>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: i1):
    %t = complex.eq %v0, %v1 : complex<f32>
    linalg.yield %t : i1
  } -> tensor<5x6xi1>
  %e24 = tensor.empty() : tensor<5x6xi1>
  %r24 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) outs(%e24 : tensor<5x6xi1>) {
  ^bb0(%v0: complex<f32>, %v1: complex<f32>, %o: i1):
    %t = complex.neq %v0, %v1 : complex<f32>
    linalg.yield %t : i1
  } -> tensor<5x6xi1>
  %e25 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r25 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e25 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: f32, %v1: f32, %o: complex<f32>):
    %t = complex.create %v0, %v1 : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e26 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r26 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %n : tensor<5x6xcomplex<f32>>, tensor<5x6xi32>) outs(%e26 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%v0: complex<f32>, %v1: i32, %o: complex<f32>):
    %t = complex.powi %v0, %v1 : complex<f32>, i32
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  %e27 = tensor.empty() : tensor<5x6xcomplex<f32>>
  %r27 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e27 : tensor<5x6xcomplex<f32>>) {
  ^bb0(%o: complex<f32>):
    %t = complex.constant [1.0 : f32, -2.0 : f32] : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5x6xcomplex<f32>>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27
      : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xi1>, tensor<5x6xi1>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>
}
