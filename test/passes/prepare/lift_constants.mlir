// Constants of 32 bytes and more become arguments behind those of the function, one for equal ones that are annotated alike; also from loops. Smaller ones, splats, unused ones, sparse ones,
// and those of private functions stay.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-lift-constants{shard-constants=32B})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-lift-constants{shard-constants=never})' | FileCheck %s --check-prefix=NEVER
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-lift-constants)' | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: tp.constant

// CHECK-LABEL: func.func @main(%arg0: tensor<8xf32> {tp.name = "x"},
// CHECK-SAME: %arg1: tensor<8xf32> {tp.constant = dense<[1.000000e+00, 2.000000e+00, {{.*}}]> : tensor<8xf32>, tp.name = "constant 0", tp.role = "param"},
// CHECK-SAME: %arg2: tensor<4xi64> {tp.constant = dense_resource<numbers> : tensor<4xi64>, tp.name = "constant 1", tp.role = "param"},
// CHECK-SAME: %arg3: tensor<8xf32> {tp.constant = dense<[1.000000e+00, {{.*}}]> : tensor<8xf32>, tp.name = "constant 2", tp.role = "param", tp.sharding = {{\[}}["x"]]}) -> (tensor<8xf32> {tp.sharding = {{\[}}["x"]]}, tensor<4xi64>, tensor<8xf32>, tensor<2xf32>, tensor<8xf32>)
// CHECK-NOT: dense<[1.000000e+00, 2.000000e+00, 3
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %arg0)
// CHECK-NEXT: arith.addf %[[SUM]], %arg1
// CHECK: arith.addf %{{.*}}, %arg1
// CHECK: arith.addf %{{.*}}, %arg3
// CHECK: %[[SMALL:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: %[[SPARSE:.*]] = arith.constant sparse
// CHECK: return %{{.*}}, %arg2, %{{.*}}, %[[SMALL]], %[[SPARSE]]
// CHECK: func.func private @called
// CHECK-NEXT: arith.constant dense<[1.000000e+00, 2.000000e+00, 3

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%x: tensor<8xf32> {tp.name = "x"}) -> (tensor<8xf32> {tp.sharding = [["x"]]}, tensor<4xi64>, tensor<8xf32>, tensor<2xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%sum = %x) -> tensor<8xf32> {
    %inside = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    %next = arith.addf %sum, %inside : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %equal = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %y = arith.addf %r, %equal : tensor<8xf32>
  %n = arith.constant dense_resource<numbers> : tensor<4xi64>
  %annotated = arith.constant {tp.sharding = [["x"]]} dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %z = arith.addf %y, %annotated : tensor<8xf32>
  %splat = arith.constant dense<2.0> : tensor<8xf32>
  %w = arith.mulf %z, %splat : tensor<8xf32>
  %unused = arith.constant dense<[8.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %small = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %sparse = arith.constant sparse<[[1], [2]], [1.0, 2.0]> : tensor<8xf32>
  return %z, %n, %w, %small, %sparse : tensor<8xf32>, tensor<4xi64>, tensor<8xf32>, tensor<2xf32>, tensor<8xf32>
}
func.func private @called() -> tensor<8xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  return %c : tensor<8xf32>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x080000000100000000000000020000000000000003000000000000000400000000000000"
    }
  }
#-}
