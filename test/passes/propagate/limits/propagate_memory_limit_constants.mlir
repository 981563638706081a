// Constants whose elements differ lie whole on every device (256 bytes here; the equal one counts once, the splat not at all), beside 64 bytes of the argument and 64 of the result. What ops read of them is no copy.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=384B})' | FileCheck %s
// CHECK: peak_memory = 384
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=383B})' 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: no plan fits: arguments, results and constants alone hold at least 384; {{.*}}, or split constants that are smaller, with a smaller shard-constants: 256 bytes are whole on every device
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=255B})' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'func.func': memory-limit: a device may hold 255 bytes, and no plan fits: the constants of the function take 256 on every device, and its scalar arguments and results 0; raise the limit, or shard constants that are smaller, too, with a smaller shard-constants

// The compiled program agrees.
// RUN: shard-run %s --report=%t.json | FileCheck %s --check-prefix=RUNS
// RUNS: memory per device: arguments 64 B (params 0 B), results {{[0-9]+}} B, buffers 0 B, constants 256 B; on one device: arguments 256 B (params 0 B), results {{[0-9]+}} B, buffers 0 B, constants 256 B
// RUN: FileCheck %s --check-prefix=REPORT --input-file %t.json
// REPORT: "constants": 256
// REPORT-NEXT: "total": 384

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @constants(%a: tensor<8x8xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [4.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [5.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [6.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [7.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [8.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<8x8xf32>
  %v = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [4.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [5.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [6.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [7.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [8.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<8x8xf32>
  %s = arith.constant dense<2.0> : tensor<8x8xf32>
  %0 = arith.mulf %a, %w : tensor<8x8xf32>
  %1 = arith.addf %0, %v : tensor<8x8xf32>
  %2 = arith.mulf %1, %s : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
