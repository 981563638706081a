// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/no/such/folder/plan.json})' 2>&1 | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t})' 2>&1 | FileCheck %s --check-prefix=FOLDER
// Found before anything is planned, and so before anything is explained.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t explain=%%arg0})' 2>&1 | FileCheck %s --check-prefix=FOLDER --implicit-check-not=remark:
// A suffix that names no format, also where another part of the path has one.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/plan.json.gz})' 2>&1 | FileCheck %s --check-prefix=SUFFIX
// RUN: not ls %t/plan.json.gz
// A name without a suffix is JSON: a device, a pipe.
// RUN: mkdir %t/a.b && shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/a.b/plan})' -o /dev/null
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/a.b/plan
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/plan.json report-alternatives=many})' 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report-alternatives=-1})' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// What shows the graph, or compares it, needs it.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/plan.html report-graph=false})' 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report-against=%t/a.b/plan report-graph=false})' 2>&1 | FileCheck %s --check-prefix=AGAINST
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t/small.json report-graph=false})' -o /dev/null
// RUN: FileCheck %s --check-prefix=SMALL --implicit-check-not='"graph"' --input-file=%t/small.json

// SMALL: "schema": "tpshard.plan/1"
// GRAPH: error: the report '{{.*}}/plan.html' shows the graph that report-graph=false leaves out; leave out report-graph, or name the report .json, .md or .txt
// AGAINST: error: report-against compares the graphs of two plans, which report-graph=false leaves out; give one of them
// CHECK: error: the report cannot be written to '{{.*}}/no/such/folder/plan.json': No such file or directory; make its folder first
// FOLDER: error: the report cannot be written to '{{.*}}': Is a directory
// SUFFIX: error: the report '{{.*}}/plan.json.gz' ends in '.gz', which is no format of reports; name it .html for a page, .json, .md or .txt for text, or .model-explorer.json or .node-data.json for Model Explorer
// NONE: "schema": "tpshard.plan/1"
// NONE: "graph"
// COUNT: error: report-alternatives 'many' is not a whole number from 0 to 1000
// NEGATIVE: error: report-alternatives '-1' is not a whole number from 0 to 1000

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @f(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  return %x : tensor<64x128xf32>
}
