// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

// Each device would read all of 64.
shard.grid @mesh(shape = 64) {tp.axes = ["x"]}
func.func @pieces(%a: tensor<319xf32>) -> tensor<64xf32> {
  %z = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<256xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @+1 {{'linalg.generic': result 0: what each of 64 shards of it reads of dimension 0 (size 319) of operand 0 lies on more than 16 devices; constrain it with a shard.shard behind the op instead}}
  %0 = linalg.generic {tp.sharding = [[["x"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<319xf32>, tensor<256xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// The same without a pin on the op: its operand is gathered.
shard.grid @mesh(shape = 64) {tp.axes = ["x"]}
func.func @gathered(%a: tensor<319xf32> {tp.sharding = [["x"]]}) -> (tensor<64xf32> {tp.sharding = [["x"]]}) {
  %z = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<256xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<319xf32>, tensor<256xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
