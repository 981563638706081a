// RUN: shard-opt %s --allow-unregistered-dialect --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'
func.func @main(%n: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error @below {{'stablehlo.dynamic_iota': result 0 is a tensor without static shape, tensor<?xf32>}}
  %0 = "stablehlo.dynamic_iota"(%n) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
