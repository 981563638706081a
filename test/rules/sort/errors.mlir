// Calls with a tp.sort that does not fit.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{mesh=x=2})'

func.func @results(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': has 1 operands and 2 results; a sort has as many results as operands, and 1 to 32}}
  %0:2 = call @tp.sort(%x) {tp.sort = {dim = 0, less = @less}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)

// -----

func.func @number(%x: f32, %y: tensor<4xf32>) -> f32 {
  // expected-error @below {{'func.call': a sort takes tensors of static shape}}
  %0:2 = call @tp.sort(%x, %y) {tp.sort = {dim = 0, less = @less}} : (f32, tensor<4xf32>) -> (f32, tensor<4xf32>)
  return %0#0 : f32
}
func.func private @tp.sort(f32, tensor<4xf32>) -> (f32, tensor<4xf32>)

// -----

func.func @attribute(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': tp.sort must be a dictionary such as {dim = 1, less = @less}}}
  %0 = call @tp.sort(%x) {tp.sort = 0} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @dim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': tp.sort: dim is 1, but the operands have rank 1}}
  %0 = call @tp.sort(%x) {tp.sort = {dim = 1, less = @less}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': operand 1 and result 1 do not fit: the operands of a sort have one shape, and the results that shape or one with fewer elements along dimension 0}}
  %0:2 = call @tp.sort(%x, %y) {tp.sort = {dim = 0, less = @less}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3xf32>)
  return %0#0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3xf32>)

// -----

func.func @comparator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': its comparator @less must be a function of one block, with tp.comparator, that takes two numbers of each operand's type, in order, and returns i1}}
  %0 = call @tp.sort(%x) {tp.sort = {dim = 0, less = @less}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>) -> tensor<4xf32>
func.func private @less(f32, f64) -> i1
