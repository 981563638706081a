// Calls of functions without a body that cannot be sharded.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-spmd{mesh=tp=4 strategy=follow})'

// expected-error @below {{'func.func': argument 0 has tp.sharding, but @ext has no body, and the layouts of its calls come from tp.rule; state that, and annotate the operands of the calls}}
func.func private @ext(tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32>
func.func @annotated(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-warning @below {{@ext has no body}}
  %y = func.call @ext(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @below {{result 0 has tp.sharding, but @ext has no body}}
func.func private @ext(tensor<8xf32>) -> (tensor<8xf32> {tp.sharding = [["tp"]]}) attributes {tp.rule = "([i])->([i])"}
func.func @annotated_with_a_rule(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @ext(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func private @ext(tensor<8xf32>) -> tensor<8xf32> attributes {tp.rule = "([i],[i])->([i])"}
func.func @wrong_rule(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call': has 1 operands and 1 results, but its rule has 2 and 1; a rule needs one list for each, '()' for scalars}}
  %y = func.call @ext(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func private @ext(tensor<8xf32>) -> tensor<8xf32> attributes {tp.rule = "([i])->([i])"}
func.func @two_types(%x: tensor<8xf32> {tp.sharding = [["tp"]]}, %y: tensor<8xf32> {tp.sharding = [[]]}) -> (tensor<8xf32> {tp.sharding = [["tp"]]}, tensor<8xf32> {tp.sharding = [[]]}) {
  %a = func.call @ext(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{'func.call': @ext has no body, and the per-device program calls it with type (tensor<2xf32>) -> tensor<2xf32> and with type (tensor<8xf32>) -> tensor<8xf32>; annotate the calls alike, or declare a function for each of them}}
  %b = func.call @ext(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
