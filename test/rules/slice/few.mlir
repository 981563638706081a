// Up to 8 elements, out of 8 times as many at least, are fewer than the devices that they could be handed out to: each device contributes what it
// holds of them. More move over devices as a window.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{strategy=follow})' | FileCheck %s
// RUN: sed 's/@few/@main/' %s >%t.few.mlir
// RUN: shard-run %t.few.mlir --mesh 4 --strategy follow
// RUN: sed 's/@more/@main/' %s >%t.more.mlir
// RUN: shard-run %t.more.mlir --mesh 4 --strategy follow

// CHECK-LABEL: func.func @few
// CHECK-NOT: tp.permute
// CHECK: shard.all_reduce %{{.*}} : tensor<8x1024xf32> -> tensor<8x1024xf32>
// CHECK: return
// CHECK-LABEL: func.func @more
// CHECK-NOT: shard.all_reduce
// CHECK: call @tp.permute
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @few(%a: tensor<72x1024xf32> {tp.sharding = [["x"], []]}) -> tensor<8x1024xf32> {
  %s = tensor.extract_slice %a[20, 0] [8, 1024] [1, 1] : tensor<72x1024xf32> to tensor<8x1024xf32>
  return %s : tensor<8x1024xf32>
}

func.func @more(%a: tensor<72x1024xf32> {tp.sharding = [["x"], []]}) -> tensor<9x1024xf32> {
  %s = tensor.extract_slice %a[20, 0] [9, 1024] [1, 1] : tensor<72x1024xf32> to tensor<9x1024xf32>
  return %s : tensor<9x1024xf32>
}
