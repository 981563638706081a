// What is left between contractions is vector code: exponentials and maxima of a softmax, sums along rows and over rows, tanh.
// RUN: shard-run %s --mesh 1 --opt-level 2 --emit=llvm --cpu=generic -o %t.ll && FileCheck %s < %t.ll
// RUN: shard-run %s --mesh 1 --no-verify
#row = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %r = tensor.empty() : tensor<64xf32>
  %c = tensor.empty() : tensor<256xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  // CHECK-LABEL: define internal {{.*}}@main.kernel1(
  // CHECK: call <[[N:[0-9]+]] x float> @llvm.maximum
  %m = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK-LABEL: define internal {{.*}}@main.kernel2(
  // CHECK: fmul contract <[[N]] x float>
  // CHECK-NOT: @expf
  %p = linalg.generic {indexing_maps = [#row, #rows, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x256xf32>, tensor<64xf32>) outs(%e : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x256xf32>
  // CHECK-LABEL: define internal {{.*}}@main.kernel4(
  // CHECK: fadd reassoc <[[N]] x float>
  %s0 = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x256xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK-LABEL: define internal {{.*}}@main.kernel5(
  // CHECK: fdiv <[[N]] x float>
  // CHECK-NOT: @tanhf
  %q = linalg.generic {indexing_maps = [#row, #rows, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<64x256xf32>, tensor<64xf32>) outs(%e : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    %1 = math.tanh %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x256xf32>
  // CHECK-LABEL: define internal {{.*}}@main.kernel7(
  // CHECK: fadd {{.*}}<[[N]] x float>
  %t0 = linalg.fill ins(%zero : f32) outs(%c : tensor<256xf32>) -> tensor<256xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%q : tensor<64x256xf32>) outs(%t0 : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<256xf32>
  return %q, %t : tensor<64x256xf32>, tensor<256xf32>
}
