// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

// expected-error @below {{the module is already partitioned (tp.phase = "local")}}
module attributes {tp.phase = "local"} {}

// -----

// expected-error @below {{the module has no mesh; add shard.grid @mesh(shape = 2x4)}}
module {}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 (%x) is a tensor without static shape, tensor<?xf32>; make all shapes static before sharding}}
func.func @dynamic_argument(%x: tensor<?xf32>) { return }

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @dynamic(%x: tensor<8xf32>, %n: index) {
  // expected-error @below {{'tensor.empty': result 0 is a tensor without static shape}}
  %y = tensor.empty(%n) : tensor<?xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @rule(%x: tensor<8xf32>, %y: tensor<2xindex>) {
  // expected-error @below {{'tensor.reshape': no sharding rule for this op; rewrite it with linalg and tensor ops, or pass unknown-ops=replicate}}
  %r = tensor.reshape %x(%y) : (tensor<8xf32>, tensor<2xindex>) -> tensor<2x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @forall(%x: tensor<8xf32>) {
  // expected-error @below {{'scf.forall': no sharding rule for this op; turn it into scf.for before sharding}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %x) -> tensor<8xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return
}

// -----

shard.grid @mesh(shape = 8x32) {tp.axes = ["dp", "tp"]}
func.func @joined(%x: tensor<9x4096xf32>) -> tensor<36864xf32> {
  // expected-error @below {{'tensor.collapse_shape': result 0: axis "dp" and "tp" (256) does not divide the part of size 9 of dimension 0 (size 36864), and this op does not support uneven shards; constrain it with a shard.shard after the op instead, or use a mesh that divides it}}
  %0 = tensor.collapse_shape %x [[0, 1]] {tp.sharding = [["dp", "tp"]]} : tensor<9x4096xf32> into tensor<36864xf32>
  return %0 : tensor<36864xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @pinned(%x: tensor<8xf32>) {
  // expected-error @below {{'math.exp': no strategy of this op gives result 0 the layout {dims = [[]], partial = {tp = "sum"}}; constrain it with a shard.shard after the op instead}}
  %y = math.exp %x {tp.sharding = {dims = [[]], partial = {tp = "sum"}}} : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @constraint(%x: tensor<8xf32>) {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard': has no tp.sharding; a constraint must specify the layout of its value}}
  %y = shard.shard %x to %s : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// No path leads from a sum to an average.
func.func @contradiction(%x: tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "sum"}}})
    -> (tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "average"}}}) {
  // expected-error @below {{'func.return': no layout of operand 0 can be reached from the layouts that its producer can give it: average has no identity element, so a partial average cannot be created; relax the annotation of either}}
  return %x : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @callee(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }
func.func @call(%x: tensor<8xf32>) {
  // expected-error @below {{'func.call': no sharding rule for the call of @callee, which has a body; run tp-inline-calls first}}
  %r = func.call @callee(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @softmax(%x: tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  // expected-error @below {{'linalg.softmax': no sharding rule for this op; decompose it before sharding (tp-decompose)}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @index_pad(%x: tensor<8xf32>, %y: tensor<10xf32>) {
  // expected-error @below {{'tensor.pad': computes the padding value from the index; pad with one value, or use linalg.generic}}
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %v = tensor.extract %y[%i] : tensor<10xf32>
    tensor.yield %v : f32
  } : tensor<8xf32> to tensor<10xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @named(%x: tensor<3xf32>) {
  // expected-error @below {{'arith.negf': tp.factors names a strategy that this op does not have on this mesh}}
  %r = arith.negf %x {tp.factors = {tp = 0 : i64}} : tensor<3xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 (%x) is tensor<4294967296x4294967296xf32>; a tensor may have at most 2^50 elements}}
func.func @more_than_addresses(%x: tensor<4294967296x4294967296xf32>) { return }

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 (%x) is tensor<9223372036854775807x0x2xf32>; a tensor may have at most 2^50 elements}}
func.func @empty_of_large_dimensions(%x: tensor<9223372036854775807x0x2xf32>) { return }

// -----

// A product of 2^76 operations: no modelled time is that long.
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': no plan satisfies the annotations, or every plan takes more than 26 days by the cost model}}
func.func @forever(%x: tensor<33554432x33554432xf32>) -> tensor<33554432x33554432xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33554432x33554432xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<33554432x33554432xf32>) -> tensor<33554432x33554432xf32>
  %m = linalg.matmul ins(%x, %x : tensor<33554432x33554432xf32>, tensor<33554432x33554432xf32>)
    outs(%f : tensor<33554432x33554432xf32>) -> tensor<33554432x33554432xf32>
  return %m : tensor<33554432x33554432xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @affine_loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'affine.for': no sharding rule for this op; lower it before sharding (--lower-affine)}}
  %r = affine.for %i = 0 to 8 iter_args(%a = %x) -> (tensor<8xf32>) {
    %v = tensor.extract %a[%i] : tensor<8xf32>
    %b = tensor.insert %v into %a[%i] : tensor<8xf32>
    affine.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @print(%x: f32) {
  // expected-error @below {{'vector.print': no sharding rule for this op; remove it: a compiled program does not print}}
  vector.print %x : f32
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @dim(%x: tensor<8xf32>, %i: index) -> index {
  // expected-error @below {{'tensor.dim': no sharding rule for this op; fold it before sharding (--canonicalize): all shapes are static}}
  %n = tensor.dim %x, %i : tensor<8xf32>
  return %n : index
}

// -----

module {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  // expected-error @below {{a module inside of a module is not planned; move its functions out of it, or plan it by itself}}
  module @inner {
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
// expected-error @below {{'func.func': has the name @mesh.sub, which the grid of the sub-axes of @mesh needs; rename it}}
func.func @mesh.sub(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
