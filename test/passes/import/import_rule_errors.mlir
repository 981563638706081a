// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import)'

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': has sdy.sharding_rule and also tp.rule; keep one}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {tp.rule = "([i,j])->([i,j])", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule is not a #sdy.op_sharding_rule<...>}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = "([i, j])->([i, j])"} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, 1])->([i, j])> cannot be read: expected a factor, one of i, j, ..., z, z_1, z_2, ... at '1])->([i, j])>'}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, 1])->([i, j])>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, j_2])->([i, j])> cannot be read: expected ']' at '_2])->([i, j])>'}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j_2])->([i, j])>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, z_])->([i, j])> cannot be read: expected a factor, one of i, j, ..., z, z_1, z_2, ... at '])->([i, j])>'}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, z_])->([i, j])>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, z_99])->([i, j])> cannot be read: expected a factor}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, z_99])->([i, j])>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4} halo={j}> cannot be read: expected '>' at 'halo={j}>'}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4} halo={j}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4}, mine> cannot be read: expected 'custom' at 'mine>'}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4}, mine>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, j])->([i, j]) {6, 4}> cannot be read: expected a factor}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {6, 4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4} reduction={4}> cannot be read: expected a factor}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4} reduction={4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule joins more than 8 factors in a dimension}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ijklmnopq, r])->([i, j]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule has more than 14 dimensions}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w])->([i, j]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule has more than 64 operands and results}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [])->([i, j]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule is for 2 operands and 1 results, but the op has 1 and 1}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule has 1 dimensions for result 0, which has 2}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=6, j=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: factor {j}: a reduction factor must not be in a result; split the call into one that reduces and one that does not}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=6, j=4} reduction={j}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': sdy.sharding_rule: factors {i,j} share every dimension that they are in, so their sizes cannot be kept; make them one factor, or list them in need_replication}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([ij, k]) {i=2, j=3, k=4}>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
