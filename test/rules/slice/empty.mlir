// Slices of nothing, padding whose width is a value of the run, a pad that pads nothing: the dimension stays whole where it has to.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=5 --strategy follow

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<12xf32> {tp.sharding = [["x"]]}, %v: f32) -> (tensor<7xf32> {tp.sharding = [["x"]]}, tensor<15xf32>, tensor<12xf32>, tensor<0xf32>, tensor<12xf32>,tensor<12xf32>) {
  %c2 = arith.constant 2 : index
  %dyn = tensor.pad %a low[%c2] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<12xf32> to tensor<15xf32>
  %nofold = tensor.pad %a nofold low[0] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<12xf32> to tensor<12xf32>
  %zero = tensor.extract_slice %a[5] [0] [1] : tensor<12xf32> to tensor<0xf32>
  %cat = tensor.concat dim(0) %zero, %a : (tensor<0xf32>, tensor<12xf32>) -> tensor<12xf32>
  %put = tensor.insert_slice %zero into %a[4] [0] [1] : tensor<0xf32> into tensor<12xf32>
  %pad = tensor.pad %zero low[3] high[4] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<0xf32> to tensor<7xf32>
  return %pad, %dyn, %nofold, %zero, %cat, %put
      : tensor<7xf32>, tensor<15xf32>, tensor<12xf32>, tensor<0xf32>, tensor<12xf32>, tensor<12xf32>
}
