// What a device holds at the peak has names: the values of the source, changes of layout by what they change, and results by their number and name.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.md report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// CHECK: ### Memory
// CHECK-DAG: value all_gather of params/layers/0/wq{{ }}
// CHECK-DAG: argument %x{{ }}
// CHECK-DAG: result 0 (new_params/y, %y){{ }}
// CHECK-DAG: result 1 (z){{ }}

// A value that an op makes is no change, and no result.
// JSON: "values": [
// JSON: "description": "all_gather of params/layers/0/wq",
// JSON-NEXT: "result": null,
// JSON-NEXT: "change": "all_gather of params/layers/0/wq"
// JSON: "buffers": {
// JSON: "results": [
// JSON-NEXT: 0,
// JSON-NEXT: 1
// JSON-NEXT: ]

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<1024x256xf32> {tp.sharding = [["tp"], []]},
                %wq: tensor<256x256xf32> {tp.name = "params/layers/0/wq", tp.role = "param", tp.sharding = [["tp"], []]})
    -> (tensor<1024x256xf32> {tp.name = "new_params/y", tp.sharding = [["tp"], []]}, tensor<1024x256xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %y = linalg.matmul ins(%x, %wq : tensor<1024x256xf32>, tensor<256x256xf32>) outs(%init : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %z = math.absf %y : tensor<1024x256xf32>
  return %y, %z : tensor<1024x256xf32>, tensor<1024x256xf32>
}
