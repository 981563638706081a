// What gather, scatter, pack, unpack and reshape compute, against tensors written element by element: the program asserts that they are equal.
// RUN: shard-run %s --mesh 1
// RUN: shard-run %s --mesh 2x2

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}

func.func private @same(%a: tensor<24xf32>, %b: tensor<24xf32>) {
  %false = arith.constant false
  %true = arith.constant true
  %e = tensor.empty() : tensor<i1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<i1>) -> tensor<i1>
  %c = arith.cmpf une, %a, %b : tensor<24xf32>
  %r = linalg.reduce { arith.ori } ins(%c : tensor<24xi1>) outs(%f : tensor<i1>) dimensions = [0]
  %d = tensor.extract %r[] : tensor<i1>
  %ok = arith.xori %d, %true : i1
  cf.assert %ok, "the values differ"
  return
}

func.func @main(%x: tensor<4x6xf32> {tp.sharding = [["x"], ["y"]]}, %u: tensor<2x6xf32> {tp.sharding = [[], ["x"]]}, %o: tensor<2x2x2x3xf32>, %p: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index

  // Rows 3, 1, 0, 1, columns 5 - j by their coordinates.
  %rows = arith.constant dense<[[3], [1], [0], [1]]> : tensor<4x1xindex>
  %g = tensor.gather %x[%rows] gather_dims([0]) : (tensor<4x6xf32>, tensor<4x1xindex>) -> tensor<4x6xf32>
  %g_want = tensor.generate {
  ^bb0(%i: index, %j: index):
    %r = tensor.extract %rows[%i, %c0] : tensor<4x1xindex>
    %v = tensor.extract %x[%r, %j] : tensor<4x6xf32>
    tensor.yield %v : f32
  } : tensor<4x6xf32>
  %g_flat = tensor.collapse_shape %g [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %g_want_flat = tensor.collapse_shape %g_want [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  func.call @same(%g_flat, %g_want_flat) : (tensor<24xf32>, tensor<24xf32>) -> ()

  // Rows 2 and 0 are those of %u, the others stay.
  %at = arith.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %s = tensor.scatter %u into %x[%at] scatter_dims([0]) unique : (tensor<2x6xf32>, tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<4x6xf32>
  %s_want = tensor.generate {
  ^bb0(%i: index, %j: index):
    %is_2 = arith.cmpi eq, %i, %c2 : index
    %is_0 = arith.cmpi eq, %i, %c0 : index
    %row = arith.select %is_2, %c0, %c1 : index
    %new = tensor.extract %u[%row, %j] : tensor<2x6xf32>
    %old = tensor.extract %x[%i, %j] : tensor<4x6xf32>
    %is_new = arith.ori %is_2, %is_0 : i1
    %v = arith.select %is_new, %new, %old : f32
    tensor.yield %v : f32
  } : tensor<4x6xf32>
  %s_flat = tensor.collapse_shape %s [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %s_want_flat = tensor.collapse_shape %s_want [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  func.call @same(%s_flat, %s_want_flat) : (tensor<24xf32>, tensor<24xf32>) -> ()

  // Tile (a, b) has the elements (2 a + i, 3 b + j); tiles are laid out with b before a.
  %k = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %o : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  %k_want = tensor.generate {
  ^bb0(%b: index, %a: index, %i: index, %j: index):
    %a2 = arith.muli %a, %c2 : index
    %b3 = arith.muli %b, %c3 : index
    %row = arith.addi %a2, %i : index
    %column = arith.addi %b3, %j : index
    %v = tensor.extract %x[%row, %column] : tensor<4x6xf32>
    tensor.yield %v : f32
  } : tensor<2x2x2x3xf32>
  %k_flat = tensor.collapse_shape %k [[0, 1, 2, 3]] : tensor<2x2x2x3xf32> into tensor<24xf32>
  %k_want_flat = tensor.collapse_shape %k_want [[0, 1, 2, 3]] : tensor<2x2x2x3xf32> into tensor<24xf32>
  func.call @same(%k_flat, %k_want_flat) : (tensor<24xf32>, tensor<24xf32>) -> ()

  %n = linalg.unpack %k outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %p : tensor<2x2x2x3xf32> -> tensor<4x6xf32>
  %n_flat = tensor.collapse_shape %n [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %x_flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  func.call @same(%n_flat, %x_flat) : (tensor<24xf32>, tensor<24xf32>) -> ()

  %shape = arith.constant dense<[3, 8]> : tensor<2xindex>
  %h = tensor.reshape %x(%shape) : (tensor<4x6xf32>, tensor<2xindex>) -> tensor<3x8xf32>
  %h_flat = tensor.collapse_shape %h [[0, 1]] : tensor<3x8xf32> into tensor<24xf32>
  func.call @same(%h_flat, %x_flat) : (tensor<24xf32>, tensor<24xf32>) -> ()
  return %n : tensor<4x6xf32>
}
