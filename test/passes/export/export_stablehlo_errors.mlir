// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-export-stablehlo)'

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
  // expected-error @below {{'func.func': argument 0 (%x): the shards of dimension 0 have 3 elements, but equal shards of its 7 elements on 2 devices have 4; annotate it otherwise}}
  func.func @uneven(%x: tensor<3xf32> {tp.global = tensor<7xf32>, tp.sharding = [["tp"]]}) -> (tensor<3xf32> {tp.global = tensor<7xf32>, tp.sharding = [["tp"]]}) {
    return %x : tensor<3xf32>
  }
}

// -----

module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
  // expected-error @below {{'func.func': result 0 is partial, which StableHLO cannot say; annotate it otherwise}}
  func.func @partial(%x: tensor<4xf32> {tp.sharding = [[]]}) -> (tensor<4xf32> {tp.sharding = {dims = [[]], partial = {tp = "sum"}}}) {
    return %x : tensor<4xf32>
  }
}

// -----

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'my.op': has no form in StableHLO; tp-export-stablehlo exports linalg, tensor, arith, math, scf, and collectives of the shard dialect}}
  %0 = "my.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @effect(%c: i1) {
  // expected-error @below {{'scf.if': has no results; its effects have no form in StableHLO}}
  scf.if %c {
    "my.op"() : () -> ()
  }
  return
}

// -----

func.func @order(%x: tensor<100xf32>, %i: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'linalg.generic': its reduction combines values in a way that has no form in StableHLO, and it has 100 iterations; at most 64 are unrolled}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %d = arith.divf %s, %a : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{'scf.for': has no form in StableHLO in the body of a structured op}}
    %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%z = %v) -> (f32) {
      %m = arith.mulf %z, %z : f32
      scf.yield %m : f32
    }
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @somewhere(tensor<8xf32>) -> tensor<8xf32>
func.func @calls(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call': calls @somewhere, which has no body, and has no form in StableHLO; give @somewhere a body, or write the call as a stablehlo.custom_call, which is kept}}
  %0 = call @somewhere(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @width(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  // expected-error @below {{'tensor.pad': pads by a width that is known only at run time}}
  %0 = tensor.pad %x low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.softmax': has no loop nest that can be exported}}
  %0 = linalg.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @deep(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32> {
  // expected-error @below {{'linalg.exp': has more than 80 operands or 14 loops, and cannot be exported}}
  %0 = linalg.exp ins(%x : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) outs(%x : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return %0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
}

// -----

func.func @elided() -> tensor<3xindex> {
  // expected-error @below {{'arith.constant': is a tensor of indices without elements}}
  %0 = arith.constant dense_resource<__elided__> : tensor<3xindex>
  return %0 : tensor<3xindex>
}
