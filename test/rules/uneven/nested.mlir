// One dimension over two axes: 10 on 2x4 are buffers of 5, then 2, of which one is empty. Reductions, a product, offsets; parts of one axis; ops
// whose body follows from their name.
// RUN: shard-run %s --mesh 2x4
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x4 --strategy follow
// RUN: shard-run %s --mesh 3x4

#id = affine_map<(d0, d1) -> (d0, d1)>
#cols = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<10x5xf32> {tp.sharding = [["dp", "tp"], []]}, %b: tensor<10x3xf32> {tp.sharding = [["dp", "tp"], []]}, %c: tensor<9x5xi32> {tp.sharding = [["tp:(2)2"], ["tp:(1)2"]]},
                %d: tensor<11x7xf32> {tp.sharding = [["tp"], []]}, %e: tensor<10x5xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<5xf32>, tensor<f32>, tensor<5x3xf32>, tensor<9x5xi32>, tensor<9x5xi32>, tensor<11x7xf32> {tp.sharding = [[], ["tp"]]}, tensor<5xf32> {tp.sharding = [["tp"]]}, tensor<10x5xi32>) {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<5xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<5xf32>) -> tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #cols], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<10x5xf32>) outs(%f0 : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %w = arith.sitofp %k : i32 to f32
    %y = arith.mulf %x, %w : f32
    %v = arith.addf %acc, %y : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %e1 = tensor.empty() : tensor<f32>
  %one = arith.constant 1.0 : f32
  %f1 = linalg.fill ins(%one : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<10x5xf32>) outs(%f1 : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.minimumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %t = tensor.empty() : tensor<5x10xf32>
  %at = linalg.transpose ins(%a : tensor<10x5xf32>) outs(%t : tensor<5x10xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<5x3xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %2 = linalg.matmul ins(%at, %b : tensor<5x10xf32>, tensor<10x3xf32>) outs(%f2 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %s = arith.constant dense<1> : tensor<9x5xi32>
  %n = arith.addi %c, %s : tensor<9x5xi32>
  %e3 = tensor.empty() : tensor<9x5xi32>
  %3 = linalg.div ins(%s, %n : tensor<9x5xi32>, tensor<9x5xi32>) outs(%e3 : tensor<9x5xi32>) -> tensor<9x5xi32>
  %4 = linalg.map ins(%s, %n : tensor<9x5xi32>, tensor<9x5xi32>) outs(%e3 : tensor<9x5xi32>)
    (%x: i32, %y: i32, %o: i32) {
      %q = arith.divsi %x, %y : i32
      linalg.yield %q : i32
    }
  %6 = linalg.generic {indexing_maps = [#id, #cols], iterator_types = ["reduction", "parallel"]} ins(%e : tensor<10x5xf32>) outs(%f0 : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %e7 = tensor.empty() : tensor<10x5xi32>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<10x5xf32>) outs(%e7 : tensor<10x5xi32>) {
  ^bb0(%x: f32, %o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<10x5xi32>
  return %0, %1, %2, %3, %4, %d, %6, %7 : tensor<5xf32>, tensor<f32>, tensor<5x3xf32>, tensor<9x5xi32>, tensor<9x5xi32>, tensor<11x7xf32>, tensor<5xf32>, tensor<10x5xi32>
}
