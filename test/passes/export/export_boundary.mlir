// Uneven shards: the function takes the values whole, and pads them to equal shards in front of the manual computation; results
// are cut behind it. Along a dimension of two axes the shards of each are padded: 10 elements on 2 x 4 devices are two runs of 5,
// each of 4 x 2.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd,canonicalize,cse,tp-export-stablehlo)' --mlir-print-op-generic -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: shard-run %s --output=@%t.whole.0.npy --output=@%t.whole.1.npy
// RUN: shard-run %t.mlir --output=@%t.0.npy --output=@%t.1.npy
// RUN: cmp %t.0.npy %t.whole.0.npy && cmp %t.1.npy %t.whole.1.npy
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=1,1},canonicalize,cse,tp-export-stablehlo)' --mlir-print-op-generic | FileCheck %s --check-prefix=ONE

// CHECK: arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"a1"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}]
// CHECK-SAME: function_type = (tensor<10x8xf32>, tensor<7xui8>) -> (tensor<10x8xf32>, tensor<7xui8>)
// CHECK-SAME: res_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}]
// CHECK: ^bb0(%[[X:.*]]: tensor<10x8xf32>, %[[Y:.*]]: tensor<7xui8>):
// CHECK-NOT: "stablehlo.pad"(%[[X]]
// CHECK: "stablehlo.pad"(%[[Y]]
// CHECK-SAME: edge_padding_high = array<i64: 1>
// CHECK: "sdy.manual_computation"
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<10x2xf32>, %{{.*}}: tensor<4xui8>):
// CHECK: in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"a1"}]>, <@mesh, [{"a0"}]>]>
// CHECK-SAME: out_shardings = #sdy.sharding_per_value<[<@mesh, [{"a0", "a1"}, {}]>, <@mesh, [{"a0"}]>]>
// CHECK-SAME: -> (tensor<16x8xf32>, tensor<8xui8>)
// CHECK: "stablehlo.reshape"({{.*}}) : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
// CHECK-NEXT: "stablehlo.slice"({{.*}}) {limit_indices = array<i64: 2, 5, 8>
// CHECK-NEXT: "stablehlo.reshape"({{.*}}) : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
// CHECK: "stablehlo.slice"({{.*}}) {limit_indices = array<i64: 7>

// On one device there is no manual computation: XLA has none there.
// ONE-NOT: sdy.
// ONE: function_type = (tensor<10x8xf32>, tensor<7xui8>) -> (tensor<10x8xf32>, tensor<7xui8>)
// ONE-NOT: sdy.
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<10x8xf32> {tp.sharding = [[], ["tp"]]}, %y: tensor<7xi8> {tp.sharding = [["dp"]], tp.unsigned})
    -> (tensor<10x8xf32> {tp.sharding = [["dp", "tp"], []]}, tensor<7xi8> {tp.sharding = [["dp"]], tp.unsigned}) {
  %t = math.absf %x : tensor<10x8xf32>
  %z = arith.addi %y, %y : tensor<7xi8>
  return %t, %z : tensor<10x8xf32>, tensor<7xi8>
}
