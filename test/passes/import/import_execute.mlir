// Programs annotated for Shardy: N ranks give what one gives, and the layouts are those that were asked for.
// RUN: shard-run %s --mesh 2x4 --function mlp | FileCheck %s --check-prefix=MLP
// RUN: shard-run %s --mesh 2x4 --function mlp --strategy follow --launch processes | FileCheck %s --check-prefix=MLP
// RUN: shard-run %s --mesh dp=1,tp=4 --function mlp --strategy follow | FileCheck %s
// RUN: shard-run %s --mesh 2x4 --function layouts | FileCheck %s --check-prefix=LAYOUTS
// RUN: shard-run %s --mesh 1 --function layouts | FileCheck %s --check-prefix=ONE

// MLP: all_reduce tp 1
// MLP: result 0: 8x16xf32, {{\[}}["dp"], []]
// MLP: verified
// CHECK: verified
// LAYOUTS: result 0: 8x16xf32, {{\[}}["tp:(1)2"], ["tp:(2)2", "dp"]]
// LAYOUTS: verified
// ONE: verified

"sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=4]>, sym_name = "mesh"}> : () -> ()

func.func @mlp(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>},
               %w1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>},
               %w2: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {?}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"dp"}, {"tp"}]>]>}
      ins(%x, %w1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %c = "sdy.sharding_constraint"(%h) <{sharding = #sdy.sharding<@mesh, [{"dp"}p0, {"tp", ?}p1]>}> : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %o = linalg.matmul ins(%c, %w2 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %o : tensor<8x16xf32>
}

// Sub-axes, a barrier and a group on the way.
func.func @layouts(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp", "dp"}, {}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp":(1)2}, {"tp":(2)2, "dp"}]>}) {
  %a = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}, {"dp", "tp"}]>}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %b = "sdy.propagation_barrier"(%a) <{allowed_direction = 0 : i32}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  "sdy.sharding_group"(%b) <{group_id = 0 : i64}> : (tensor<8x16xf32>) -> ()
  %c = arith.addf %b, %x : tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
