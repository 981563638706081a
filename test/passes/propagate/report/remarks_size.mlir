// Small tensors are not worth a remark, and 64 MiB are not small.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=none})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=64MiB})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=65MiB})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=64M})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// DEFAULT-NOT: remark:
// DEFAULT: remark: 'func.func': argument 1 (big) is replicated on all 4 devices, 64.0 MiB on each
// DEFAULT-NOT: remark:
// NONE-NOT: remark:
// ERROR: error: invalid remark-bytes '64M': expected bytes with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), as in 80GB, or none

shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @large(%x: tensor<3xf32> {tp.sharding = [[]]}, %y: tensor<4096x4096xf32> {tp.name = "big"}) -> (tensor<4096x4096xf32> {tp.sharding = [[], []]}) {
  return %y : tensor<4096x4096xf32>
}
