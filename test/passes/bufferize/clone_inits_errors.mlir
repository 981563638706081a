// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(canonicalize,tp-clone-inits)'

// Nothing is read any more once x ^ x is 0: bufferization would take the init for an empty one.
func.func @folded(%x: tensor<7xi32>, %o: tensor<15xi32>) -> tensor<15xi32> {
  // expected-error @below {{'linalg.generic': may leave elements of a result as they are in its init, which the body does not read (a diagonal, a stride, one place, loops over nothing); yield a select between the new value and the init in each place, or start from tensor.empty}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi32>) outs(%o : tensor<15xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.xori %out, %out : i32
    %1 = arith.addi %0, %in : i32
    linalg.yield %1 : i32
  } -> tensor<15xi32>
  return %r : tensor<15xi32>
}
