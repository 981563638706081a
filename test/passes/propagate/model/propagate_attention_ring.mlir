// Rows are split, and keys and values arrive split along their columns by the same axis. They are gathered; within a limit that the gathered copies exceed
// they travel in a ring, which sends as many bytes. The same, planned again, and run.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=tp=4 topology=h100})' | FileCheck %s --check-prefix=GATHER
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=tp=4 topology=h100 memory-limit=2300000})' > %t.plan.mlir
// RUN: FileCheck %s --check-prefix=RING < %t.plan.mlir
// RUN: shard-opt %t.plan.mlir --pass-pipeline='builtin.module(tp-propagate{topology=h100})' | FileCheck %s --check-prefix=RING
// RUN: shard-opt %t.plan.mlir --pass-pipeline='builtin.module(tp-partition)' | FileCheck %s --check-prefix=LOCAL
// RUN: shard-run %s --mesh tp=4 --topology h100 | FileCheck %s --check-prefix=RUN-GATHER
// RUN: shard-run %s --mesh tp=4 --topology h100 --memory-limit 2300000 | FileCheck %s --check-prefix=RUN-RING

// GATHER-NOT: tp.factors
// GATHER: shard.shard %arg1
// GATHER-NOT: tp.factors
// GATHER: shard.shard %arg2
// GATHER-NOT: tp.factors
// RING-NOT: shard.shard
// RING: linalg.contract {{.*}}tp.factors = {tp = "ring 1"}{{.*}} ins(%arg0, %arg1 :
// RING-NOT: shard.shard
// RING: linalg.contract {{.*}}tp.factors = {tp = "ring 1"}{{.*}}, %arg2 :
// RING-NOT: shard.shard
// LOCAL: %[[K:.*]] = shard.all_gather %arg1 on @mesh grid_axes = [0] gather_axis = 0 {tp.ring} : tensor<128x256xf32> -> tensor<512x256xf32>
// LOCAL: linalg.contract {{.*}} ins(%arg0, %[[K]] : tensor<4x128x256xf32>, tensor<512x256xf32>) {{.*}} -> tensor<4x128x512xf32>
// LOCAL: %[[V:.*]] = shard.all_gather %arg2 {{.*}} {tp.ring}
// LOCAL: linalg.contract {{.*}}, %[[V]] : tensor<4x128x512xf32>, tensor<512x256xf32>)
// RUN-GATHER: all_gather tp 2 768.0 KiB
// RUN-GATHER: memory per device: {{.*}} buffers {{[0-9]+\.[0-9]}} MiB
// RUN-GATHER: consistent with one device
// RUN-RING: permute tp 6 768.0 KiB
// RUN-RING: memory per device: {{.*}} buffers {{[0-9]+\.[0-9]}} KiB
// RUN-RING: consistent with one device

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%q: tensor<4x512x256xf32> {tp.sharding = [[], ["tp"], []]}, %k: tensor<512x256xf32> {tp.sharding = [["tp"], []]}, %v: tensor<512x256xf32> {tp.sharding = [["tp"], []]}) -> (tensor<4x512x256xf32> {tp.sharding = [[], ["tp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x512x512xf32>
  %eo = tensor.empty() : tensor<4x512x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x512x256xf32>, tensor<512x256xf32>) outs(%s0 : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<4x512x512xf32>, tensor<512x256xf32>) outs(%o0 : tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
  return %o : tensor<4x512x256xf32>
}
