// boundary=whole also holds for layouts that the producer of a result makes: a sum of 4x2 elements is computed by 8 devices in
// groups of 4 and 2, but no PartitionSpec of JAX says so.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=any})' | FileCheck %s --check-prefix=ANY
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=whole})' | FileCheck %s --check-prefix=WHOLE

// ANY: func.func @main({{.*}}x:(
// WHOLE: func.func @main(
// WHOLE-NOT: x:(
// WHOLE-SAME: attributes {tp.plan
shard.grid @mesh(shape = 8) {tp.axes = ["x"]}
func.func @main(%x: tensor<4x2x4096xf32>) -> tensor<4x2x12xf32> {
  %e = tensor.empty() : tensor<4x2x12xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2x12xf32>) -> tensor<4x2x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, k) -> (a, b, k)>, affine_map<(a, b, c, k) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : tensor<4x2x4096xf32>) outs(%f : tensor<4x2x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x2x12xf32>
  return %y : tensor<4x2x12xf32>
}
