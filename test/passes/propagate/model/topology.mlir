// Cost models are files. Plans for machines that nobody has here, made on paper.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=a=16,b=16,c=16,d=16 topology=torus64k},tp-partition{topology=torus64k})' | FileCheck %s --check-prefixes=CHECK,TORUS
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=a=16,b=16,c=16,d=16 topology=%S/../../../../share/topology/torus64k.json},tp-partition{topology=%S/../../../../share/topology/torus64k.json})' | FileCheck %s --check-prefixes=CHECK,TORUS
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=a=8192,b=8 topology=h100},tp-partition{topology=h100})' | FileCheck %s
// CHECK-LABEL: func.func @mlp
// TORUS-SAME: tensor<256x8192xbf16>
// CHECK: linalg.matmul
// CHECK: linalg.matmul
// CHECK: return
func.func @mlp(%x: tensor<65536x8192xbf16>, %w: tensor<8192x32768xbf16>, %v: tensor<32768x8192xbf16>) -> tensor<65536x8192xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<65536x32768xbf16>
  %i = linalg.fill ins(%zero : bf16) outs(%e : tensor<65536x32768xbf16>) -> tensor<65536x32768xbf16>
  %h = linalg.matmul ins(%x, %w : tensor<65536x8192xbf16>, tensor<8192x32768xbf16>) outs(%i : tensor<65536x32768xbf16>) -> tensor<65536x32768xbf16>
  %f = tensor.empty() : tensor<65536x8192xbf16>
  %j = linalg.fill ins(%zero : bf16) outs(%f : tensor<65536x8192xbf16>) -> tensor<65536x8192xbf16>
  %y = linalg.matmul ins(%h, %v : tensor<65536x32768xbf16>, tensor<32768x8192xbf16>) outs(%j : tensor<65536x8192xbf16>) -> tensor<65536x8192xbf16>
  return %y : tensor<65536x8192xbf16>
}
