// An op that only its rule is known of is sharded, but not compiled: who has it lowers it before.
// RUN: shard-opt %s --verify-diagnostics --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd,tp-to-runtime)'

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8xf32> {tp.sharding = [["x"]]}) -> (tensor<8xf32> {tp.sharding = [["x"]]}) {
  // expected-error @below {{'my.double': cannot be lowered to machine code; rewrite it with linalg, tensor, scf and arith ops between tp-partition and tp-to-runtime}}
  %r = "my.double"(%a) {tp.rule = "([i])->([i])"} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
