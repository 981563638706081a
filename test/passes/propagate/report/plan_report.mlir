// One gather and one sum, with their causes; the file is the same on every run.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json})' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.json
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.again.json})' -o /dev/null
// RUN: cmp %t.json %t.again.json
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o %t.plain.mlir
// RUN: cmp %t.mlir %t.plain.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.md})' -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.none.json report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t.none.json

// CHECK: "schema": "tpshard.plan/1"
// CHECK: "function": "mlp"
// CHECK: "annotations": 4,
// CHECK: "annotation_groups": [
// CHECK: "name": "x",
// CHECK: "count": 1,
// CHECK: "numbers": [
// CHECK-NEXT: 0
// CHECK: "cost_without_seconds": {{null|[0-9.e-]+}},
// CHECK-NEXT: "bound_without_seconds": {{[0-9.e-]+}},
// CHECK-NEXT: "saves_seconds":
// CHECK: "without_annotations": {
// CHECK: "collectives": [
// CHECK: "kind": "all_reduce",
// CHECK-NEXT: "axes": "tp",
// CHECK-NEXT: "group": 4,
// CHECK-NEXT: "tensor": "tensor<64x64xf32>",
// CHECK-NEXT: "reduction": "sum",
// CHECK-NEXT: "count": 1,
// CHECK-NEXT: "count_is_known": true,
// CHECK-NEXT: "bytes_per_device": 24576,
// CHECK: "value": "%y"
// CHECK: "from": "{dims = {{\[\[}}], []], partial = {tp = \"sum\"}}",
// CHECK-NEXT: "to": {{"\[\[\], \[\]\]"}},
// CHECK: "op": "func.return",
// CHECK-NEXT: "body": "",
// CHECK-NEXT: "location": "plan_report.mlir:[[# @LINE + 60]]:3",
// CHECK-NEXT: "at": "plan_report.mlir:[[# @LINE + 59]]",
// CHECK-NEXT: "operand": 0
// CHECK: "cause": [
// CHECK-NEXT: "%w{{[12]}} is pinned to
// CHECK: linalg.matmul at {{.*}} splits over tp a dimension that it reduces",
// CHECK-NEXT: "%y is a partial sum over tp",
// CHECK-NEXT: "result 0 is pinned to {{\[\[\], \[\]\]}}"
// CHECK: "alternative": {
// CHECK: "extra_seconds":
// CHECK: "no_alternative": null
// CHECK: "decisions": [
// CHECK: "kind": "op",
// CHECK: "op": "linalg.matmul",
// CHECK: "value": "%{{[hy]}}",
// CHECK: "strategies": {{[0-9]+}},
// CHECK-NEXT: "worth_seconds": {{[0-9.e-]+}}
// CHECK: "other_decisions": 0

// The same to read: a summary of where time goes, then why, with human units, short places and aligned columns.
// TEXT: # Plan for 4 devices
// TEXT: Mesh tp=4, topology cpu, strategy plan.
// TEXT: A step takes [[STEP:[0-9.]+ us]] in the model: {{[0-9.]+}} % compute, [[SHARE:[0-9.]+ %]] collectives, {{[0-9.]+}} % slices and masks.
// TEXT-NEXT: A device sends 24.0 KiB and holds at most {{[0-9.]+}} KiB.
// TEXT-NEXT: Proven: no plan with these annotations costs less ({{.*}}, {{[0-9]+}} strategies).
// TEXT: {{^}}| part               |      time |   share |     sent | runs |{{$}}
// TEXT-NEXT: {{^}}|--------------------|----------:|--------:|---------:|-----:|{{$}}
// TEXT-NEXT: {{^}}| compute            | {{[0-9.]+}} us |  {{[0-9.]+}} % |          |      |{{$}}
// TEXT-NEXT: {{^}}| all_reduce over tp | [[TIME:[0-9.]+ us]] |  [[SHARE]] | 24.0 KiB |    1 |{{$}}
// TEXT: {{^}}| step {{.*}}[[STEP]] | 100.0 % | 24.0 KiB |    1 |{{$}}
// TEXT: ### What annotations cost
// TEXT: {{^}}| {{ *}}costs | alike | layout
// TEXT: {{^}}| {{[0-9.]+}} us | x4 | | all together
// TEXT: argument 1 (%w1)
// TEXT: 1. **all_reduce** over tp: 24.0 KiB, [[TIME]] ([[SHARE]]){{$}}
// TEXT-NEXT: * takes %y from `{{.*}}` to `{{.*}}` for func.return at plan_report.mlir:{{[0-9]+}}, operand 0{{$}}
// TEXT-NEXT: * because
// TEXT-NEXT: 1. %w2 is pinned to
// TEXT-NEXT: 2. linalg.matmul at plan_report.mlir:[[# @LINE + 21]] splits over tp a dimension that it reduces
// TEXT-NEXT: 3. %y is a partial sum over tp
// TEXT-NEXT: 4. result 0 is pinned
// TEXT-NEXT: * next best: +{{[0-9.]+}} us (+{{[0-9.]+}} %): {{.*}} instead of `
// TEXT: At most [[PEAK:[0-9.]+ KiB]] on a device, at linalg.matmul at plan_report.mlir:{{[0-9]+}}: arguments {{[0-9.]+}} KiB, results {{[0-9.]+}} KiB
// TEXT: {{^}}| {{ *}}each | alike | what
// TEXT: | argument %x, %w2, %a
// TEXT: | at least | alike | what
// TEXT: | {{[0-9.]+}} us | | linalg.matmul at plan_report.mlir:{{[0-9]+}} (%h)

// NONE: "bound_without_seconds": null
// NONE: "alternative": null,
// NONE-NEXT: "no_alternative": "other collectives cost more, equal ones counted together (report-alternatives)"
// NONE: "decisions": [],

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @mlp(%x: tensor<64x128xf32> {tp.name = "x", tp.sharding = [[], []]},
               %w1: tensor<128x512xf32> {tp.name = "w1", tp.role = "param", tp.sharding = [[], ["tp"]]},
               %w2: tensor<512x64xf32> {tp.name = "w2", tp.role = "param", tp.sharding = [["tp"], []]},
               %a: tensor<64x512xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %h = linalg.matmul ins(%x, %w1 : tensor<64x128xf32>, tensor<128x512xf32>) outs(%a : tensor<64x512xf32>) -> tensor<64x512xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<64x512xf32>, tensor<512x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
