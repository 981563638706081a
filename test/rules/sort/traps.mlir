// A comparator that divides would trap on padding, and on places of a list that are not filled yet: rows are split evenly or not at all, and the first elements are taken from the sorted row.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=2 strategy=follow},tp-partition)' | FileCheck %s --check-prefix=EVEN
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4 strategy=follow},tp-partition)' | FileCheck %s --check-prefix=WHOLE
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4

// EVEN: call @{{.*}} {tp.sort = {{.*}}} : (tensor<3x8xi32>) -> tensor<3x2xi32>
// WHOLE: call @{{.*}} {tp.sort = {{.*}}} : (tensor<6x8xi32>) -> tensor<6x2xi32>
func.func @main(%x: tensor<6x8xi32> {tp.sharding = [["x"], []]}) -> tensor<6x2xi32> {
  %one = arith.constant dense<1> : tensor<6x8xi32>
  %k = arith.ori %x, %one : tensor<6x8xi32>
  %0 = call @tp.sort(%k) {tp.sort = {dim = 1, less = @less}} : (tensor<6x8xi32>) -> tensor<6x2xi32>
  return %0 : tensor<6x2xi32>
}
func.func private @tp.sort(tensor<6x8xi32>) -> tensor<6x2xi32>
func.func private @less(%a: i32, %b: i32) -> i1 attributes {tp.comparator} {
  %c = arith.constant 1000 : i32
  %0 = arith.divui %c, %a : i32
  %1 = arith.divui %c, %b : i32
  %2 = arith.cmpi ult, %0, %1 : i32
  return %2 : i1
}
