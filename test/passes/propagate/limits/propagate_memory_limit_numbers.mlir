// Numbers that the function is given or returns count like tensors: 16 bytes here, beside 1024 of an argument and 1024 of a result.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2064B})' | FileCheck %s
// CHECK: peak_memory = 2064
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2063B})' 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: a device may hold 2063 bytes, and no plan fits: arguments, results and constants alone hold at least 2064; every plan counts at least 2064 here (
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=15B})' 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: error: 'func.func': memory-limit: a device may hold 15 bytes, and no plan fits: the constants of the function take 0 on every device, and its scalar arguments and results 16; raise the limit, or shard constants that are smaller, too, with a smaller shard-constants
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @numbers(%a: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %n: i64, %m: i32)
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}, i32) {
  %b = math.exp %a : tensor<32x32xf32>
  return %b, %m : tensor<32x32xf32>, i32
}
