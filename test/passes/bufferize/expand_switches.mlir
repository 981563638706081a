// Each case is an scf.if; the one before it, and at last the default, is its else region.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-switches)' | FileCheck %s
// An op that overwrites the result must not overwrite the argument or the constant that a region yields.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-switches,convert-elementwise-to-linalg,one-shot-bufferize{bufferize-function-boundaries=1})' | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func.func @two_cases
// CHECK-SAME: %[[CHOICE:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: tensor<4xf32> {{.*}}, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[IS7:.*]] = arith.cmpi eq, %[[CHOICE]], %c7
// CHECK: %[[IS3:.*]] = arith.cmpi eq, %[[CHOICE]], %c3
// CHECK: %[[R:.*]] = scf.if %[[IS3]] -> (tensor<4xf32>) {
// CHECK: %[[N:.*]] = math.exp %[[X]]
// CHECK: scf.yield %[[N]]
// CHECK: } else {
// CHECK: %[[E:.*]] = scf.if %[[IS7]] -> (tensor<4xf32>) {
// CHECK: scf.yield %[[Y]]
// CHECK: } else {
// CHECK: scf.yield %[[X]]
// CHECK: scf.yield %[[E]]
// CHECK: linalg.add ins(%[[X]], %[[Y]] {{.*}} outs(%[[R]]
// BUFFERS-LABEL: func.func @two_cases
// BUFFERS: memref.alloc
// BUFFERS: %[[NEW:.*]] = memref.alloc() {{.*}}{{$}}
// BUFFERS-NEXT: linalg.add {{.*}} outs(%[[NEW]]
func.func @two_cases(%choice: index, %x: tensor<4xf32> {bufferization.writable = false},
                     %y: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %r = scf.index_switch %choice -> tensor<4xf32>
  case 3 {
    %e = math.exp %x : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  }
  case 7 {
    scf.yield %y : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  %s = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// A switch without cases is its default, one in a region of another is turned as well.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: index_switch
// CHECK: scf.if
// CHECK: math.exp
// CHECK: } else {
// CHECK: scf.if
// CHECK: math.sin
// CHECK: } else {
// CHECK: math.cos
// CHECK-NOT: index_switch
func.func @nested(%choice: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.index_switch %choice -> tensor<4xf32>
  case 0 {
    %d = scf.index_switch %choice -> tensor<4xf32>
    default {
      %e = math.exp %x : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    scf.yield %d : tensor<4xf32>
  }
  default {
    %d = scf.index_switch %choice -> tensor<4xf32>
    case 1 {
      %e = math.sin %x : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    default {
      %e = math.cos %x : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    scf.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
