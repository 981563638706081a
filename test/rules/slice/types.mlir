// Elements of other types than numbers, and negative zeros: what is taken out of a split dimension, and put into it, is the same bit for bit.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2

shard.grid @mesh(shape = 2x2) {tp.axes = ["y", "x"]}
func.func @main(%a: tensor<9xcomplex<f32>> {tp.sharding = [["x"]]}, %b: tensor<9xf32> {tp.sharding = [["x"]]}, %c: tensor<9xbf16> {tp.sharding = [["x"]]},
                %d: tensor<9xi64> {tp.sharding = [["x"]]})
    -> (tensor<4xcomplex<f32>>, tensor<9xcomplex<f32>> {tp.sharding = [["x"]]}, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi64>, tensor<7xcomplex<f32>>) {
  %c3 = arith.constant 3 : index
  %cut = tensor.extract_slice %a[%c3] [4] [1] {tp.factors = {x = 0}} : tensor<9xcomplex<f32>> to tensor<4xcomplex<f32>>
  %put = tensor.insert_slice %cut into %a[%c3] [4] [1] {tp.factors = {x = 0}} : tensor<4xcomplex<f32>> into tensor<9xcomplex<f32>>
  %zero = arith.constant dense<0.0> : tensor<9xf32>
  %signed = arith.mulf %b, %zero : tensor<9xf32>
  %some = tensor.extract_slice %signed[%c3] [4] [1] {tp.factors = {x = 0}} : tensor<9xf32> to tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %sign = math.copysign %one, %some : tensor<4xf32>
  %empty = tensor.empty() : tensor<9xcomplex<f32>>
  %pairs = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%signed : tensor<9xf32>) outs(%empty : tensor<9xcomplex<f32>>) {
  ^bb0(%v: f32, %o: complex<f32>):
    %z = complex.create %v, %v : complex<f32>
    linalg.yield %z : complex<f32>
  } -> tensor<9xcomplex<f32>>
  %pair = tensor.extract_slice %pairs[%c3] [4] [1] {tp.factors = {x = 0}} : tensor<9xcomplex<f32>> to tensor<4xcomplex<f32>>
  %parts = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%pair, %one : tensor<4xcomplex<f32>>, tensor<4xf32>) outs(%one : tensor<4xf32>) {
  ^bb0(%z: complex<f32>, %l: f32, %o: f32):
    %re = complex.re %z : complex<f32>
    %im = complex.im %z : complex<f32>
    %x = math.copysign %l, %re : f32
    %y = math.copysign %l, %im : f32
    %two = arith.addf %y, %y : f32
    %sum = arith.addf %x, %two : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %half = tensor.extract_slice %c[%c3] [4] [1] {tp.factors = {x = 0}} : tensor<9xbf16> to tensor<4xbf16>
  %index = arith.index_cast %d : tensor<9xi64> to tensor<9xindex>
  %places = tensor.extract_slice %index[%c3] [4] [1] : tensor<9xindex> to tensor<4xindex>
  %back = arith.index_cast %places : tensor<4xindex> to tensor<4xi64>
  %known = tensor.extract_slice %a[1] [7] [1] {tp.factors = {x = 0}} : tensor<9xcomplex<f32>> to tensor<7xcomplex<f32>>
  return %cut, %put, %sign, %parts, %half, %back, %known
      : tensor<4xcomplex<f32>>, tensor<9xcomplex<f32>>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi64>, tensor<7xcomplex<f32>>
}
