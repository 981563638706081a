// Names for several results in the source, "%pair:2": values are called "%pair#1".
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.md})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// CHECK-DAG: result 0 (%pair#0), 1 (%pair#1), 2 (%last){{ }}
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%pair#1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=pair#1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' --tp-explain=pair#1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: source_groups.mlir:[[#]]:{{[0-9]+}}: remark: %pair#1 (result 1) has layout
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=last})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: remark: %last (result 2) has layout
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=pair#2})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: there is no tensor named 'pair#2'; similar names: %pair#0, %pair#1,
// Generic form has such names, too; a number stays what MLIR prints.
// RUN: shard-opt %s --mlir-print-op-generic --mlir-print-local-scope -o %t.generic.mlir
// RUN: sed 's/%%[0-9]*:3 = /%%all:3 = /; s/%%[0-9]*#/%%all#/g' %t.generic.mlir > %t.renamed.mlir
// RUN: shard-opt %t.renamed.mlir --pass-pipeline='builtin.module(tp-propagate{explain=all#2})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=GENERIC
// GENERIC: remark: %all#2 (result 2) has layout

#id = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x: tensor<4096xf32> {tp.sharding = [["tp"]]}) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %e = tensor.empty() : tensor<4096xf32>
  %pair:2, %last = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4096xf32>) outs(%e, %e, %e : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  ^bb0(%s: f32, %a: f32, %b: f32, %c: f32):
    %t = math.absf %s : f32
    linalg.yield %t, %s, %t : f32, f32, f32
  } -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
  return %pair#0, %pair#1, %last : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}
