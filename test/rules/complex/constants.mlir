// Constants, fills, padding and reshapes of complex<f64>.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 1x3 --output=@%t.0.npy --output=@%t.1.npy
// RUN: shard-run %s --mesh 1x2 --expected-output=@%t.0.npy --expected-output=@%t.1.npy | FileCheck %s
// CHECK: result 1: 3x2xcomplex<f64>
// CHECK: against expected ok: error 0

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<3x2xcomplex<f64>> {tp.sharding = [["x"], ["y"]]})
    -> (tensor<3x2xcomplex<f64>> {tp.sharding = [["x"], []]}, tensor<3x2xcomplex<f64>> {tp.sharding = [["x"], ["y"]]}, tensor<3x2xcomplex<f64>> {tp.sharding = [[], ["x"]]}, tensor<6xcomplex<f64>> {tp.sharding = [["x"]]}, tensor<6x2xcomplex<f64>>{tp.sharding = [["x"], []]}) {
  %a = arith.constant dense<[[(1.0, 2.0), (3.0, 4.0)], [(5.0, 6.0), (7.0, 8.0)], [(-1.0, 0.5), (0.0, -0.0)]]> : tensor<3x2xcomplex<f64>>
  %b = arith.constant dense<(1.5, -2.5)> : tensor<3x2xcomplex<f64>>
  %c = arith.constant dense<(0.0, 0.0)> : tensor<3x2xcomplex<f64>>
  %e = tensor.empty() : tensor<3x2xcomplex<f64>>
  %s = linalg.add ins(%a, %x : tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) outs(%e : tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  %t = linalg.mul ins(%s, %b : tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) outs(%e : tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  %r = tensor.collapse_shape %t [[0, 1]] : tensor<3x2xcomplex<f64>> into tensor<6xcomplex<f64>>
  %z = complex.constant [2.0, 1.0] : complex<f64>
  %p = tensor.pad %t low[1, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : complex<f64>
  } : tensor<3x2xcomplex<f64>> to tensor<6x2xcomplex<f64>>
  return %s, %t, %c, %r, %p : tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6x2xcomplex<f64>>
}
