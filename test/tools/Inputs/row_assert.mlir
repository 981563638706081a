// Rows of a table by numbers, which have to be its rows.
func.func @main(%ids: tensor<40xi32>, %table: tensor<30x6xf32>) -> tensor<40x6xf32> {
  %e = tensor.empty() : tensor<40x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<40xi32>) outs(%e : tensor<40x6xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %size = arith.constant 30 : index
    %in = arith.cmpi ult, %i, %size : index
    cf.assert %in, "row out of range"
    %v = tensor.extract %table[%i, %j] : tensor<30x6xf32>
    linalg.yield %v : f32
  } -> tensor<40x6xf32>
  return %0 : tensor<40x6xf32>
}
