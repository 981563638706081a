// Reports, remarks and errors call values as the source does, if it is a file that can be read again.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=0 report=%t.md})' -o /dev/null 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.md
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// CHECK-DAG: argument %weights{{ }}
// CHECK-DAG: argument %x.0$-_{{ }}
// CHECK-DAG: result 0 (%first), 1 (%second){{ }}

// REMARK: remark: 'func.func': argument 0 (%odd) is replicated

// The name in the source, and the one that MLIR prints, ask for the same.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%weights})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%arg1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: source_names.mlir:[[#]]:{{[0-9]+}}: remark: %weights has layout
// The second result of an op, whose names stand before it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%second})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: remark: %second (result 1) has layout
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%wieghts})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: there is no tensor named '%wieghts'; similar names: %weights, %first, {{.*}}; names are

// Generic form, bytecode that knows the place in this file, and the text of tp_text_run have names, too.
// RUN: shard-opt %s --mlir-print-op-generic --mlir-print-local-scope -o %t.generic.mlir
// RUN: sed 's/%%arg1/%%generic/g' %t.generic.mlir > %t.renamed.mlir
// RUN: shard-opt %t.renamed.mlir --pass-pipeline='builtin.module(tp-propagate{explain=%%generic})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=GENERIC
// GENERIC: remark: %generic has layout
// RUN: shard-opt %s --emit-bytecode -o %t.mlirbc
// RUN: shard-opt %t.mlirbc --pass-pipeline='builtin.module(tp-propagate{explain=%%weights})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// A pipe has been read. A number may be the name of another value in what MLIR prints.
// RUN: cat %s | shard-opt --pass-pipeline='builtin.module(tp-propagate{explain=%%arg1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: remark: argument 1 (%arg1) has layout
// RUN: sed 's/%%weights/%%77/g' %s > %t.number.mlir
// RUN: shard-opt %t.number.mlir --pass-pipeline='builtin.module(tp-propagate{explain=%%arg1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPE

// A file that has changed since, or whose place holds something else, gives no names.
// RUN: cp %s %t.moved.mlir
// RUN: shard-opt %t.moved.mlir --emit-bytecode -o %t.moved.mlirbc
// RUN: rm %t.moved.mlir
// RUN: shard-opt %t.moved.mlirbc --pass-pipeline='builtin.module(tp-propagate{explain=%%arg1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: sed 's/^func/     func/; s/^ .*%%weights: /    weights : /' %s > %t.moved.mlir
// RUN: shard-opt %t.moved.mlirbc --pass-pipeline='builtin.module(tp-propagate{explain=%%arg1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPE

#id = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x.0$-_: tensor<65536xf32> {tp.sharding = [["tp"]]},
                %weights: tensor<65536xf32> {tp.sharding = [[]]}) -> (tensor<65536xf32>, tensor<65536xf32>) {
  %e = tensor.empty() : tensor<65536xf32>
  %sum = arith.addf %x.0$-_, %weights : tensor<65536xf32>
  %first, %second = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%sum : tensor<65536xf32>) outs(%e, %e : tensor<65536xf32>, tensor<65536xf32>) {
  ^bb0(%s: f32, %a: f32, %b: f32):
    %t = math.absf %s : f32
    linalg.yield %t, %s : f32, f32
  } -> (tensor<65536xf32>, tensor<65536xf32>)
  return %first, %second : tensor<65536xf32>, tensor<65536xf32>
}

func.func @whole(%odd: tensor<5xf32>) -> (tensor<5xf32> {tp.sharding = [[]]}) {
  %y = math.absf %odd : tensor<5xf32>
  return %y : tensor<5xf32>
}
