// The largest and smallest unsigned numbers are combined as unsigned ones: the region is one op. Imported again, the program gives the same results.
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: shard-run %s --mesh 1 --output @%t.0.npy --output @%t.1.npy --output @%t.2.npy
// RUN: shard-run %t.mlir --mesh 1 --expected-output @%t.0.npy --expected-output @%t.1.npy --expected-output @%t.2.npy
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=2 strategy=follow},tp-export-stablehlo)' -o %t.local.mlir
// RUN: FileCheck %s --input-file %t.local.mlir --check-prefix=LOCAL
// RUN: shard-run %t.local.mlir --expected-output @%t.0.npy --expected-output @%t.1.npy --expected-output @%t.2.npy

// CHECK: "stablehlo.reduce"(%{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<ui32>, %[[B:.*]]: tensor<ui32>):
// CHECK-NEXT: "stablehlo.maximum"(%[[A]], %[[B]])
// CHECK-NEXT: "stablehlo.return"
// CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}})
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<ui32>, %[[B:.*]]: tensor<ui32>):
// CHECK-NEXT: "stablehlo.minimum"(%[[A]], %[[B]])
// CHECK-NEXT: "stablehlo.return"
// CHECK: "stablehlo.scatter"(%{{.*}})
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<ui32>, %[[B:.*]]: tensor<ui32>):
// CHECK-NEXT: "stablehlo.maximum"(%[[A]], %[[B]])
// CHECK-NEXT: "stablehlo.return"

// LOCAL: "stablehlo.all_reduce"(%{{.*}}) ({
// LOCAL-NEXT: ^bb0(%[[A:.*]]: tensor<ui32>, %[[B:.*]]: tensor<ui32>):
// LOCAL-NEXT: "stablehlo.maximum"(%[[A]], %[[B]])
// LOCAL-NEXT: "stablehlo.return"
// LOCAL: (tensor<64xui32>) -> tensor<64xui32>
func.func @main(%a: tensor<4x64xi32> {tp.sharding = [["x"], []]}, %z: tensor<64xi32>, %at: tensor<4xi32>)
    -> (tensor<64xi32> {tp.sharding = [[]]}, tensor<63xi32>, tensor<2x64xi32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<4x64xi32>) outs(%z : tensor<64xi32>) attrs = {tp.sharding = {dims = [[]], partial = {x = "maxui"}}} {
  ^bb0(%p: i32, %q: i32):
    %m = arith.maxui %p, %q : i32
    linalg.yield %m : i32
  } -> tensor<64xi32>
  %most = arith.constant -1 : i32
  %e = tensor.empty() : tensor<63xi32>
  %w = tensor.empty() : tensor<2xi32>
  %f = linalg.fill ins(%most : i32) outs(%e : tensor<63xi32>) -> tensor<63xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%z, %w : tensor<64xi32>, tensor<2xi32>) outs(%f : tensor<63xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %m = arith.minui %o, %p : i32
    linalg.yield %m : i32
  } -> tensor<63xi32>
  %into = arith.constant dense<5> : tensor<2x64xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(u, i, j) -> (u)>, affine_map<(u, i, j) -> (u, j)>, affine_map<(u, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%at, %a : tensor<4xi32>, tensor<4x64xi32>) outs(%into : tensor<2x64xi32>) {
  ^bb0(%p: i32, %x: i32, %o: i32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %p : i32 to index
    %c = arith.cmpi eq, %i, %k : index
    %m = arith.maxui %o, %x : i32
    %r = arith.select %c, %m, %o : i32
    linalg.yield %r : i32
  } -> tensor<2x64xi32>
  return %0, %1, %2 : tensor<64xi32>, tensor<63xi32>, tensor<2x64xi32>
}
