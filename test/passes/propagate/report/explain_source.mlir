// Names of the source: of arguments and ops in the text, of locations, of results. The text has them, the module does not.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=wq})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=%%wq})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=logits})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OP
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=high})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=dot_general})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOCATION
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=loss})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-raise,tp-propagate{explain='result 1'})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{explain=logit})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// ARGUMENT: explain_source.mlir:21:52: remark: %wq has layout
// OP: explain_source.mlir:24:13: remark: %logits has layout
// SECOND: remark: loss (%high, result 1) has layout
// LOCATION: : dot_general with logits and wq (%{{.*}}) has layout
// RESULT: remark: loss (%high, result 1) has layout
// NUMBER: remark: loss (%high, result 1) has layout
// UNKNOWN: explain: there is no tensor named 'logit'; similar names: %logits, {{.*}}; names are those of arguments and results (tp.name, result 0)

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}

func.func @step(%x: tensor<64x256xf32>,            %wq: tensor<256x256xf32>)
    -> (tensor<64x256xf32>, tensor<64x256xf32> {tp.name = "loss"}) {
  %e = tensor.empty() : tensor<64x256xf32>
  %logits = linalg.matmul ins(%x, %wq : tensor<64x256xf32>, tensor<256x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %0 = linalg.matmul ins(%logits, %wq : tensor<64x256xf32>, tensor<256x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32> loc("jit(step)/dot_general")
  %low, %high = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x256xf32>) outs(%e, %e : tensor<64x256xf32>, tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    %m = arith.mulf %a, %a : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<64x256xf32>, tensor<64x256xf32>)
  return %low, %high : tensor<64x256xf32>, tensor<64x256xf32>
}
