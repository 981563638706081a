// The report lists the layouts of arguments and results, uneven ones with the shape of the buffer. An op of a framework's function, whose
// location is a name, is at the place of the call.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-plan{mesh=dp=2,tp=2 report=%t.json})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.json

// CHECK: "arguments": [
// CHECK: "name": "x",
// CHECK-NEXT: "value": "%x",
// CHECK-NEXT: "description": "x",
// CHECK-NEXT: "role": "",
// CHECK-NEXT: "gradient_at": null,
// CHECK-NEXT: "element": "f32",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: 7,
// CHECK-NEXT: 16
// CHECK-NEXT: ],
// CHECK-NEXT: "local_shape": [
// CHECK-NEXT: 4,
// CHECK-NEXT: 16
// CHECK-NEXT: ],
// CHECK-NEXT: "sharding": "{{\[\[\\"dp\\"\], \[\]\]}}",
// CHECK-NEXT: "dims": [
// CHECK-NEXT: [
// CHECK-NEXT: "dp"
// CHECK-NEXT: ],
// CHECK-NEXT: []
// CHECK-NEXT: ],
// CHECK-NEXT: "is_partial": false
// CHECK: "name": "w",
// CHECK-NEXT: "value": "%w",
// CHECK-NEXT: "description": "w",
// CHECK-NEXT: "role": "param",
// CHECK-NEXT: "gradient_at": null,
// CHECK: "results": [
// CHECK: "name": "y",
// CHECK-NEXT: "description": "y",
// CHECK-NEXT: "updates": null,
// CHECK-NEXT: "gradient_of": null,
// CHECK: "sharding": "{dims = {{\[\[}}], []], partial = {tp = \"sum\"}}",
// CHECK: "is_partial": true
// CHECK: "description": "new w",
// CHECK-NEXT: "updates": 1,
// CHECK-NEXT: "gradient_of": null,
// CHECK: "at": "dot (model.py:12)"
func.func @main(%x: tensor<7x16xf32> {tp.name = "x", tp.sharding = [["dp"], []]}, %w: tensor<16x32xf32> {tp.name = "w", tp.role = "param"})
    -> (tensor<7x32xf32> {tp.name = "y", tp.sharding = {dims = [[], []], partial = {tp = "sum"}}}, tensor<16x32xf32> {tp.updates = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32xf32>) -> tensor<7x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<7x16xf32>, tensor<16x32xf32>) outs(%f : tensor<7x32xf32>) -> tensor<7x32xf32>
    loc(callsite("jit(f)/dot" at callsite("f"("model.py":12:5) at "main"("run.py":3:1))))
  return %y, %w : tensor<7x32xf32>, tensor<16x32xf32>
}
