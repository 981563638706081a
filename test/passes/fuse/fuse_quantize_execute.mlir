// Rows that become f8 behind a sum and its norm, on four ranks against one: scales of rows that have a least before the division or behind it, one
// that is given; the norm read elsewhere or not; whole rows and slices. On processors, and on GPUs that are none.
// RUN: shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always 2>&1 | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_PTX=%S/../../../runtime/cuda/generated/kernels.ptx FAKE_LATE=2 shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda --no-graph --repeat 2 2>&1 | FileCheck %s
// RUN: shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda --emit llvm -o %t.ll 2>&1
// RUN: FileCheck %s --check-prefix=CALLS < %t.ll
// CHECK: 'shard.all_reduce': is fused with residual, RMS norm, f8 with scales of rows, 8 rows of 16
// CHECK: 'shard.all_reduce': is fused with residual, f8 with a given scale, 8 rows of 32
// CHECK: 'shard.reduce_scatter': is fused with its matmul, residual, f8 with scales of rows, 8 rows of 16
// CHECK: verified
// CALLS-COUNT-3: call i32 @tprt_abi_fused(
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#stat = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<8x32xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<32x16xf32> {tp.sharding = [["tp"], []]}, %residual: tensor<8x16xf32>, %gamma: tensor<16xf32>,
                %v: tensor<32x32xf32> {tp.sharding = [["tp"], []]}, %other: tensor<8x32xf32>, %given: tensor<f32>,
                %xb: tensor<8x32xbf16> {tp.sharding = [[], ["tp"]]}, %wb: tensor<32x16xbf16> {tp.sharding = [["tp"], []]}, %rb: tensor<8x16xbf16> {tp.sharding = [["tp"], []]})
    -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>, tensor<8x16xf32>, tensor<8x32xf8E4M3FN>,
        tensor<8x16xf8E4M3FN> {tp.sharding = [["tp"], []]}, tensor<8x1xbf16> {tp.sharding = [["tp"], []]}, tensor<8x16xbf16> {tp.sharding = [["tp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 16.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %least = arith.constant 1.0e-4 : f32
  %top = arith.constant 448.0 : f32
  %bottom = arith.constant -448.0 : f32
  %e0 = tensor.empty() : tensor<8x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = arith.addf %d, %residual : tensor<8x16xf32>
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %squares = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%r : tensor<8x16xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %aa = arith.mulf %a, %a : f32
    %s = arith.addf %o, %aa : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#whole, #stat, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%r, %squares, %gamma : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%a: f32, %sum: f32, %g: f32, %o: f32):
    %mean = arith.divf %sum, %hidden : f32
    %var = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %var : f32
    %n = arith.mulf %a, %root : f32
    %out = arith.mulf %n, %g : f32
    linalg.yield %out : f32
  } -> tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%ninf : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %leasts = arith.constant dense<1.0e-4> : tensor<8xf32>
  %tops = arith.constant dense<448.0> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %leasts : tensor<8xf32>
  %scale = arith.divf %guarded, %tops : tensor<8xf32>
  %e8 = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e8 : tensor<8x16xf8E4M3FN>) {
  ^bb0(%a: f32, %s: f32, %o: f8E4M3FN):
    %n = arith.divf %a, %s : f32
    %l = arith.maximumf %n, %bottom : f32
    %h = arith.minimumf %l, %top : f32
    %t = arith.truncf %h : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  %e1 = tensor.empty() : tensor<8x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %c = linalg.matmul ins(%x, %v : tensor<8x32xf32>, tensor<32x32xf32>) outs(%f1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %p = arith.addf %c, %other : tensor<8x32xf32>
  %e9 = tensor.empty() : tensor<8x32xf8E4M3FN>
  %u = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> ()>, #whole], iterator_types = ["parallel", "parallel"]} ins(%p, %given : tensor<8x32xf32>, tensor<f32>) outs(%e9 : tensor<8x32xf8E4M3FN>) {
  ^bb0(%a: f32, %s: f32, %o: f8E4M3FN):
    %n = arith.divf %a, %s : f32
    %h = arith.minimumf %n, %top : f32
    %l = arith.maximumf %h, %bottom : f32
    %t = arith.truncf %l : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x32xf8E4M3FN>
  %zero16 = arith.constant 0.0 : bf16
  %ninf16 = arith.constant 0xFF80 : bf16
  %e2 = tensor.empty() : tensor<8x16xbf16>
  %f2 = linalg.fill ins(%zero16 : bf16) outs(%e2 : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %b = linalg.matmul ins(%xb, %wb : tensor<8x32xbf16>, tensor<32x16xbf16>) outs(%f2 : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %v2 = arith.addf %b, %rb : tensor<8x16xbf16>
  %e3 = tensor.empty() : tensor<8x1xbf16>
  %f3 = linalg.fill ins(%ninf16 : bf16) outs(%e3 : tensor<8x1xbf16>) -> tensor<8x1xbf16>
  %amax2 = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%v2 : tensor<8x16xbf16>) outs(%f3 : tensor<8x1xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %abs = math.absf %a : bf16
    %s = arith.maximumf %abs, %o : bf16
    linalg.yield %s : bf16
  } -> tensor<8x1xbf16>
  %wide = arith.extf %amax2 : tensor<8x1xbf16> to tensor<8x1xf32>
  %tops1 = arith.constant dense<448.0> : tensor<8x1xf32>
  %leasts1 = arith.constant dense<1.0e-3> : tensor<8x1xf32>
  %share = arith.divf %wide, %tops1 : tensor<8x1xf32>
  %scale2 = arith.maximumf %share, %leasts1 : tensor<8x1xf32>
  %q2 = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> (d0, 0)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%v2, %scale2 : tensor<8x16xbf16>, tensor<8x1xf32>) outs(%e8 : tensor<8x16xf8E4M3FN>) {
  ^bb0(%a: bf16, %s: f32, %o: f8E4M3FN):
    %w2 = arith.extf %a : bf16 to f32
    %n = arith.divf %w2, %s : f32
    %h = arith.minimumf %n, %top : f32
    %i = arith.maximumf %h, %bottom : f32
    %t = arith.truncf %i : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  // Compared as what it is made of is: a sum of bf16.
  %scale16 = arith.truncf %scale2 : tensor<8x1xf32> to tensor<8x1xbf16>
  return %q, %scale, %y, %u, %q2, %scale16, %v2 : tensor<8x16xf8E4M3FN>, tensor<8xf32>, tensor<8x16xf32>, tensor<8x32xf8E4M3FN>, tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>, tensor<8x16xbf16>
}
