// Every sentence that says why a collective is there, from the annotation to the op that wants another layout.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.md strategy=follow})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.plan.md report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.plan.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.order.json strategy=follow report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --check-prefix=ORDER --input-file=%t.order.json
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.limit.md strategy=follow report-alternatives=0 memory-limit=64GB})' -o /dev/null
// RUN: FileCheck %s --check-prefix=LIMIT --input-file=%t.limit.md

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}

// The axis comes from an argument, by way of ops that keep it.
// CHECK-LABEL: ## between
// CHECK: 1. **all_reduce** over tp: 24.0 KiB
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\[\], \["tp"\]\]}}{{$}}
// CHECK-NEXT: 2. 2 ops between keep tp where it is{{$}}
// CHECK-NEXT: 3. linalg.matmul at {{[^ ]*}} splits over tp a dimension that it reduces{{$}}
// CHECK-NEXT: 4. %y is a partial sum over tp{{$}}
// CHECK-NEXT: 5. result 0 is pinned to {{\[\[\], \[\]\]}}{{$}}
// CHECK-NOT: because
func.func @between(%x: tensor<64x512xf32> {tp.name = "x", tp.sharding = [[], ["tp"]]}, %w: tensor<512x64xf32>, %e: tensor<64x512xf32>,
                   %c: tensor<64x64xf32>) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.absf %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.sqrt %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %y = linalg.matmul ins(%b, %w : tensor<64x512xf32>, tensor<512x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// One op between; the partial value passes through an op that is linear; nobody annotated the result.
// CHECK-LABEL: ## through
// CHECK: **all_reduce** over tp
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\[\], \["tp"\]\]}}{{$}}
// CHECK-NEXT: 2. 1 op between keeps tp where it is{{$}}
// CHECK-NEXT: 3. linalg.generic ({{[a-z, ]*}}) at {{[^ ]*}} splits over tp a dimension that it reduces{{$}}
// CHECK-NEXT: 4. %m is a partial max over tp{{$}}
// CHECK-NEXT: 5. result 0 has layout {{\[\[\]\]$}}
// The other choice is an annotation of an op whose result has fewer dimensions than its operand.
// CHECK-NEXT: next best: +{{[0-9.]+}} us ({{.*}}): linalg.generic (maximumf) at plan_report_causes.mlir:{{[0-9]+}} (%m) with `tp.sharding = {{\[\[\]\]}}` instead of `{dims = {{\[\[\]\]}}, partial = {tp = "max"}}`
// CHECK-NOT: because
func.func @through(%x: tensor<64x512xf32> {tp.name = "x", tp.sharding = [[], ["tp"]]}, %e: tensor<64x512xf32>, %i: tensor<64xf32>) -> tensor<64xf32> {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.absf %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<64x512xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = arith.maximumf %s, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %m : tensor<64xf32>
}

// A window reads what its neighbors hold.
// CHECK-LABEL: ## window
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\[\], \["tp"\], \[\], \[\]\]}}{{$}}
// CHECK-NEXT: 2. linalg.conv_2d_nhwc_hwcf at {{[^ ]*}} needs data of other devices along tp{{$}}
// CHECK-NOT: because
func.func @window(%x: tensor<2x64x64x8xf32> {tp.sharding = [[], ["tp"], [], []]}, %k: tensor<3x3x8x16xf32>, %c: tensor<2x62x62x16xf32>)
    -> tensor<2x62x62x16xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<2x64x64x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<2x62x62x16xf32>) -> tensor<2x62x62x16xf32>
  return %y : tensor<2x62x62x16xf32>
}

// The most expensive collective is told first; in the document they stand in the order of the program, whether an op makes them itself or a change
// of layout does.
// CHECK-LABEL: ## order
// CHECK: 1. **all_gather** over tp: 768.0 KiB
// CHECK: because{{$}}
// CHECK-NEXT: 1. %w is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// CHECK-NEXT: 2. result 1 is pinned to {{\[\[\], \[\]\]}}{{$}}
// CHECK: 2. **permute** over tp: 8.0 KiB
// CHECK-NEXT: inside linalg.conv_2d_nhwc_hwcf
// ORDER-LABEL: "function": "order",
// ORDER: "collectives":
// ORDER: "kind": "permute",
// ORDER: "kind": "all_gather",
func.func @order(%x: tensor<2x64x64x8xf32> {tp.sharding = [[], ["tp"], [], []]}, %k: tensor<3x3x8x16xf32>, %c: tensor<2x62x62x16xf32>,
                 %w: tensor<512x512xf32> {tp.sharding = [["tp"], []]}) -> (tensor<2x62x62x16xf32>, tensor<512x512xf32> {tp.sharding = [[], []]}) {
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<2x64x64x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<2x62x62x16xf32>) -> tensor<2x62x62x16xf32>
  return %y, %w : tensor<2x62x62x16xf32>, tensor<512x512xf32>
}

