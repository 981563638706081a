// Suppression as in NMS: each step reads a row of a table, and of the flags the one of this row. Of the table only a row counts, so that nothing
// is split, and no step waits for other devices. When each step was charged for the whole table, the plan split it and gathered in each step.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s
// RUN: shard-run %s --mesh 4

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}

// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK-NOT: shard.{{all|reduce|shift|broadcast}}
// CHECK: return
func.func @main(%overlap: tensor<500x500xf32>) -> tensor<500xi1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 500 : index
  %true = arith.constant true
  %false = arith.constant false
  %limit = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<500xi1>
  %all = linalg.fill ins(%true : i1) outs(%e : tensor<500xi1>) -> tensor<500xi1>
  %kept = scf.for %i = %c0 to %n step %c1 iter_args(%k = %all) -> (tensor<500xi1>) {
    %row = tensor.extract_slice %overlap[%i, 0] [1, 500] [1, 1] : tensor<500x500xf32> to tensor<500xf32>
    %flag = tensor.extract_slice %k[%i] [1] [1] : tensor<500xi1> to tensor<i1>
    %next = linalg.generic {indexing_maps = [#id, #id, #scalar, #id], iterator_types = ["parallel"]}
        ins(%row, %k, %flag : tensor<500xf32>, tensor<500xi1>, tensor<i1>) outs(%e : tensor<500xi1>) {
    ^bb0(%overlaps: f32, %old: i1, %is_kept: i1, %o: i1):
      %j = linalg.index 0 : index
      %later = arith.cmpi ugt, %j, %i : index
      %above = arith.cmpf ogt, %overlaps, %limit : f32
      %by_kept = arith.andi %above, %is_kept : i1
      %drop = arith.andi %by_kept, %later : i1
      %new = arith.select %drop, %false, %old : i1
      linalg.yield %new : i1
    } -> tensor<500xi1>
    scf.yield %next : tensor<500xi1>
  }
  return %kept : tensor<500xi1>
}
