// Layouts of complex numbers and of indices: gathered, sliced, made partial and summed, in threads and in processes.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2 --launch processes

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<4x6xcomplex<f32>> {tp.sharding = [["x"], []]}, %i: tensor<5xindex> {tp.sharding = [["x"]]})
    -> (tensor<4x6xcomplex<f32>> {tp.sharding = [[], ["x"]]}, tensor<4x6xcomplex<f32>> {tp.sharding = {dims = [[], []]}}, tensor<index>, tensor<5xindex>) {
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %p = shard.shard %x to %s {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} : tensor<4x6xcomplex<f32>>
  %q = shard.shard %p to %s {tp.sharding = [[], ["x"]]} : tensor<4x6xcomplex<f32>>
  %c0 = arith.constant 3 : index
  %e = tensor.empty() : tensor<index>
  %f = linalg.fill ins(%c0 : index) outs(%e : tensor<index>) -> tensor<index>
  %r = linalg.reduce { arith.addi } ins(%i : tensor<5xindex>) outs(%f : tensor<index>) dimensions = [0]
  %k = arith.addi %i, %i : tensor<5xindex>
  return %q, %p, %r, %k : tensor<4x6xcomplex<f32>>, tensor<4x6xcomplex<f32>>, tensor<index>, tensor<5xindex>
}
