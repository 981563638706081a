// Layouts that are asked for carried values and for the results of branches whose sides have others.
// RUN: shard-run %s
// RUN: shard-run %s --strategy follow
// RUN: shard-run %s --mesh dp=3,tp=2 --launch processes
// Uneven shards come as slices of what was gathered, with its strides.
// RUN: shard-run %s --mesh 5
// RUN: shard-run %s --mesh 4 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @pinned(%x: tensor<6x6xf32> {tp.sharding = [["dp"], ["tp"]]}, %y: tensor<6x6xf32> {tp.sharding = [["tp"], ["dp"]]}, %b: i1) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.if %b -> tensor<6x6xf32> {
    scf.yield %x : tensor<6x6xf32>
  } else {
    scf.yield %y : tensor<6x6xf32>
  } {tp.sharding = [[], ["dp", "tp"]]}
  %s:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %y) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
    %u = arith.addf %p, %r : tensor<6x6xf32>
    scf.yield %q, %u : tensor<6x6xf32>, tensor<6x6xf32>
  } {tp.sharding = [[["dp"], []], [[], ["tp"]]]}
  return %s#0, %s#1 : tensor<6x6xf32>, tensor<6x6xf32>
}
