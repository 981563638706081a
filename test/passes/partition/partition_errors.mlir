// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-partition)'

// Partitioning twice would shard twice.
// expected-error @below {{the module is already partitioned (tp.phase = "local")}}
module attributes {tp.phase = "local"} {}

// -----

// expected-error @below {{the module has no mesh; run tp-propagate first, or add a shard.grid}}
module {}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 (%x) has no tp.sharding; run tp-propagate just before tp-partition, or tp-spmd, which does both}}
func.func @argument(%x: tensor<8x8xf32>) { return }

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @op(%x: tensor<8xf32> {tp.sharding = [[]]}) {
  // expected-error @below {{'arith.negf': result 0 has no tp.sharding; run tp-propagate just before tp-partition}}
  %y = arith.negf %x : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': result 0 has no tp.sharding; run tp-propagate just before tp-partition}}
func.func @result(%x: tensor<8xf32> {tp.sharding = [[]]}) -> tensor<8xf32> { return %x : tensor<8xf32> }

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @layout(%x: tensor<8xf32> {tp.sharding = [[]]}) {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard': has no tp.sharding; run tp-propagate just before tp-partition}}
  %y = shard.shard %x to %s : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// The layouts of operand and result fit no strategy.
func.func @strategy(%x: tensor<8x8xf32> {tp.sharding = [["dp"], []]}) {
  // expected-error @below {{'arith.negf': no strategy of this op takes operands of layout [["dp"], []] to result [[], ["dp"]]; change its tp.sharding, or reshard an operand with a shard.shard}}
  %y = arith.negf %x {tp.sharding = [[], ["dp"]]} : tensor<8x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// A constant is not linear: it cannot be added to a partial value.
func.func @not_linear(%x: tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "sum"}}}) {
  // expected-error @below {{'math.exp': no strategy of this op takes operands of layout}}
  %y = math.exp %x {tp.sharding = {dims = [[]], partial = {tp = "sum"}}} : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @path(%x: tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "sum"}}}) {
  %s = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  // expected-error @below {{'shard.shard': no sequence of collectives takes layout {dims = [[]], partial = {tp = "sum"}} to {dims = [[]], partial = {tp = "average"}}: average has no identity element, so a partial average cannot be created}}
  %y = shard.shard %x to %s {tp.sharding = {dims = [[]], partial = {tp = "average"}}} : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @returned(%x: tensor<8xf32> {tp.sharding = [["dp"]]}) -> (tensor<8xf32> {tp.sharding = [[]]}) {
  // expected-error @below {{'func.return': returns layout [["dp"]] as result 0, whose tp.sharding is [[]]; put a shard.shard in front}}
  return %x : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @quantized(%x: tensor<8x10xi8> {tp.sharding = [[], ["tp"]]}, %y: tensor<10x8xi8> {tp.sharding = [["tp"], []]}, %z: tensor<8x8xi32> {tp.sharding = {dims = [[], []], partial = {tp = "sum"}}}) -> (tensor<8x8xi32> {tp.sharding = {dims = [[], []], partial = {tp = "sum"}}}) {
  %c = arith.constant 0 : i32
  // expected-error @below {{'linalg.quantized_matmul': operand 0: axis "tp" (4) does not divide dimension 1 (size 10), and this op does not support uneven shards; gather it with a shard.shard (tp-propagate does), or use a mesh that divides it}}
  %0 = linalg.quantized_matmul {tp.sharding = {dims = [[], []], partial = {tp = "sum"}}} ins(%x, %y, %c, %c : tensor<8x10xi8>, tensor<10x8xi8>, i32, i32) outs(%z : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @factors(%x: tensor<8xf32> {tp.sharding = [[]]}) {
  // expected-error @below {{which is no factor of this op; give one of 0 (parallel}}
  %y = arith.negf %x {tp.sharding = [[]], tp.factors = {tp = 7}} : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': has several blocks}}
func.func @blocks(%x: tensor<8xf32> {tp.sharding = [[]]}) {
  cf.br ^bb1
^bb1:
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @carried(%x: tensor<8xf32> {tp.sharding = [[]]}, %n: index) {
  // expected-error @below {{'scf.for': carried value 0 has no layout in tp.region_args or tp.sharding; run tp-propagate just before tp-partition}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8xf32> {
    scf.yield %a : tensor<8xf32>
  }
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @init(%x: tensor<8xf32> {tp.sharding = [[]]}, %n: index) {
  // expected-error @below {{'scf.for': operand 3 has layout [[]], but the loop carries it with layout [["tp"]]; put a shard.shard in front}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8xf32> {
    scf.yield %a : tensor<8xf32>
  } {tp.region_args = [[[], [["tp"]]]], tp.sharding = [["tp"]]}
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @yield(%x: tensor<8xf32> {tp.sharding = [["tp"]]}, %y: tensor<8xf32> {tp.sharding = [[]]}, %n: index) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8xf32> {
    // expected-error @below {{'scf.yield': operand 0 has layout [[]], but the loop carries it with layout [["tp"]]; put a shard.shard in front}}
    scf.yield %y : tensor<8xf32>
  } {tp.region_args = [[[], [["tp"]]]], tp.sharding = [["tp"]]}
  return
}
