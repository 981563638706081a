// What is not linear in a partial sum takes the combined one, though less would travel behind it: a total of 8 numbers, not of 512.
// RUN: shard-run %s --mesh x=4 --function affine
// RUN: shard-run %s --mesh x=4 --function affine --strategy follow
// RUN: shard-run %s --mesh x=4 --function quotient
// RUN: shard-run %s --mesh x=4 --function product
// RUN: shard-run %s --mesh x=4 --function chosen
#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}

// The 1 would enter once for each device.
func.func @affine(%a: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %w: tensor<16x64xf64> {tp.sharding = [["x"], []]}) -> tensor<8xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8x64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<8x64xf64>) -> tensor<8x64xf64>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x64xf64>) outs(%e : tensor<8x64xf64>) {
  ^bb0(%x: f64, %o: f64):
    %z = arith.addf %x, %one : f64
    linalg.yield %z : f64
  } -> tensor<8x64xf64>
  %e1 = tensor.empty() : tensor<8xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<8x64xf64>) outs(%f1 : tensor<8xf64>) dimensions = [1]
  return %r : tensor<8xf64>
}

// The sum stands below the line.
func.func @quotient(%a: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %w: tensor<16x64xf64> {tp.sharding = [["x"], []]}) -> tensor<8xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8x64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<8x64xf64>) -> tensor<8x64xf64>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x64xf64>) outs(%e : tensor<8x64xf64>) {
  ^bb0(%x: f64, %o: f64):
    %z = arith.divf %one, %x : f64
    linalg.yield %z : f64
  } -> tensor<8x64xf64>
  %e1 = tensor.empty() : tensor<8xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<8x64xf64>) outs(%f1 : tensor<8xf64>) dimensions = [1]
  return %r : tensor<8xf64>
}

// Products of parts miss those of different devices.
func.func @product(%a: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %b: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %w: tensor<16x64xf64> {tp.sharding = [["x"], []]}) -> tensor<8xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8x64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<8x64xf64>) -> tensor<8x64xf64>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %q = linalg.matmul ins(%b, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x64xf64>, tensor<8x64xf64>) outs(%e : tensor<8x64xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %z = arith.mulf %x, %y : f64
    linalg.yield %z : f64
  } -> tensor<8x64xf64>
  %e1 = tensor.empty() : tensor<8xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<8x64xf64>) outs(%f1 : tensor<8xf64>) dimensions = [1]
  return %r : tensor<8xf64>
}

// Which of both is greater depends on the whole sums.
func.func @chosen(%a: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %b: tensor<8x16xf64> {tp.sharding = [[], ["x"]]}, %w: tensor<16x64xf64> {tp.sharding = [["x"], []]}) -> tensor<8xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8x64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<8x64xf64>) -> tensor<8x64xf64>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %q = linalg.matmul ins(%b, %w : tensor<8x16xf64>, tensor<16x64xf64>) outs(%f : tensor<8x64xf64>) -> tensor<8x64xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x64xf64>, tensor<8x64xf64>) outs(%e : tensor<8x64xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %c = arith.cmpf ogt, %x, %y : f64
    %z = arith.select %c, %x, %y : f64
    linalg.yield %z : f64
  } -> tensor<8x64xf64>
  %e1 = tensor.empty() : tensor<8xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<8x64xf64>) outs(%f1 : tensor<8xf64>) dimensions = [1]
  return %r : tensor<8xf64>
}
