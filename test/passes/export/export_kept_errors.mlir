// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-export-stablehlo)'

func.func @symbols(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call': cannot be exported: its called_computations has @f, a function that is not exported as it was; use an op without called_computations, or compute it outside of the program}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine", called_computations = [@f]}> {tp.rule = "([i])->([i])"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @regions(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.future': its tp.regions does not hold its 1 regions; keep what tp-import-stablehlo wrote}}
  %0 = "stablehlo.future"(%a) ({}) {tp.regions = "\22tp.regions\22() : () -> ()"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @regions_type(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.future': its tp.regions does not hold its 1 regions; keep what tp-import-stablehlo wrote}}
  %0 = "stablehlo.future"(%a) ({}) {tp.regions = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
