// Powers of 0 that every library agrees on: 0 to the power 0 is 1 (numpy and XLA say so, too), to the powers 1 and 2
// it is 0. The exponents are the columns; the base is x - x.
// RUN: shard-run %s --mesh 2 --reference=evaluator --output @%t.npy
// RUN: %python -c "import struct; raw = open(r'%t.npy', 'rb').read()[-96:]; assert struct.unpack('24f', raw) == (1, 0, 0, 0, 0, 0) * 4, struct.unpack('24f', raw)"
func.func @main(%x: tensor<4x3xf32> {tp.sharding = [["tp"], []]}) -> tensor<4x3xcomplex<f32>> {
  %empty = tensor.empty() : tensor<4x3xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%empty : tensor<4x3xcomplex<f32>>) {
  ^bb0(%a: f32, %o: complex<f32>):
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %j : index to i32
    %n = arith.sitofp %i32 : i32 to f32
    %zero = arith.subf %a, %a : f32
    %base = complex.create %zero, %zero : complex<f32>
    %power = complex.create %n, %zero : complex<f32>
    %p = complex.pow %base, %power : complex<f32>
    linalg.yield %p : complex<f32>
  } -> tensor<4x3xcomplex<f32>>
  return %r : tensor<4x3xcomplex<f32>>
}
