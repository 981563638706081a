// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-normalize)'

// expected-error @below {{tp.phase must be "local" or absent}}
module attributes {tp.phase = "global"} {}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0: tp.global has to be a ranked tensor type}}
func.func private @g(tensor<4xf32> {tp.global = "x"})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0: tp.global has another rank or element type}}
func.func private @h(tensor<4xf32> {tp.global = tensor<4x4xf32>})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': result 0: tp.global has another rank or element type}}
func.func private @r() -> (tensor<4xf32> {tp.global = tensor<8xi32>})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{tp.factors has to be a dictionary}}
  %r = arith.negf %x {tp.factors = 3} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{tp.factors names axis "pp", which mesh @mesh does not have; name one of its axes, such as "dp"}}
  %r = arith.negf %x {tp.factors = {pp = 1}} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{tp.factors: "tp" needs a factor number}}
  %r = arith.negf %x {tp.factors = {tp = -1 : i64}} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{tp.region_args has to be a list with one entry for each of the 0 regions}}
  %r = arith.negf %x {tp.region_args = 1} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{result 0: tp.global has to be a ranked tensor type}}
  %r = arith.negf %x {tp.global = 1} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @tp.permute(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tp.pairs has to be a list of [source, destination] devices}}
  %r = func.call @tp.permute(%x) {tp.pairs = 1} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @tp.permute(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tp.pairs: entry 0 is not a [source, destination] pair}}
  %r = func.call @tp.permute(%x) {tp.pairs = [[0, 1, 2]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @tp.permute(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tp.pairs: entry 0 names device [0, 8]; the mesh has 8 devices}}
  %r = func.call @tp.permute(%x) {tp.pairs = [[0, 8]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @tp.permute(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tp.pairs: device 1 is the destination of more than one pair}}
  %r = func.call @tp.permute(%x) {tp.pairs = [[0, 1], [2, 1]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @loop(%x: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  // expected-error @below {{tp.region_args: region 0 has 2 arguments; the list needs as many shardings}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8x8xf32> {
    scf.yield %a : tensor<8x8xf32>
  } {tp.region_args = [[[]]]}
  return %r : tensor<8x8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @loop(%x: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  // expected-error @below {{region 0, argument 1: tp.sharding has 1 dimension, but the tensor has rank 2}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8x8xf32> {
    scf.yield %a : tensor<8x8xf32>
  } {tp.region_args = [[[], [["dp"]]]]}
  return %r : tensor<8x8xf32>
}
