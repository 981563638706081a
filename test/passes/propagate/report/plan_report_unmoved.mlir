// What the plan would cost without a collective: with all uses of the value in the layout that it has. A program whose annotation demands that costs
// as much.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-plan{mesh=tp=4 report=%t.json})' -o /dev/null
// RUN: sed 's/{linear}/{tp.factors = {tp = 2 : i64}}/' %s > %t.as_it_is.mlir
// RUN: shard-opt %t.as_it_is.mlir --pass-pipeline='builtin.module(tp-plan{mesh=tp=4 report=%t.as_it_is.json})' -o /dev/null
// RUN: %python %S/Inputs/unmoved.py %t.json %t.as_it_is.json | FileCheck %s --check-prefix=PRICE
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-plan{mesh=tp=4 report=%t.md})' -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md

// PRICE: of %w: as much as in the program that demands it
// PRICE: of %y: none
// TEXT: without it, all uses take the value as it is: at most +{{[0-9.]+}} ms (+{{[0-9.]+}} %){{$}}

func.func @main(%x: tensor<2048x128xf32> {tp.sharding = [[], []]}, %w: tensor<128x512xf32> {tp.sharding = [["tp"], []]},
                %zero: tensor<2048x512xf32> {tp.sharding = [[], []]}) -> (tensor<2048x512xf32> {tp.sharding = [[], []]}) {
  %y = linalg.matmul {linear} ins(%x, %w : tensor<2048x128xf32>, tensor<128x512xf32>) outs(%zero : tensor<2048x512xf32>) -> tensor<2048x512xf32>
  return %y : tensor<2048x512xf32>
}
