// math.clampf keeps numbers within its bounds, and NaN; upstream's expansion of it would return the upper bound always.
// RUN: shard-run %s --mesh 1
// RUN: shard-run %s --mesh 2 | FileCheck %s
// CHECK: against the evaluator ok
// CHECK: {{^}}verified

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%z: tensor<6xf32> {tp.sharding = [["x"]]}) -> (tensor<6xf32> {tp.sharding = [["x"]]}) {
  %x = arith.constant dense<[-2.0, -0.5, 0.25, 0.75, 0x7F800000, 0xFF800000]> : tensor<6xf32>
  %low = arith.constant dense<-1.0> : tensor<6xf32>
  %high = arith.constant dense<0.5> : tensor<6xf32>
  %0 = math.clampf %x to [%low, %high] : tensor<6xf32>
  %want = arith.constant dense<[-1.0, -0.5, 0.25, 0.5, 0.5, -1.0]> : tensor<6xf32>
  %differs = arith.cmpf une, %0, %want : tensor<6xf32>
  %false = arith.constant false
  %true = arith.constant true
  %e = tensor.empty() : tensor<i1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<i1>) -> tensor<i1>
  %r = linalg.reduce { arith.ori } ins(%differs : tensor<6xi1>) outs(%f : tensor<i1>) dimensions = [0]
  %d = tensor.extract %r[] : tensor<i1>
  %ok = arith.xori %d, %true : i1
  cf.assert %ok, "a number is clamped wrongly"
  %1 = math.clampf %z to [%low, %high] : tensor<6xf32>
  return %1 : tensor<6xf32>
}
