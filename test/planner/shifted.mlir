// RUN: shard-oracle --steps 200000 --edits 4 %s | FileCheck %s
// CHECK: equal, and none beyond what is offered costs less         1

// Slices that are read in place, in every plan that is tried: by two rotations, by a pad that shifts, and slices of a pad. The second rotation
// reads what an elementwise op made, and its result is wanted in another layout.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%x: tensor<16x8xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x8xf32>, tensor<16x8xf32> {tp.sharding = [[], ["x"]]}, tensor<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %end = tensor.extract_slice %x[11, 0] [5, 8] [1, 1] : tensor<16x8xf32> to tensor<5x8xf32>
  %start = tensor.extract_slice %x[0, 0] [11, 8] [1, 1] : tensor<16x8xf32> to tensor<11x8xf32>
  %rotated = tensor.concat dim(0) %end, %start : (tensor<5x8xf32>, tensor<11x8xf32>) -> tensor<16x8xf32>
  %tanh = math.tanh %rotated : tensor<16x8xf32>
  %last = tensor.extract_slice %tanh[0, 7] [16, 1] [1, 1] : tensor<16x8xf32> to tensor<16x1xf32>
  %others = tensor.extract_slice %tanh[0, 0] [16, 7] [1, 1] : tensor<16x8xf32> to tensor<16x7xf32>
  %again = tensor.concat dim(1) %last, %others : (tensor<16x1xf32>, tensor<16x7xf32>) -> tensor<16x8xf32>
  %shifted = tensor.pad %start low[5, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<11x8xf32> to tensor<16x8xf32>
  %padded = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x8xf32> to tensor<18x8xf32>
  %next = tensor.extract_slice %padded[2, 0] [16, 8] [1, 1] : tensor<18x8xf32> to tensor<16x8xf32>
  %sum = arith.addf %shifted, %next : tensor<16x8xf32>
  return %rotated, %again, %sum : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
