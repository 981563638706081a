// Elements of all kinds; tensors of one shape and of elements of one size are permuted by declarations of their own.
// RUN: shard-run %s --mesh 3
// RUN: shard-run %s --mesh 4 --strategy follow --launch processes

#id = affine_map<(d0, d1) -> (d0, d1)>
#back = affine_map<(d0, d1) -> (9 - d0, d1)>
shard.grid @mesh(shape = 3) {tp.axes = ["x"]}
func.func @main(%a0: tensor<10x3xbf16> {tp.sharding = [["x"], []]}, %a1: tensor<10x3xi1> {tp.sharding = [["x"], []]}, %a2: tensor<10x3xi8> {tp.sharding = [["x"], []]}, %a3: tensor<10x3xui8> {tp.sharding = [["x"], []]}, %a4: tensor<10x3xi64> {tp.sharding = [["x"], []]}, %a5: tensor<10x3xindex> {tp.sharding = [["x"], []]}, %a6: tensor<10x3xcomplex<f32>> {tp.sharding = [["x"], []]}) -> (tensor<10x3xbf16>, tensor<10x3xi1>, tensor<10x3xi8>, tensor<10x3xui8>, tensor<10x3xi64>, tensor<10x3xindex>, tensor<10x3xcomplex<f32>>) {
  %e0 = tensor.empty() : tensor<10x3xbf16>
  %0 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<10x3xbf16>) outs(%e0 : tensor<10x3xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    linalg.yield %x : bf16
  } -> tensor<10x3xbf16>
  %e1 = tensor.empty() : tensor<10x3xi1>
  %1 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<10x3xi1>) outs(%e1 : tensor<10x3xi1>) {
  ^bb0(%x: i1, %o: i1):
    linalg.yield %x : i1
  } -> tensor<10x3xi1>
  %e2 = tensor.empty() : tensor<10x3xi8>
  %2 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a2 : tensor<10x3xi8>) outs(%e2 : tensor<10x3xi8>) {
  ^bb0(%x: i8, %o: i8):
    linalg.yield %x : i8
  } -> tensor<10x3xi8>
  %e3 = tensor.empty() : tensor<10x3xui8>
  %3 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a3 : tensor<10x3xui8>) outs(%e3 : tensor<10x3xui8>) {
  ^bb0(%x: ui8, %o: ui8):
    linalg.yield %x : ui8
  } -> tensor<10x3xui8>
  %e4 = tensor.empty() : tensor<10x3xi64>
  %4 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a4 : tensor<10x3xi64>) outs(%e4 : tensor<10x3xi64>) {
  ^bb0(%x: i64, %o: i64):
    linalg.yield %x : i64
  } -> tensor<10x3xi64>
  %e5 = tensor.empty() : tensor<10x3xindex>
  %5 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a5 : tensor<10x3xindex>) outs(%e5 : tensor<10x3xindex>) {
  ^bb0(%x: index, %o: index):
    linalg.yield %x : index
  } -> tensor<10x3xindex>
  %e6 = tensor.empty() : tensor<10x3xcomplex<f32>>
  %6 = linalg.generic {tp.sharding = [[["x"], []]], indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a6 : tensor<10x3xcomplex<f32>>) outs(%e6 : tensor<10x3xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    linalg.yield %x : complex<f32>
  } -> tensor<10x3xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<10x3xbf16>, tensor<10x3xi1>, tensor<10x3xi8>, tensor<10x3xui8>, tensor<10x3xi64>, tensor<10x3xindex>, tensor<10x3xcomplex<f32>>
}
