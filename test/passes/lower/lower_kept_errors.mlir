// An op that the import kept can only be exported.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo{unknown-ops=replicate},tp-lower-to-runtime)'

func.func @fft(%a: tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>> {
  // expected-remark @below {{stays as it is}}
  // expected-error @below {{'stablehlo.fft': runs only with XLA: it was kept for an export to StableHLO; run the exported program with XLA, or lower the op between tp-partition and tp-to-runtime}}
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %0 : tensor<8x16xcomplex<f32>>
}
