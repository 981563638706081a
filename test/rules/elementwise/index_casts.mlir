// An index that is cast to a narrow integer and back is truncated, as often as the program says so.
// RUN: shard-run %s --mesh 1 | FileCheck %s
// RUN: shard-run %s --mesh 2 | FileCheck %s
// RUN: shard-run %s --mesh 3 --strategy follow | FileCheck %s
// CHECK: verified

#i = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%n: tensor<7xindex>) -> (tensor<300xindex> {tp.sharding = [["x"]]}, tensor<300xindex>, tensor<7xindex>, tensor<7xindex> {tp.sharding = [["x"]]}, tensor<4xindex>) {
  %e = tensor.empty() : tensor<300xindex>
  %positions, %bits = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} outs(%e, %e : tensor<300xindex>, tensor<300xindex>) {
  ^bb0(%o: index, %p: index):
    %i = linalg.index 0 : index
    %narrow = arith.index_cast %i : index to i8
    %back = arith.index_cast %narrow : i8 to index
    %bit = arith.index_castui %i : index to i1
    %wide = arith.index_castui %bit : i1 to index
    linalg.yield %back, %wide : index, index
  } -> (tensor<300xindex>, tensor<300xindex>)
  // Ops on tensors.
  %big = arith.constant dense<[128, -129, 255, 4294967295, 2147483648, 65536, 1]> : tensor<7xindex>
  %sum = arith.addi %n, %big : tensor<7xindex>
  %n32 = arith.index_cast %sum : tensor<7xindex> to tensor<7xi32>
  %w32 = arith.index_cast %n32 : tensor<7xi32> to tensor<7xindex>
  %n8 = arith.index_castui %sum : tensor<7xindex> to tensor<7xi8>
  %w8 = arith.index_castui %n8 : tensor<7xi8> to tensor<7xindex>
  // Numbers, and the index of a loop.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c100 = arith.constant 100 : index
  %none = tensor.empty() : tensor<4xindex>
  %steps = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %none) -> tensor<4xindex> {
    %far = arith.muli %k, %c100 : index
    %k8 = arith.index_cast %far : index to i8
    %kw = arith.index_cast %k8 : i8 to index
    %next = tensor.insert %kw into %t[%k] : tensor<4xindex>
    scf.yield %next : tensor<4xindex>
  }
  return %positions, %bits, %w32, %w8, %steps : tensor<300xindex>, tensor<300xindex>, tensor<7xindex>, tensor<7xindex>, tensor<4xindex>
}
