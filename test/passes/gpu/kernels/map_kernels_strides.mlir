// Strides that only the run knows: of slices, whose steps are the counter of a loop, which kernels read, reduce and write, and the host reads an element of.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 1 --target=cuda | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 2 --target=cuda | FileCheck %s
// CHECK: verified
func.func @main(%x: tensor<64x33xf32>) -> (tensor<64x33xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e16 = tensor.empty() : tensor<16xf32>
  %z16 = linalg.fill ins(%zero : f32) outs(%e16 : tensor<16xf32>) -> tensor<16xf32>
  %r:2 = scf.for %i = %c1 to %c4 step %c1 iter_args(%all = %x, %sum = %z16) -> (tensor<64x33xf32>, tensor<16xf32>) {
    %j = arith.addi %i, %c1 : index
    %a = tensor.extract_slice %all[%i, %j] [16, 8] [%j, %i] : tensor<64x33xf32> to tensor<16x8xf32>
    %b = tensor.extract_slice %all[%i, %i] [16, 7] [%i, %j] : tensor<64x33xf32> to tensor<16x7xf32>
    %e = tensor.empty() : tensor<16x8xf32>
    %m = linalg.map ins(%a : tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) (%v: f32, %o: f32) {
      %w = math.tanh %v : f32
      linalg.yield %w : f32
    }
    %s = linalg.reduce ins(%b : tensor<16x7xf32>) outs(%sum : tensor<16xf32>) dimensions = [1] (%v: f32, %o: f32) {
      %w = arith.addf %v, %o : f32
      linalg.yield %w : f32
    }
    %one = tensor.extract %b[%c3, %i] : tensor<16x7xf32>
    %is = arith.cmpf ogt, %one, %half : f32
    %next = scf.if %is -> tensor<64x33xf32> {
      %in = tensor.insert_slice %m into %all[%j, %i] [16, 8] [%i, %j] : tensor<16x8xf32> into tensor<64x33xf32>
      scf.yield %in : tensor<64x33xf32>
    } else {
      %in = tensor.insert_slice %m into %all[%c0, %c2] [16, 8] [%j, %i] : tensor<16x8xf32> into tensor<64x33xf32>
      scf.yield %in : tensor<64x33xf32>
    }
    scf.yield %next, %s : tensor<64x33xf32>, tensor<16xf32>
  }
  return %r#0, %r#1 : tensor<64x33xf32>, tensor<16xf32>
}
