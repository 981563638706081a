// Places in the source: files without the folders of absolute paths, which differ between machines, and names as they are: that of a
// weight or a module may look like a path. Arguments have places, types and attributes.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// RUN: not grep /home %t.json
// CHECK: "arguments": [
// CHECK: "value": "%arg0"
// CHECK: "type": "tensor<64x256xf32>"
// CHECK-NEXT: "attributes": "{tp.sharding = {{.*}}}"
// CHECK-NEXT: "location": "\"/params/x\""
// CHECK-NEXT: "at": "/params/x"
// CHECK: "name": "params/layers/0/wq"
// CHECK: "type": "tensor<256x256xf32>"
// CHECK-NEXT: "attributes": "{tp.name = \"params/layers/0/wq\", tp.role = \"param\", tp.sharding = {{.*}}}"
// CHECK-NEXT: "location": "\"params/layers/0/wq\"(\"model.py\":3:7)"
// CHECK-NEXT: "at": "params/layers/0/wq (model.py:3)"
// CHECK: "name": "second"
// CHECK: "location": "plan_report_places.mlir:30:17"
// CHECK: "results": [
// CHECK: "collectives": [
// CHECK: "location": "callsite(\"/model/layers.0/MatMul\" at fused[\"a/b\"(\"model.py\":7:1), \"src/train.py\":8:1])"
// CHECK-NEXT: "at": "/model/layers.0/MatMul (model.py:7)"
// CHECK: "graph": {
// CHECK-DAG: "mlp/dot_general (model.py:12)"
// CHECK-DAG: "ends/in/slash/"

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x256xf32> {tp.sharding = [["tp"], []]} loc("/params/x"),
                %wq: tensor<256x256xf32> {tp.name = "params/layers/0/wq", tp.role = "param", tp.sharding = [["tp"], []]} loc("params/layers/0/wq"("/home/user/model.py":3:7)),
                %second: tensor<256x256xf32> {tp.name = "second", tp.sharding = [[], []]})
    -> (tensor<64x256xf32> {tp.sharding = [["tp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%x, %wq : tensor<64x256xf32>, tensor<256x256xf32>) outs(%init : tensor<64x256xf32>) -> tensor<64x256xf32>
      loc(callsite("/model/layers.0/MatMul" at fused["a/b"("/home/user/model.py":7:1), "src/train.py":8:1]))
  %z = linalg.matmul ins(%y, %second : tensor<64x256xf32>, tensor<256x256xf32>) outs(%init : tensor<64x256xf32>) -> tensor<64x256xf32>
      loc("jit(step)/transpose(jvp(main))/mlp/dot_general"("/home/user/model.py":12:1))
  %a = math.absf %z : tensor<64x256xf32> loc("ends/in/slash/")
  return %a : tensor<64x256xf32>
}
