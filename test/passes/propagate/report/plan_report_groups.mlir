// Collectives of equal layers are told once; places are told in short, whatever the location; a table keeps its columns.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=follow report=%t.md report-alternatives=2})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// The time of the entry is the sum of three alike; each time is rounded to a nanosecond.
// RUN: %python -B %S/../../Inputs/relations.py 'all=%t.md~over tp x3: 72.0 KiB, ([0-9.]+) us' 'each=%t.md~alike, each 24.0 KiB and ([0-9.]+) us' -- \
// RUN:   'abs(all - 3 * each) < 0.0021'
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=follow report=%t.json report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// Three products, each summed and each of another weight: one entry, the sums of bytes and time, the places of the others with the file named once.
// CHECK-LABEL: ## layers
// CHECK: | all_reduce over tp | {{.*}} | 72.0 KiB |    3 |
// CHECK: 1. **all_reduce** over tp x3: 72.0 KiB, {{[0-9]+\.[0-9]+}} us ({{[0-9.]+}} %)
// CHECK-NEXT: * takes matmul with x and l0_w (%{{[0-9]+}}) from {{.*}} for linalg.generic (absf) at model.py:12, operand 0
// CHECK-NEXT: * because
// CHECK: * alike, each 24.0 KiB and {{[0-9]+\.[0-9]+}} us: model.py:22, 32{{$}}
// CHECK-NEXT: * next best: +
// CHECK-NOT: **
// CHECK: |     each | alike | what
// CHECK: | 32.0 KiB |    x4 | argument %x, l0_w (%u), l1_w (%v), ... |
// CHECK: | at least | alike | what
// CHECK: ## places

// The places of the document are whole, and in short beside.
// JSON: "function": "layers",
// JSON: "kind": "all_reduce",
// JSON: "location": "model.py:12:5",
// JSON-NEXT: "at": "model.py:12",
// JSON: "op": "linalg.generic",
// JSON-NEXT: "body": "absf",
// JSON: "by_kind": {
// JSON-NEXT: "argument": {{[1-9][0-9]*}},

#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @layers(%x: tensor<64x512xf32> {tp.sharding = [[], ["tp"]]}, %u: tensor<512x64xf32> {tp.name = "l0_w"}, %v: tensor<512x64xf32> {tp.name = "l1_w"},
                  %w: tensor<512x64xf32> {tp.name = "l2_w"}, %e: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {tp.sharding = [[], []]}, tensor<64x64xf32> {tp.sharding = [[], []]}, tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %a = linalg.matmul ins(%x, %u : tensor<64x512xf32>, tensor<512x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32> loc("/home/user/model.py":11:5)
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.absf %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("/home/user/model.py":12:5)
  %b = linalg.matmul ins(%x, %v : tensor<64x512xf32>, tensor<512x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32> loc("/home/user/model.py":21:5)
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.absf %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("/home/user/model.py":22:5)
  %c = linalg.matmul ins(%x, %w : tensor<64x512xf32>, tensor<512x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32> loc("/home/user/model.py":31:5)
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.absf %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("/home/user/model.py":32:5)
  return %p, %q, %r : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// A name with its place, of a call what is called, of a fusion the first place that says something, and nothing where nothing is known. Of a body at most
// four things are told; one that only yields is a copy. A name may hold what ends a cell.
// CHECK: for linalg.generic (mulf, addf, subf, divf, ...) at dot_general (layer.py:7), operand 0
// CHECK: for linalg.generic (exp) at fused.py:4, operand 0
// CHECK: for linalg.generic (copy) at callee.py:3, operand 0
// CHECK: for linalg.generic (negf), operand 0
// CHECK: {{^}}| {{.*}} | argument a\|b (%x), %e | {{ *}}|{{$}}
func.func @places(%x: tensor<64x64xf32> {tp.name = "a|b", tp.sharding = [["tp"], []]}, %e: tensor<64x64xf32>) -> (tensor<64x64xf32> {tp.sharding = [["tp"], []]}) {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tp.sharding = [[], ["tp"]]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %m = arith.mulf %s, %s : f32
    %n = arith.addf %m, %s : f32
    %n2 = arith.addf %n, %s : f32
    %k = arith.subf %n2, %m : f32
    %l = arith.divf %k, %n : f32
    %t = math.absf %l : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("jit(f)/jit(main)/dot_general"("a/layer.py":7:1))
  %b = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], tp.sharding = [["tp"], []]} ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc(fused[unknown, "x/fused.py":4:1, "y.py":5:1])
  %t = tensor.empty() : tensor<64x64xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, #id], iterator_types = ["parallel", "parallel"], tp.sharding = [[], ["tp"]]} ins(%b : tensor<64x64xf32>) outs(%t : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    linalg.yield %s : f32
  } -> tensor<64x64xf32> loc(callsite("z/callee.py":3:1 at "caller.py":9:1))
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tp.sharding = [["tp"], []]} ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %v = arith.negf %s : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32> loc(unknown)
  return %d : tensor<64x64xf32>
}
