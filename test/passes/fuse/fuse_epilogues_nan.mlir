// ReLU of NaN on a GPU that is none: arith.maximumf keeps it and arith.maxnumf makes 0 of it, as on a processor. The cuBLASLt of the tests
// keeps NaN in some of these shapes and types and makes 0 of it in others, as cuBLASLt does.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 1 --target=cuda 2>&1 | FileCheck %s
// CHECK-COUNT-12: is not fused with the ops that follow: its ReLU may read NaN
// CHECK-COUNT-12: against one device   ok
// CHECK: verified
func.func @main(%x0: tensor<16x32xf32>, %w0: tensor<32x8xf32>, %v0: tensor<32x8xf32>,
                %x1: tensor<48x24xf32>, %w1: tensor<24x8xf32>, %v1: tensor<24x8xf32>,
                %x2: tensor<8x64xbf16>, %w2: tensor<64x8xbf16>, %v2: tensor<64x8xbf16>,
                %x3: tensor<32x16xf32>, %w3: tensor<16x8xf32>, %v3: tensor<16x8xf32>,
                %x4: tensor<24x40xbf16>, %w4: tensor<40x8xbf16>, %v4: tensor<40x8xbf16>,
                %x5: tensor<64x32xf32>, %w5: tensor<32x8xf32>, %v5: tensor<32x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<48x8xf32>, tensor<48x8xf32>, tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<24x8xbf16>, tensor<24x8xbf16>, tensor<64x8xf32>, tensor<64x8xf32>) {
  %bias_f32 = arith.constant dense<[1.0, 0x7FC00000, -1.0, 0.5, 0x7FC00000, 0.0, 2.0, -0.5]> : tensor<8xf32>
  %bias_bf16 = arith.constant dense<[1.0, 0x7FC0, -1.0, 0.5, 0x7FC0, 0.0, 2.0, -0.5]> : tensor<8xbf16>
  %z0 = arith.constant dense<0.0> : tensor<16x8xf32>
  %p0_maximumf = linalg.matmul ins(%x0, %w0 : tensor<16x32xf32>, tensor<32x8xf32>) outs(%z0 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %e0_maximumf = tensor.empty() : tensor<16x8xf32>
  %b0_maximumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e0_maximumf : tensor<16x8xf32>) dimensions = [0]
  %s0_maximumf = arith.addf %p0_maximumf, %b0_maximumf : tensor<16x8xf32>
  %r0_maximumf = arith.maximumf %s0_maximumf, %z0 : tensor<16x8xf32>
  %p0_maxnumf = linalg.matmul ins(%x0, %v0 : tensor<16x32xf32>, tensor<32x8xf32>) outs(%z0 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %e0_maxnumf = tensor.empty() : tensor<16x8xf32>
  %b0_maxnumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e0_maxnumf : tensor<16x8xf32>) dimensions = [0]
  %s0_maxnumf = arith.addf %p0_maxnumf, %b0_maxnumf : tensor<16x8xf32>
  %r0_maxnumf = arith.maxnumf %s0_maxnumf, %z0 : tensor<16x8xf32>
  %z1 = arith.constant dense<0.0> : tensor<48x8xf32>
  %p1_maximumf = linalg.matmul ins(%x1, %w1 : tensor<48x24xf32>, tensor<24x8xf32>) outs(%z1 : tensor<48x8xf32>) -> tensor<48x8xf32>
  %e1_maximumf = tensor.empty() : tensor<48x8xf32>
  %b1_maximumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e1_maximumf : tensor<48x8xf32>) dimensions = [0]
  %s1_maximumf = arith.addf %p1_maximumf, %b1_maximumf : tensor<48x8xf32>
  %r1_maximumf = arith.maximumf %s1_maximumf, %z1 : tensor<48x8xf32>
  %p1_maxnumf = linalg.matmul ins(%x1, %v1 : tensor<48x24xf32>, tensor<24x8xf32>) outs(%z1 : tensor<48x8xf32>) -> tensor<48x8xf32>
  %e1_maxnumf = tensor.empty() : tensor<48x8xf32>
  %b1_maxnumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e1_maxnumf : tensor<48x8xf32>) dimensions = [0]
  %s1_maxnumf = arith.addf %p1_maxnumf, %b1_maxnumf : tensor<48x8xf32>
  %r1_maxnumf = arith.maxnumf %s1_maxnumf, %z1 : tensor<48x8xf32>
  %z2 = arith.constant dense<0.0> : tensor<8x8xbf16>
  %p2_maximumf = linalg.matmul ins(%x2, %w2 : tensor<8x64xbf16>, tensor<64x8xbf16>) outs(%z2 : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %e2_maximumf = tensor.empty() : tensor<8x8xbf16>
  %b2_maximumf = linalg.broadcast ins(%bias_bf16 : tensor<8xbf16>) outs(%e2_maximumf : tensor<8x8xbf16>) dimensions = [0]
  %s2_maximumf = arith.addf %p2_maximumf, %b2_maximumf : tensor<8x8xbf16>
  %r2_maximumf = arith.maximumf %s2_maximumf, %z2 : tensor<8x8xbf16>
  %p2_maxnumf = linalg.matmul ins(%x2, %v2 : tensor<8x64xbf16>, tensor<64x8xbf16>) outs(%z2 : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %e2_maxnumf = tensor.empty() : tensor<8x8xbf16>
  %b2_maxnumf = linalg.broadcast ins(%bias_bf16 : tensor<8xbf16>) outs(%e2_maxnumf : tensor<8x8xbf16>) dimensions = [0]
  %s2_maxnumf = arith.addf %p2_maxnumf, %b2_maxnumf : tensor<8x8xbf16>
  %r2_maxnumf = arith.maxnumf %s2_maxnumf, %z2 : tensor<8x8xbf16>
  %z3 = arith.constant dense<0.0> : tensor<32x8xf32>
  %p3_maximumf = linalg.matmul ins(%x3, %w3 : tensor<32x16xf32>, tensor<16x8xf32>) outs(%z3 : tensor<32x8xf32>) -> tensor<32x8xf32>
  %e3_maximumf = tensor.empty() : tensor<32x8xf32>
  %b3_maximumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e3_maximumf : tensor<32x8xf32>) dimensions = [0]
  %s3_maximumf = arith.addf %p3_maximumf, %b3_maximumf : tensor<32x8xf32>
  %r3_maximumf = arith.maximumf %s3_maximumf, %z3 : tensor<32x8xf32>
  %p3_maxnumf = linalg.matmul ins(%x3, %v3 : tensor<32x16xf32>, tensor<16x8xf32>) outs(%z3 : tensor<32x8xf32>) -> tensor<32x8xf32>
  %e3_maxnumf = tensor.empty() : tensor<32x8xf32>
  %b3_maxnumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e3_maxnumf : tensor<32x8xf32>) dimensions = [0]
  %s3_maxnumf = arith.addf %p3_maxnumf, %b3_maxnumf : tensor<32x8xf32>
  %r3_maxnumf = arith.maxnumf %s3_maxnumf, %z3 : tensor<32x8xf32>
  %z4 = arith.constant dense<0.0> : tensor<24x8xbf16>
  %p4_maximumf = linalg.matmul ins(%x4, %w4 : tensor<24x40xbf16>, tensor<40x8xbf16>) outs(%z4 : tensor<24x8xbf16>) -> tensor<24x8xbf16>
  %e4_maximumf = tensor.empty() : tensor<24x8xbf16>
  %b4_maximumf = linalg.broadcast ins(%bias_bf16 : tensor<8xbf16>) outs(%e4_maximumf : tensor<24x8xbf16>) dimensions = [0]
  %s4_maximumf = arith.addf %p4_maximumf, %b4_maximumf : tensor<24x8xbf16>
  %r4_maximumf = arith.maximumf %s4_maximumf, %z4 : tensor<24x8xbf16>
  %p4_maxnumf = linalg.matmul ins(%x4, %v4 : tensor<24x40xbf16>, tensor<40x8xbf16>) outs(%z4 : tensor<24x8xbf16>) -> tensor<24x8xbf16>
  %e4_maxnumf = tensor.empty() : tensor<24x8xbf16>
  %b4_maxnumf = linalg.broadcast ins(%bias_bf16 : tensor<8xbf16>) outs(%e4_maxnumf : tensor<24x8xbf16>) dimensions = [0]
  %s4_maxnumf = arith.addf %p4_maxnumf, %b4_maxnumf : tensor<24x8xbf16>
  %r4_maxnumf = arith.maxnumf %s4_maxnumf, %z4 : tensor<24x8xbf16>
  %z5 = arith.constant dense<0.0> : tensor<64x8xf32>
  %p5_maximumf = linalg.matmul ins(%x5, %w5 : tensor<64x32xf32>, tensor<32x8xf32>) outs(%z5 : tensor<64x8xf32>) -> tensor<64x8xf32>
  %e5_maximumf = tensor.empty() : tensor<64x8xf32>
  %b5_maximumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e5_maximumf : tensor<64x8xf32>) dimensions = [0]
  %s5_maximumf = arith.addf %p5_maximumf, %b5_maximumf : tensor<64x8xf32>
  %r5_maximumf = arith.maximumf %s5_maximumf, %z5 : tensor<64x8xf32>
  %p5_maxnumf = linalg.matmul ins(%x5, %v5 : tensor<64x32xf32>, tensor<32x8xf32>) outs(%z5 : tensor<64x8xf32>) -> tensor<64x8xf32>
  %e5_maxnumf = tensor.empty() : tensor<64x8xf32>
  %b5_maxnumf = linalg.broadcast ins(%bias_f32 : tensor<8xf32>) outs(%e5_maxnumf : tensor<64x8xf32>) dimensions = [0]
  %s5_maxnumf = arith.addf %p5_maxnumf, %b5_maxnumf : tensor<64x8xf32>
  %r5_maxnumf = arith.maxnumf %s5_maxnumf, %z5 : tensor<64x8xf32>
  return %r0_maximumf, %r0_maxnumf, %r1_maximumf, %r1_maxnumf, %r2_maximumf, %r2_maxnumf, %r3_maximumf, %r3_maxnumf, %r4_maximumf, %r4_maxnumf, %r5_maximumf, %r5_maxnumf
    : tensor<16x8xf32>, tensor<16x8xf32>, tensor<48x8xf32>, tensor<48x8xf32>, tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<24x8xbf16>, tensor<24x8xbf16>, tensor<64x8xf32>, tensor<64x8xf32>
}
