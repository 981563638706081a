// Under a condition that differs between devices the program computes with whole values and makes no communication of its own: what comes in is
// gathered in front.
// RUN: shard-run %s --function branch 
// RUN: shard-run %s --function branch --strategy follow --launch processes
// RUN: shard-run %s --function bounds 
// With NCCL, the program without layouts runs on the host all the same.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_nccl.so TPRT_NCCL_LIBRARY=%libraries/tprt_fake_nccl.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --function bounds --target=cuda --backend=nccl
// RUN: shard-run %s --function bounds --strategy follow --launch processes

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @branch(%x: tensor<8x8xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<8x8xf32> {tp.sharding = [["tp"], []]}) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %i = shard.process_linear_index on @mesh : index
  %b = arith.cmpi eq, %i, %c0 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.if %b -> tensor<8x8xf32> {
    %p = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %p : tensor<8x8xf32>
  } else {
    scf.yield %x : tensor<8x8xf32>
  }
  %s = shard.all_reduce %r on @mesh grid_axes = [0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

func.func @bounds(%x: tensor<8x8xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<8x8xf32> {tp.sharding = [["tp"], []]}) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %i = shard.process_linear_index on @mesh : index
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.for %k = %i to %c8 step %c1 iter_args(%a = %x) -> tensor<8x8xf32> {
    %p = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = math.tanh %p : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  %s = shard.all_reduce %r on @mesh grid_axes = [0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
