// An op without a translation can be kept, but not run here.
// RUN: not shard-run %s --mesh 2 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not shard-run %s --mesh 2 --unknown-ops replicate 2>&1 | FileCheck %s --check-prefix=KEPT

// REFUSED: error: 'stablehlo.cholesky': is a factorization, which has no implementation here; compute it outside of the program, or keep it by --unknown-ops replicate for an export to StableHLO
// KEPT: remark: 'stablehlo.cholesky': has no translation and stays as it is
// KEPT: error: 'stablehlo.cholesky': runs only with XLA: it was kept for an export to StableHLO
func.func @main(%a: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}
