// What tp-lower-tosa refuses.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-lower-tosa)'

func.func @rule(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tosa.abs': has tp.rule, but is lowered to ops with rules of their own; remove it}}
  %0 = tosa.abs %x {tp.rule = "([i])->([i])"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @no_mesh(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tosa.abs': has tp.sharding, but the module has no mesh; add shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]} or give mesh=dp=2,tp=4}}
  %0 = tosa.abs %x {tp.sharding = [["tp"]]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @no_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{tp.sharding names axis "pp", which mesh @mesh(tp=2) does not have}}
  %0 = tosa.abs %x {tp.sharding = [["pp"]]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @custom(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tosa.custom': upstream's passes cannot lower this TOSA op; run func.func(tosa-optional-decompositions) before, which decomposes tosa.transpose_conv2d, or write the op with linalg and tensor ops}}
  %0 = tosa.custom %x {operator_name = "a", domain_name = "b", implementation_attrs = ""} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
