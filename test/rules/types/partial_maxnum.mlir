// RUN: split-file %s %t
// RUN: shard-run %t/nan.mlir | FileCheck %s
// RUN: not shard-run %t/integer.mlir 2>&1 | FileCheck %s --check-prefix=INTEGER
// CHECK: verified
// INTEGER: 'shard.shard': result 0: tp.sharding: partial over "a" by "maxnumf", which cannot combine elements of type i32

//--- nan.mlir
// A partial value by maxnumf keeps a NaN: the other devices hold NaN, not -infinity.
shard.grid @mesh(shape = 4) {tp.axes = ["a"]}
func.func @main(%x: tensor<7x5xf32>) -> (tensor<7x5xf32> {tp.sharding = [["a"], []]}, tensor<7x5xf32> {tp.sharding = [["a"], []]}) {
  %zero = arith.constant dense<0.0> : tensor<7x5xf32>
  %nan = arith.divf %zero, %zero : tensor<7x5xf32>
  %is = arith.cmpf olt, %x, %zero : tensor<7x5xf32>
  %some = arith.select %is, %nan, %x : tensor<7x5xi1>, tensor<7x5xf32>
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %y = shard.shard %some to %s {tp.sharding = {dims = [[], []], partial = {a = "maxnumf"}}} : tensor<7x5xf32>
  %z = shard.shard %some to %s {tp.sharding = {dims = [[], []], partial = {a = "minnumf"}}} : tensor<7x5xf32>
  return %y, %z : tensor<7x5xf32>, tensor<7x5xf32>
}
//--- integer.mlir
shard.grid @mesh(shape = 4) {tp.axes = ["a"]}
func.func @main(%x: tensor<7x5xi32>) -> (tensor<7x5xi32> {tp.sharding = [["a"], []]}) {
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = {dims = [[], []], partial = {a = "maxnumf"}}} : tensor<7x5xi32>
  return %y : tensor<7x5xi32>
}
