// Constants whose slice has nothing to hold, and resources of rank 0 or without elements.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow | FileCheck %s
// CHECK: verified

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<f64>)
    -> (tensor<0x3xf64> {tp.sharding = [[], ["x"]]}, tensor<0x3xi1> {tp.sharding = [[], ["x"]]}, tensor<0x3xf32> {tp.sharding = [["x"], []]},
        tensor<0x5xf32> {tp.sharding = [[], ["x"]]}, tensor<f64>, tensor<index>) {
  %c = arith.constant dense<> : tensor<0x3xf64>
  %f = tensor.from_elements : tensor<0x3xi1>
  %r = arith.constant dense_resource<nothing> : tensor<0x3xf32>
  %s = arith.constant dense_resource<nothing> : tensor<0x5xf32>
  %p = arith.constant dense_resource<one> : tensor<f64>
  %q = arith.addf %a, %p : tensor<f64>
  %i = arith.constant dense_resource<place> : tensor<index>
  return %c, %f, %r, %s, %q, %i : tensor<0x3xf64>, tensor<0x3xi1>, tensor<0x3xf32>, tensor<0x5xf32>, tensor<f64>, tensor<index>
}

{-#
  dialect_resources: {
    builtin: {
      nothing: "0x04000000",
      one: "0x080000000000000000000440",
      place: "0x080000000700000000000000"
    }
  }
#-}
