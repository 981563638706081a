// A program with communication of its user has no meaning on one device: it is compared with itself, every value whole
// on every device, and the evaluator runs all devices in step.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-run %s --strategy follow --launch processes | FileCheck %s
// RUN: not shard-run %s --mesh 1 2>&1 | FileCheck %s --check-prefix=ONE

// CHECK: with whole values
// CHECK: result 0: 6x10xf32, {{\[}}["dp", "tp"], []]
// CHECK: against whole values ok
// CHECK-NEXT: against the evaluator ok: error {{[0-9.e-]+}}, with whole values {{[0-9.e-]+}} (at most
// CHECK-NEXT: verified
// ONE: is a communication op in a module that is not partitioned; run tp-spmd first, with a mesh of several devices (on one device it has no meaning)
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<6x10xf32> {tp.sharding = [["tp"], ["dp"]]}) -> (tensor<6x10xf32> {tp.sharding = [["dp", "tp"], []]}) {
  %own = shard.all_slice %x on @mesh grid_axes = [0] slice_axis = 0 : tensor<6x10xf32> -> tensor<3x10xf32>
  %next = shard.shift %own on @mesh grid_axes = [0] shift_axis = 0 offset = 1 rotate : tensor<3x10xf32> -> tensor<3x10xf32>
  %t = arith.subf %own, %next : tensor<3x10xf32>
  %all = shard.all_gather %t on @mesh grid_axes = [0] gather_axis = 0 : tensor<3x10xf32> -> tensor<6x10xf32>
  %sum = shard.all_reduce %all on @mesh grid_axes = [1] : tensor<6x10xf32> -> tensor<6x10xf32>
  %y = math.tanh %sum : tensor<6x10xf32>
  return %y : tensor<6x10xf32>
}
