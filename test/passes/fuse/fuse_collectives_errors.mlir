// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-fuse-collectives)' 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-fuse-collectives{fuse=never})' 2>&1 | FileCheck %s --check-prefix=FUSE
// RUN: not shard-run %s --fuse maybe 2>&1 | FileCheck %s --check-prefix=TOOL
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=4 topology=nowhere fuse=always})' 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// PHASE: is not partitioned (no tp.phase = "local"); run tp-partition first
// FUSE: fuse 'never' is not known; use no, faster or always
// TOOL: --fuse takes no, faster or always, not 'maybe'
// TOPOLOGY: unknown topology "nowhere"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
