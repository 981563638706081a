// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{remark-bytes=0})' -o /dev/null

// A weight that lies split and is wanted whole.
shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @gathered(%x: tensor<64x32xf32> {tp.name = "x", tp.sharding = [["dp"], []]},
                    %w: tensor<32x16xf32> {tp.name = "w", tp.role = "param", tp.sharding = [["dp"], []]},
                    %b: tensor<64x16xf32> {tp.sharding = [["dp"], []]}) -> (tensor<64x16xf32> {tp.sharding = [["dp"], []]}) {
  // expected-remark @below {{'linalg.matmul': a weight, argument 1 (w), is gathered over dp for operand 1: 1.5 KiB are sent per device to reshard it from [["dp"], []] to [[], []]}}
  %y = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%b : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
// Splitting would cost a gather in the end.
// expected-remark @below {{'func.func': argument 0 (%x) is replicated on all 4 devices, 20 B on each: no cheaper plan was found that splits it}}
func.func @whole(%x: tensor<5xf32>) -> (tensor<5xf32> {tp.sharding = [[]]}) {
  // expected-remark @below {{'math.exp': result 0 is replicated on all 4 devices, 20 B on each: no cheaper plan was found that splits it}}
  %y = math.exp %x : tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
// expected-remark @below {{'func.func': argument 0 (%x) is replicated on all 4 devices, 12 B on each: its producer cannot split it}}
func.func @small(%x: tensor<3xf32>, %annotated: tensor<3xf32> {tp.sharding = [[]]}) -> (tensor<3xf32> {tp.sharding = [[]]}) {
  return %x : tensor<3xf32>
}

// -----

// One device holds everything.
shard.grid @mesh(shape = 1) {tp.axes = ["dp"]}
func.func @alone(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
