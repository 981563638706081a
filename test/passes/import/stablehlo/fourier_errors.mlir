// Fourier transforms that are not one, or whose length is not supported.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @kind(%x: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  // expected-error @below {{'stablehlo.fft': fft_type: 'DCT' is none of FFT, IFFT, RFFT and IRFFT}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type DCT>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

func.func @lengths(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @below {{fft_length: 2 lengths; 1 to 3 are supported, and no more than operand 0 has dimensions}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 8, 8>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

func.func @size(%x: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  // expected-error @below {{fft_length ends in n = 16, and the operand's last dimension is 8, the result's 8: FFT maps n complex numbers to n complex ones of f32 or f64 along the last dimension}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

func.func @half(%x: tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>> {
  // expected-error @below {{fft_length ends in n = 8, and the operand's last dimension is 8, the result's 8: RFFT maps n real numbers to n / 2 + 1 complex ones}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

func.func @type(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the operand's last dimension is 8, the result's 8: FFT maps n complex numbers to n complex ones}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @prime(%x: tensor<2062xcomplex<f32>>) -> tensor<2062xcomplex<f32>> {
  // expected-error @below {{transforms 2062 elements, a number with the prime factor 1031, where prime factors to 1024 are supported; pad the signal, or keep it by unknown-ops=replicate}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 2062>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2062xcomplex<f32>>) -> tensor<2062xcomplex<f32>>
  return %0 : tensor<2062xcomplex<f32>>
}

// -----

func.func @long(%x: tensor<2097152xcomplex<f32>>) -> tensor<2097152xcomplex<f32>> {
  // expected-error @below {{transforms 2097152 elements, where at most 1048576 are supported; split the signal, or keep it by unknown-ops=replicate}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 2097152>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2097152xcomplex<f32>>) -> tensor<2097152xcomplex<f32>>
  return %0 : tensor<2097152xcomplex<f32>>
}

// -----

func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x128xcomplex<f32>>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x128xcomplex<f32>> {
  // expected-error @below {{transforms 128 elements of a tensor of rank 13, which takes 15 dimensions, where at most 14 are supported; collapse those of the batch}}
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 128>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x128xcomplex<f32>>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x128xcomplex<f32>>
  return %0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x128xcomplex<f32>>
}
