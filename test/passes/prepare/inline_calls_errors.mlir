// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-inline-calls)'
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-inline-calls{fused=perhaps})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: fused 'perhaps' is not known; use inline or keep

func.func @odd(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @even(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @even(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call': @odd calls itself; a recursive program cannot be sharded, use a loop instead}}
  %y = func.call @odd(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) {
  // expected-error @below {{'func.call': @blocks has several blocks; sharding needs structured control flow (scf)}}
  func.call @blocks(%x) : (tensor<8xf32>) -> ()
  return
}
func.func private @blocks(%x: tensor<8xf32>) {
  cf.br ^bb1
^bb1:
  return
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%x: tensor<8xf32>) {
  func.call @annotated(%x) : (tensor<8xf32>) -> ()
  return
}
// expected-error @below {{'func.func': argument 0 (%x): tp.sharding names axis "y", which mesh @mesh(x=2) does not have}}
func.func private @annotated(%x: tensor<8xf32> {tp.sharding = [["y"]]}) {
  return
}

// -----

func.func private @ruled(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call': calls a function with a body, which replaces the call, and also has tp.rule; remove one of them}}
  %r = call @ruled(%x) {tp.rule = "i -> i"} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