// Two uses share a copy, also within a memory limit.
// LIMIT-LABEL: ## shared
// LIMIT: 1. **all_gather** over tp: 768.0 KiB
// LIMIT-NEXT: from `{{\[\["tp"\], \[\]\]}}` to `{{\[\[\], \[\]\]}}`
// LIMIT-NEXT: because{{$}}
// LIMIT-NEXT: 1. %x is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// LIMIT-NEXT: 2. one copy in layout {{\[\[\], \[\]\]}} serves 2 uses{{$}}
// LIMIT-NOT: because
// CHECK-LABEL: ## shared
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// CHECK-NEXT: 2. one copy in layout {{\[\[\], \[\]\]}} serves 2 uses{{$}}
// CHECK-NOT: because
func.func @shared(%x: tensor<512x512xf32> {tp.name = "x", tp.sharding = [["tp"], []]})
    -> (tensor<512x512xf32> {tp.sharding = [[], []]}, tensor<512x512xf32> {tp.sharding = [[], []]}) {
  return %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
}

// The same where memory is limited, and a copy is made where it is first wanted.
// CHECK-LABEL: ## kept
// LIMIT-LABEL: ## kept
// LIMIT: 1. **all_gather** over tp: 768.0 KiB
// LIMIT-NEXT: from `{{\[\["tp"\], \[\]\]}}` to `{{\[\[\], \[\]\]}}` for linalg.matmul at plan_report_causes.mlir:[[# @LINE + 8]], operand 1
// LIMIT-NEXT: because{{$}}
// LIMIT-NEXT: 1. %x is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// LIMIT-NEXT: 2. one copy in layout {{\[\[\], \[\]\]}} serves 2 uses{{$}}
// LIMIT-LABEL: ## cannot_take
func.func @kept(%x: tensor<512x512xf32> {tp.name = "x", tp.sharding = [["tp"], []]}, %a: tensor<64x512xf32> {tp.sharding = [["dp"], []]},
                %b: tensor<64x512xf32> {tp.sharding = [["dp"], []]}, %e: tensor<64x512xf32> {tp.sharding = [["dp"], []]})
    -> (tensor<64x512xf32> {tp.sharding = [["dp"], []]}, tensor<64x512xf32> {tp.sharding = [["dp"], []]}) {
  %p = linalg.matmul {tp.sharding = [["dp"], []]} ins(%a, %x : tensor<64x512xf32>, tensor<512x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %q = linalg.matmul {tp.sharding = [["dp"], []]} ins(%b, %x : tensor<64x512xf32>, tensor<512x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %p, %q : tensor<64x512xf32>, tensor<64x512xf32>
}

// A difference of a partial maximum is no maximum of differences.
// CHECK-LABEL: ## cannot_take
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\[\], \["tp"\]\]}}{{$}}
// CHECK-NEXT: 2. linalg.generic ({{[a-z, ]*}}) at {{[^ ]*}} splits over tp a dimension that it reduces{{$}}
// CHECK-NEXT: 3. %m is a partial max over tp{{$}}
// CHECK-NEXT: 4. linalg.generic ({{[a-z, ]*}}) at {{[^ ]*}} has no strategy that takes operand 1 in this layout; it takes {{\[\[\]\]$}}
// CHECK-NOT: because
func.func @cannot_take(%x: tensor<64x512xf32> {tp.name = "x", tp.sharding = [[], ["tp"]]}, %i: tensor<64xf32>, %e: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x512xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = arith.maximumf %s, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x512xf32>, tensor<64xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%s: f32, %u: f32, %o: f32):
    %t = arith.subf %s, %u : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  return %d : tensor<64x512xf32>
}

// The op could take it so, but another annotation has it take the whole; the annotation is named where the value is carried around a loop as well.
// CHECK-LABEL: ## loop
// CHECK: because{{$}}
// CHECK-NEXT: 1. %x is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// CHECK-NEXT: 2. %v has layout {{\[\["tp"\], \[\]\]}}{{$}}
// CHECK-NEXT: 3. %w is pinned to {{\[\["tp"\], \[\]\]}}{{$}}
// CHECK-NEXT: 4. linalg.matmul at {{[^ ]*}} takes operand 1 in layout {{\[\[\], \[\]\]$}}
// CHECK-NOT: because
func.func @loop(%x: tensor<512x512xf32> {tp.name = "x", tp.sharding = [["tp"], []]}, %w: tensor<512x512xf32> {tp.name = "w", tp.sharding = [["tp"], []]},
                %e: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %x) -> tensor<512x512xf32> {
    %n = linalg.matmul ins(%w, %v : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    scf.yield %n : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}

// Nobody asked for it: 256 MiB are read in eight parts.
// PLAN-LABEL: ## chosen
// PLAN: because{{$}}
// PLAN-NEXT: 1. linalg.matmul at [[AT:[^ ]*]] is split over [[A:dp|tp]] by choice of the planner, no annotation requires it{{$}}
// PLAN-NEXT: 2. linalg.matmul at [[AT]] splits over [[A]] a dimension that it reduces{{$}}
// PLAN-NEXT: 3. %y is a partial sum over [[A]]{{$}}
// PLAN-NEXT: 4. result 0 has layout {{\[\[\], \[\]\]$}}
func.func @chosen(%x: tensor<1x67108864xf32>, %w: tensor<67108864x1xf32>, %c: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<1x67108864xf32>, tensor<67108864x1xf32>) outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
