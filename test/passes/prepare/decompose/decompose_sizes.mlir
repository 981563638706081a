// Sizes, strides and padding that are constants become static, and casts that forget sizes go.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s
// What was checked is not checked again.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-decompose)' | FileCheck %s
// RUN: shard-run %s --function pad --mesh 2 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function crop --mesh 2 | FileCheck %s --check-prefix=RESULT
// RESULT: verified
// RUN: shard-run %s --function roll --mesh 2 | FileCheck %s --check-prefix=CAST
// RUN: shard-run %s --function scatter --mesh 2 | FileCheck %s --check-prefix=CAST
// CAST: against one device ok
// Padding of static size is split as one that is written so.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=4})' | FileCheck %s --check-prefix=SPLIT
// SPLIT-LABEL: func.func @rows
// SPLIT-NOT: all_gather
// SPLIT: tensor.pad
// SPLIT-NOT: all_gather
// SPLIT: return

// CHECK-LABEL: func.func @pad
// CHECK: tensor.pad %arg0 low[0, 1] high[0, 2]
func.func @pad(%x: tensor<4x9xf32>) -> tensor<4x12xf32> {
  %c = arith.constant 3.0 : f32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.addi %one, %one : index
  %r = tensor.pad %x low[%zero, %one] high[0, %two] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

// Negative padding was not seen, and stored out of bounds.
// CHECK-LABEL: func.func @crop
// CHECK-NOT: tensor.pad
// CHECK: tensor.extract_slice %arg0[0, 1] [4, 8]
func.func @crop(%x: tensor<4x9xf32>) -> tensor<4x10xf32> {
  %c = arith.constant 3.0 : f32
  %minus = arith.constant -1 : index
  %r = tensor.pad %x low[0, %minus] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x10xf32>
  return %r : tensor<4x10xf32>
}

// CHECK-LABEL: func.func @roll
// CHECK-NOT: tensor.cast
// CHECK: tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<8x6xf32>
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @roll(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %a = tensor.extract_slice %x[0, 4] [8, 2] [1, 1] : tensor<8x6xf32> to tensor<8x2xf32>
  %b = tensor.cast %a : tensor<8x2xf32> to tensor<8x?xf32>
  %c = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<8x6xf32> to tensor<8x4xf32>
  %d = tensor.cast %c : tensor<8x4xf32> to tensor<8x?xf32>
  %e = tensor.concat dim(1) %b, %d : (tensor<8x?xf32>, tensor<8x?xf32>) -> tensor<8x?xf32>
  %f = tensor.cast %e : tensor<8x?xf32> to tensor<8x6xf32>
  return %f : tensor<8x6xf32>
}

// As upstream lowers tosa.scatter.
// CHECK-LABEL: func.func @scatter
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<10x4xf32>
func.func @scatter(%x: tensor<10x4xf32>, %at: tensor<3xi32>, %rows: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%y = %x) -> (tensor<10x4xf32>) {
    %n = tensor.extract %at[%i] : tensor<3xi32>
    %p = arith.index_cast %n : i32 to index
    %row = tensor.extract_slice %rows[%i, %zero] [%one, %four] [%one, %one] : tensor<3x4xf32> to tensor<?x?xf32>
    %z = tensor.insert_slice %row into %y[%p, %zero] [%one, %four] [%one, %one] : tensor<?x?xf32> into tensor<10x4xf32>
    scf.yield %z : tensor<10x4xf32>
  }
  return %r : tensor<10x4xf32>
}

func.func @rows(%x: tensor<4096x256xf32>) -> tensor<4096x259xf32> {
  %c = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = tensor.pad %x low[%zero, %one] high[%zero, %two] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4096x256xf32> to tensor<4096x259xf32>
  return %r : tensor<4096x259xf32>
}

// One number of two is known: so is the other.
// CHECK-LABEL: func.func @one_known
// CHECK: %[[OK:.*]] = arith.cmpi eq
// CHECK: cf.assert %[[OK]], "the padding of dimension 1 is negative, or does not give the size of the result"
// CHECK: tensor.pad %arg0 low[0, 1] high[0, 2]
func.func @one_known(%x: tensor<4x9xf32>, %n: index) -> tensor<4x12xf32> {
  %c = arith.constant 3.0 : f32
  %r = tensor.pad %x low[0, %n] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

// CHECK-LABEL: func.func @none_known
// CHECK: %[[LEAST:.*]] = arith.minsi %arg1
// CHECK: %[[LOW:.*]] = arith.maxsi %[[LEAST]]
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[LOW]]
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: tensor.pad %arg0 low[0, %[[LOW]]] high[0, %[[REST]]]
func.func @none_known(%x: tensor<4x9xf32>, %n: index, %m: index) -> tensor<4x12xf32> {
  %c = arith.constant 3.0 : f32
  %r = tensor.pad %x low[0, %n] high[0, %m] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

// A program that computes one number from the other may still have a negative one.
// CHECK-LABEL: func.func @computed
// CHECK: cf.assert
func.func @computed(%x: tensor<4x9xf32>, %n: index) -> tensor<4x12xf32> {
  %c = arith.constant 3.0 : f32
  %three = arith.constant 3 : index
  %m = arith.subi %three, %n : index
  %r = tensor.pad %x low[0, %n] high[0, %m] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}
