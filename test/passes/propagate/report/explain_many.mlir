// A value with hundreds of layouts: plans are made for the nearest dozen, of the others the least is told.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%0})' -o /dev/null 2>&1 | FileCheck %s
// What is made from nothing costs the same everywhere, and the proof of the plan says nothing of it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FREE

// CHECK: remark: %y{{( \([a-z0-9 ]+\))?}} has layout
// CHECK: other layouts, by what the plan would cost:
// CHECK-COUNT-12: {{^    [[{].*: \+[0-9.]+ us$}}
// CHECK-NEXT: {{^}}    {{[0-9][0-9][0-9]}} more: at least +{{[0-9.]+}} us
// CHECK-NOT: us{{$}}

// FREE: remark: %e{{( \([a-z0-9 ]+\))?}} has layout
// FREE: other layouts, by what the plan would cost:
// FREE-COUNT-12: {{^    [[{].*: \+0.000 us$}}
// FREE-NEXT: {{^}}    {{[0-9]+}} more, of unknown cost

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
shard.grid @mesh(shape = 2x2x2x2) {tp.axes = ["a", "b", "c", "d"]}
func.func @many(%x: tensor<16x16x16x16xf32> {tp.sharding = [["a"], ["b"], ["c"], ["d"]]})
    -> (tensor<16x16x16x16xf32> {tp.sharding = [["a"], ["b"], ["c"], ["d"]]}) {
  %y = math.absf %x : tensor<16x16x16x16xf32>
  %e = tensor.empty() : tensor<16x16x16x16xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<16x16x16x16xf32>) outs(%e : tensor<16x16x16x16xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.sqrt %s : f32
    linalg.yield %t : f32
  } -> tensor<16x16x16x16xf32>
  return %z : tensor<16x16x16x16xf32>
}
