// Sums of numbers of 1/2 do not stop growing, on processors and GPUs, on one device and two. The nearest numbers to 1500, 1500 and 50.
// RUN: shard-run %s --mesh 1 --no-verify && shard-run %s --mesh 2 --reference=device | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 1 --target=cuda --reference=device | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 2 --target=cuda --reference=device | FileCheck %s
// CHECK: consistent with one device
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<3000xf32> {tp.sharding = [["x"]]}, %b: tensor<100xf32> {tp.sharding = [["x"]]}) -> (tensor<bf16>, tensor<f16>, tensor<f8E4M3FN>) {
  %zero_bf = arith.constant 0.0 : bf16
  %half_bf = arith.constant 0.5 : bf16
  %empty_bf = tensor.empty() : tensor<bf16>
  %begin_bf = linalg.fill ins(%zero_bf : bf16) outs(%empty_bf : tensor<bf16>) -> tensor<bf16>
  %sum_bf = linalg.reduce ins(%a : tensor<3000xf32>) outs(%begin_bf : tensor<bf16>) dimensions = [0] (%x: f32, %o: bf16) {
    %is = arith.cmpf ord, %x, %x : f32
    %v = arith.select %is, %half_bf, %zero_bf : bf16
    %w = arith.addf %o, %v : bf16
    linalg.yield %w : bf16
  }
  %number_bf = tensor.extract %sum_bf[] : tensor<bf16>
  %wide_bf = arith.extf %number_bf : bf16 to f32
  %exact_bf = arith.constant 1504.0 : f32
  %ok_bf = arith.cmpf oeq, %wide_bf, %exact_bf : f32
  cf.assert %ok_bf, "the sum of bf16 is another one"
  %zero_f1 = arith.constant 0.0 : f16
  %half_f1 = arith.constant 0.5 : f16
  %empty_f1 = tensor.empty() : tensor<f16>
  %begin_f1 = linalg.fill ins(%zero_f1 : f16) outs(%empty_f1 : tensor<f16>) -> tensor<f16>
  %sum_f1 = linalg.reduce ins(%a : tensor<3000xf32>) outs(%begin_f1 : tensor<f16>) dimensions = [0] (%x: f32, %o: f16) {
    %is = arith.cmpf ord, %x, %x : f32
    %v = arith.select %is, %half_f1, %zero_f1 : f16
    %w = arith.addf %o, %v : f16
    linalg.yield %w : f16
  }
  %number_f1 = tensor.extract %sum_f1[] : tensor<f16>
  %wide_f1 = arith.extf %number_f1 : f16 to f32
  %exact_f1 = arith.constant 1500.0 : f32
  %ok_f1 = arith.cmpf oeq, %wide_f1, %exact_f1 : f32
  cf.assert %ok_f1, "the sum of f16 is another one"
  %zero_f8 = arith.constant 0.0 : f8E4M3FN
  %half_f8 = arith.constant 0.5 : f8E4M3FN
  %empty_f8 = tensor.empty() : tensor<f8E4M3FN>
  %begin_f8 = linalg.fill ins(%zero_f8 : f8E4M3FN) outs(%empty_f8 : tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  %sum_f8 = linalg.reduce ins(%b : tensor<100xf32>) outs(%begin_f8 : tensor<f8E4M3FN>) dimensions = [0] (%x: f32, %o: f8E4M3FN) {
    %is = arith.cmpf ord, %x, %x : f32
    %v = arith.select %is, %half_f8, %zero_f8 : f8E4M3FN
    %w = arith.addf %o, %v : f8E4M3FN
    linalg.yield %w : f8E4M3FN
  }
  %number_f8 = tensor.extract %sum_f8[] : tensor<f8E4M3FN>
  %wide_f8 = arith.extf %number_f8 : f8E4M3FN to f32
  %exact_f8 = arith.constant 48.0 : f32
  %ok_f8 = arith.cmpf oeq, %wide_f8, %exact_f8 : f32
  cf.assert %ok_f8, "the sum of f8E4M3FN is another one"
  return %sum_bf, %sum_f1, %sum_f8 : tensor<bf16>, tensor<f16>, tensor<f8E4M3FN>
}
