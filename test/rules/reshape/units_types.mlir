// Units of every type of element move.
// RUN: shard-run %s --mesh 1x3 --strategy follow
// RUN: shard-run %s --mesh 1x5 --strategy follow --launch processes

func.func @main(%a: tensor<4x16xi1> {tp.sharding = [["tp"], []]}, %b: tensor<4x16xi8> {tp.sharding = [["tp"], []]},
                %c: tensor<4x16xbf16> {tp.sharding = [["tp"], []]}, %d: tensor<4x16xf16> {tp.sharding = [["tp"], []]},
                %e: tensor<4x16xcomplex<f32>> {tp.sharding = [["tp"], []]}, %f: tensor<4x16xi64> {tp.sharding = [["tp"], []]},
                %g: tensor<4x16xf64> {tp.sharding = [["tp"], []]})
    -> (tensor<64xi1> {tp.sharding = [["tp"]]}, tensor<64xi8> {tp.sharding = [["tp"]]}, tensor<64xbf16> {tp.sharding = [["tp"]]},
        tensor<64xf16> {tp.sharding = [["tp"]]}, tensor<64xcomplex<f32>> {tp.sharding = [["tp"]]}, tensor<64xi64> {tp.sharding = [["tp"]]},
        tensor<64xf64> {tp.sharding = [["tp"]]}) {
  %a1 = tensor.collapse_shape %a [[0, 1]] : tensor<4x16xi1> into tensor<64xi1>
  %b1 = tensor.collapse_shape %b [[0, 1]] : tensor<4x16xi8> into tensor<64xi8>
  %c1 = tensor.collapse_shape %c [[0, 1]] : tensor<4x16xbf16> into tensor<64xbf16>
  %d1 = tensor.collapse_shape %d [[0, 1]] : tensor<4x16xf16> into tensor<64xf16>
  %e1 = tensor.collapse_shape %e [[0, 1]] : tensor<4x16xcomplex<f32>> into tensor<64xcomplex<f32>>
  %f1 = tensor.collapse_shape %f [[0, 1]] : tensor<4x16xi64> into tensor<64xi64>
  %g1 = tensor.collapse_shape %g [[0, 1]] : tensor<4x16xf64> into tensor<64xf64>
  return %a1, %b1, %c1, %d1, %e1, %f1, %g1 : tensor<64xi1>, tensor<64xi8>, tensor<64xbf16>, tensor<64xf16>, tensor<64xcomplex<f32>>, tensor<64xi64>, tensor<64xf64>
}
