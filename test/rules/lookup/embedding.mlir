// An embedding whose table is split by rows: each device looks in its rows, the results are summed. And one split by columns.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=4 --topology h100
// RUN: shard-run %s --mesh x=2,y=2 --topology h100 --launch processes

#map = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK: arith.subi
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: tensor.extract %{{.*}} : tensor<8192x64xf32>
// CHECK: arith.select
// CHECK: shard.{{all_reduce|reduce_scatter}}
func.func @main(%ids: tensor<16xi64>, %table: tensor<32768x64xf32> {tp.sharding = [["x"], []], tp.role = "param"},
                %wide: tensor<8x64xf32> {tp.sharding = [[], ["x"]], tp.role = "param"}, %tall: tensor<8x64xf32> {tp.sharding = [["x"], []], tp.role = "param"})
    -> (tensor<16x64xf32> {tp.sharding = [[], []]}, tensor<16x64xf32> {tp.sharding = [[], ["x"]]}, tensor<16x64xf32> {tp.sharding = [[], ["x"]]}) {
  %rows = arith.constant 32768 : index
  %e = tensor.empty() : tensor<16x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<16xi64>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %ok = arith.cmpi ult, %r, %rows : index
    cf.assert %ok, "id is out of range"
    %c = linalg.index 1 : index
    %v = tensor.extract %table[%r, %c] : tensor<32768x64xf32>
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  %z = linalg.generic {indexing_maps = [#map, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<16xi64>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %wide[%r, %c] : tensor<8x64xf32>
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  // The table changes its layout on the way.
  %moved = linalg.generic {indexing_maps = [#map, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<16xi64>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %tall[%r, %c] : tensor<8x64xf32>
    %t = math.tanh %v : f32
    linalg.yield %t : f32
  } -> tensor<16x64xf32>
  return %y, %z, %moved : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>
}
