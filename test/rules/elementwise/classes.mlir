// Classes of floats, of numbers that stand in the program: infinities, NaN, the least normal number and the largest below it.
// RUN: shard-run %s --mesh 1
// RUN: shard-run %s --mesh 2

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%z: tensor<7xf32> {tp.sharding = [["x"]]}, %h: tensor<7xf16> {tp.sharding = [["x"]]}) -> (tensor<7xi1> {tp.sharding = [["x"]]}, tensor<7xi1>) {
  %x = arith.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0x00800000, 0x807FFFFF, 0.0, -1.5]> : tensor<7xf32>
  %i = math.isinf %x : tensor<7xf32>
  %n = math.isnormal %x : tensor<7xf32>
  %want_i = arith.constant dense<[true, true, false, false, false, false, false]> : tensor<7xi1>
  %want_n = arith.constant dense<[false, false, false, true, false, false, true]> : tensor<7xi1>
  %a = arith.xori %i, %want_i : tensor<7xi1>
  %b = arith.xori %n, %want_n : tensor<7xi1>
  %c = arith.ori %a, %b : tensor<7xi1>
  %false = arith.constant false
  %true = arith.constant true
  %e = tensor.empty() : tensor<i1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<i1>) -> tensor<i1>
  %r = linalg.reduce { arith.ori } ins(%c : tensor<7xi1>) outs(%f : tensor<i1>) dimensions = [0]
  %d = tensor.extract %r[] : tensor<i1>
  %ok = arith.xori %d, %true : i1
  cf.assert %ok, "a class is wrong"
  %u = math.isnormal %z : tensor<7xf32>
  %v = math.isinf %h : tensor<7xf16>
  return %u, %v : tensor<7xi1>, tensor<7xi1>
}
