// Scatters with split rows, split updates, split columns and uneven sizes: N ranks give what the evaluator gives.
// RUN: shard-run %s --mesh 2x3 --function rows | FileCheck %s
// RUN: shard-run %s --mesh 2x3 --function updates | FileCheck %s --check-prefixes=CHECK,SUM
// RUN: shard-run %s --mesh 2x3 --function uneven | FileCheck %s
// RUN: shard-run %s --mesh 2x3 --function largest | FileCheck %s --check-prefixes=CHECK,MAX
// RUN: shard-run %s --mesh 2x3 --function last | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s --check-prefix=IR

// Split updates give a partial result; split rows are compared with global positions.
// SUM: {{all_reduce|reduce_scatter}}
// MAX: {{all_reduce|reduce_scatter|all_gather}}
// CHECK: verified
// IR-LABEL: func.func @rows
// IR-SAME: tensor<6x4xf32>
// IR: shard.process_multi_index
// IR: linalg.generic
// IR: arith.cmpi eq

#index = affine_map<(r, c, u) -> (u)>
#update = affine_map<(r, c, u) -> (u, c)>
#result = affine_map<(r, c, u) -> (r, c)>
#nest = {indexing_maps = [#index, #update, #result], iterator_types = ["parallel", "parallel", "reduction"]}
shard.grid @mesh(shape = 2x3) {tp.axes = ["a", "b"]}

func.func @rows(%t: tensor<36x4xf32> {tp.sharding = [["a", "b"], []]}, %i: tensor<12xi32>, %u: tensor<12x4xf32>)
    -> (tensor<36x4xf32> {tp.sharding = [["a", "b"], []]}) {
  %0 = linalg.generic #nest ins(%i, %u : tensor<12xi32>, tensor<12x4xf32>) outs(%t : tensor<36x4xf32>) {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %new = arith.addf %old, %value : f32
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %new, %old : f32
    linalg.yield %y : f32
  } -> tensor<36x4xf32>
  return %0 : tensor<36x4xf32>
}

func.func @updates(%t: tensor<36x4xf32> {tp.sharding = [[], []]}, %i: tensor<12xi32> {tp.sharding = [["a"]]},
                   %u: tensor<12x4xf32> {tp.sharding = [["a"], []]}) -> (tensor<36x4xf32> {tp.sharding = [[], []]}) {
  %0 = linalg.generic #nest ins(%i, %u : tensor<12xi32>, tensor<12x4xf32>) outs(%t : tensor<36x4xf32>)
      attrs = {tp.factors = {a = 2}} {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %new = arith.addf %old, %value : f32
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %new, %old : f32
    linalg.yield %y : f32
  } -> tensor<36x4xf32>
  return %0 : tensor<36x4xf32>
}

func.func @uneven(%t: tensor<31x5xf32> {tp.sharding = [["b"], ["a"]]}, %i: tensor<13xi32> {tp.sharding = [["a"]]},
                  %u: tensor<13x5xf32> {tp.sharding = [["a"], []]}) -> (tensor<31x5xf32> {tp.sharding = [["b"], []]}) {
  %0 = linalg.generic #nest ins(%i, %u : tensor<13xi32>, tensor<13x5xf32>) outs(%t : tensor<31x5xf32>) {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %new = arith.addf %old, %value : f32
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %new, %old : f32
    linalg.yield %y : f32
  } -> tensor<31x5xf32>
  return %0 : tensor<31x5xf32>
}

func.func @largest(%t: tensor<36x4xf32> {tp.sharding = [[], []]}, %i: tensor<12xi32> {tp.sharding = [["b"]]},
                   %u: tensor<12x4xf32> {tp.sharding = [["b"], []]}) -> (tensor<36x4xf32> {tp.sharding = [[], []]}) {
  %0 = linalg.generic #nest ins(%i, %u : tensor<12xi32>, tensor<12x4xf32>) outs(%t : tensor<36x4xf32>)
      attrs = {tp.factors = {b = 2}} {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %new = arith.maximumf %old, %value : f32
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %new, %old : f32
    linalg.yield %y : f32
  } -> tensor<36x4xf32>
  return %0 : tensor<36x4xf32>
}

// The last update of an element counts, so updates are not split.
func.func @last(%t: tensor<36x4xf32> {tp.sharding = [["b"], []]}, %i: tensor<12xi32> {tp.sharding = [["a"]]},
                %u: tensor<12x4xf32> {tp.sharding = [["a"], []]}) -> (tensor<36x4xf32> {tp.sharding = [["b"], ["a"]]}) {
  %0 = linalg.generic #nest ins(%i, %u : tensor<12xi32>, tensor<12x4xf32>) outs(%t : tensor<36x4xf32>) {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %value, %old : f32
    linalg.yield %y : f32
  } -> tensor<36x4xf32>
  return %0 : tensor<36x4xf32>
}
