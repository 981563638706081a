// TOSA programs: N ranks against one device and the evaluator.
// RUN: shard-run %s --function mlp --mesh tp=4 | FileCheck %s
// RUN: shard-run %s --function mlp --mesh tp=3 --strategy follow | FileCheck %s
// RUN: shard-run %s --function shapes --mesh tp=4 | FileCheck %s
// RUN: shard-run %s --function shapes --mesh tp=3 --strategy follow | FileCheck %s
// RUN: shard-run %s --function conv --mesh tp=4 | FileCheck %s
// RUN: shard-run %s --function conv --mesh tp=3 --strategy follow | FileCheck %s
// RUN: shard-run %s --function flow --mesh tp=4 | FileCheck %s
// RUN: shard-run %s --function flow --mesh tp=3 --strategy follow | FileCheck %s
// CHECK: verified

func.func @mlp(%x: tensor<1x8x16xf32> {tp.sharding = [[], ["tp"], []]}, %w: tensor<1x16x12xf32>, %b: tensor<1x1x12xf32>) -> tensor<1x8x12xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sh = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.matmul %x, %w, %zp, %zp : (tensor<1x8x16xf32>, tensor<1x16x12xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x12xf32>
  %a = tosa.add %m, %b {tp.sharding = [[], [], ["tp"]]} : (tensor<1x8x12xf32>, tensor<1x1x12xf32>) -> tensor<1x8x12xf32>
  %t = tosa.tanh %a : (tensor<1x8x12xf32>) -> tensor<1x8x12xf32>
  %mx = tosa.reduce_max %t {axis = 2 : i32} : (tensor<1x8x12xf32>) -> tensor<1x8x1xf32>
  %s = tosa.sub %t, %mx : (tensor<1x8x12xf32>, tensor<1x8x1xf32>) -> tensor<1x8x12xf32>
  %e = tosa.exp %s : (tensor<1x8x12xf32>) -> tensor<1x8x12xf32>
  %sum = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x8x12xf32>) -> tensor<1x8x1xf32>
  %r = tosa.reciprocal %sum : (tensor<1x8x1xf32>) -> tensor<1x8x1xf32>
  %p = tosa.mul %e, %r, %sh : (tensor<1x8x12xf32>, tensor<1x8x1xf32>, tensor<1xi8>) -> tensor<1x8x12xf32>
  return %p : tensor<1x8x12xf32>
}

func.func @shapes(%x: tensor<4x6x5xf32> {tp.sharding = [["tp"], [], []]}) -> (tensor<24x5xf32>, tensor<5x4x6xf32>, tensor<8x6x5xf32>, tensor<2x3x5xf32>, tensor<6x6x5xf32>, tensor<4x6x5xf32>) {
  %s = tosa.const_shape {values = dense<[24, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %a = tosa.reshape %x, %s : (tensor<4x6x5xf32>, !tosa.shape<2>) -> tensor<24x5xf32>
  %b = tosa.transpose %x {perms = array<i32: 2, 0, 1>} : (tensor<4x6x5xf32>) -> tensor<5x4x6xf32>
  %c = tosa.concat %x, %x {axis = 0 : i32} : (tensor<4x6x5xf32>, tensor<4x6x5xf32>) -> tensor<8x6x5xf32>
  %st = tosa.const_shape {values = dense<[1, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %sz = tosa.const_shape {values = dense<[2, 3, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %d = tosa.slice %x, %st, %sz : (tensor<4x6x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x3x5xf32>
  %pd = tosa.const_shape {values = dense<[1, 1, 0, 0, 0, 0]> : tensor<6xindex>} : () -> !tosa.shape<6>
  %pv = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %e = tosa.pad %x, %pd, %pv : (tensor<4x6x5xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<6x6x5xf32>
  %f = tosa.reverse %x {axis = 1 : i32} : (tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  return %a, %b, %c, %d, %e, %f : tensor<24x5xf32>, tensor<5x4x6xf32>, tensor<8x6x5xf32>, tensor<2x3x5xf32>, tensor<6x6x5xf32>, tensor<4x6x5xf32>
}

func.func @conv(%x: tensor<4x8x8x3xf32> {tp.sharding = [["tp"], [], [], []]}, %w: tensor<6x3x3x3xf32>, %b: tensor<6xf32>) -> (tensor<4x8x8x6xf32>, tensor<4x4x4x6xf32>, tensor<4x8x8xi32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<4x8x8x3xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x8x6xf32>
  %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4x8x8x6xf32>) -> tensor<4x8x8x6xf32>
  %p = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<4x8x8x6xf32>) -> tensor<4x4x4x6xf32>
  %a = tosa.argmax %r {axis = 3 : i32} : (tensor<4x8x8x6xf32>) -> tensor<4x8x8xi32>
  return %r, %p, %a : tensor<4x8x8x6xf32>, tensor<4x4x4x6xf32>, tensor<4x8x8xi32>
}

func.func @flow(%x: tensor<6x5xf32> {tp.sharding = [["tp"], []]}, %c: tensor<i1>, %i: tensor<1x3xi32>, %v: tensor<1x6x5xf32>) -> (tensor<6x5xf32>, tensor<1x3x5xf32>, tensor<6x5xi32>) {
  %y = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<6x5xf32>) -> tensor<6x5xf32> {
  ^bb0(%a: tensor<6x5xf32>):
    %t = tosa.abs %a : (tensor<6x5xf32>) -> tensor<6x5xf32>
    tosa.yield %t : tensor<6x5xf32>
  } else {
  ^bb0(%a: tensor<6x5xf32>):
    tosa.yield %a : tensor<6x5xf32>
  }
  %g = tosa.gather %v, %i : (tensor<1x6x5xf32>, tensor<1x3xi32>) -> tensor<1x3x5xf32>
  %k = tosa.cast %x : (tensor<6x5xf32>) -> tensor<6x5xi32>
  return %y, %g, %k : tensor<6x5xf32>, tensor<1x3x5xf32>, tensor<6x5xi32>
}
