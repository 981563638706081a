// A function without tensors leaves nothing to decide; planning it copied from no array, which sanitizers refuse.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=3 strategy=follow})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=3})' | FileCheck %s

// CHECK: func.func @sum
// CHECK: arith.addi
func.func @sum(%a: index, %b: index) -> index {
  %c = arith.addi %a, %b : index
  return %c : index
}
