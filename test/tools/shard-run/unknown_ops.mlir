// An op without a translation can be kept, but not run here.
// RUN: not shard-run %s --mesh 2 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not shard-run %s --mesh 2 --unknown-ops replicate 2>&1 | FileCheck %s --check-prefix=KEPT

// REFUSED: error: 'stablehlo.fft': is a Fourier transform, which has no implementation here; compute it outside of the program, or keep it by --unknown-ops replicate for an export to StableHLO
// KEPT: remark: 'stablehlo.fft': has no translation and stays as it is
// KEPT: error: 'stablehlo.fft': runs only with XLA: it has no implementation here, and was kept for an export to StableHLO
func.func @main(%a: tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>> {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %0 : tensor<8x16xcomplex<f32>>
}
