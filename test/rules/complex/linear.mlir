// Sums of complex numbers stay partial through what is linear, and are combined once.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2 strategy=follow})' | FileCheck %s
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow

#m = affine_map<(i) -> (i)>
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK-NOT: shard.all_
// CHECK: complex.conj
// CHECK: complex.im
// CHECK: linalg.yield
// CHECK: shard.all_reduce {{.*}} -> tensor<64xf32>
// CHECK-NOT: shard.
// CHECK: return
func.func @main(%x: tensor<64x300xcomplex<f32>> {tp.sharding = [[], ["x"]]}) -> (tensor<64xf32> {tp.sharding = [[]]}) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %some = complex.constant [1.5 : f32, -2.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<64xcomplex<f32>>
  %f = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>>
  %s = linalg.reduce { complex.add } ins(%x : tensor<64x300xcomplex<f32>>) outs(%f : tensor<64xcomplex<f32>>) dimensions = [1]
  %er = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%s : tensor<64xcomplex<f32>>) outs(%er : tensor<64xf32>) {
  ^bb0(%v: complex<f32>, %o: f32):
    %a = complex.mul %v, %some : complex<f32>
    %b = complex.conj %a : complex<f32>
    %c = complex.im %b : complex<f32>
    linalg.yield %c : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
