// Values without names are called by those that have some: in a training step the gradients of weights, what leads there and from there, and what
// weights are multiplied with. Only what follows from the program is said.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o /dev/null
// RUN: %python -B %S/Inputs/descriptions.py %t.json | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.md})' -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.md
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.model-explorer.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=EXPLORER --input-file=%t.model-explorer.json

// CHECK: %x: x
// CHECK-NEXT: %w: net/w
// CHECK-NEXT: %v: net/v
// CHECK-NEXT: %arg3: argument 3
// CHECK-NEXT: %mean: mean
// CHECK: %[[#]]: matmul with x and net/w
// CHECK-NEXT: %[[#]]: input of net/v
// CHECK: %[[#]]: matmul with net/v
// CHECK: %[[#]]: gradient at the output of net/v
// The gradient of one weight is transposed at last.
// CHECK: %[[#]]: gradient of net/v before the transpose
// CHECK: %transposed: gradient of net/v
// CHECK: %[[#]]: gradient through net/v
// CHECK-NEXT: %[[#]]: mulf after net/v
// CHECK-NEXT: %[[#]]: gradient at the output of net/w
// CHECK: %[[#]]: gradient of net/w
// CHECK-NEXT: -: reduce_scatter of gradient of net/w
// CHECK-NEXT: %[[#]]: update of net/w: mulf
// CHECK: %[[#]]: new net/w
// CHECK-NEXT: %[[#]]: update of net/v: mulf
// CHECK: %[[#]]: new net/v
// A statistic is updated like a weight, but nothing else reads it: what comes in is no gradient.
// CHECK: %[[#]]: sum after net/w
// CHECK: %[[#]]: update of mean: mulf
// CHECK: %[[#]]: new mean
// CHECK: result 0: new net/w
// CHECK-NEXT: result 1: new net/v
// CHECK-NEXT: result 2: new mean
// CHECK-NEXT: result 3: logits

// TEXT: takes gradient of net/w (%[[#]]) from
// TEXT: gradient of net/w (%[[#]]) is a partial sum over dp
// TEXT: ### Memory
// TEXT: gradient of net/w (%[[#]])

// EXPLORER: "label":"net/w",
// EXPLORER-SAME: {"key":"description","value":"gradient of net/w"},{"key":"value","value":"%{{[0-9]+}}"}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#mn = affine_map<(m, n, k) -> (m, n)>
#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>
shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @step(%x: tensor<64x32xf32> {tp.sharding = [["dp"], []]}, %w: tensor<32x48xf32> {tp.name = "net/w", tp.role = "param", tp.sharding = [[], []]},
                %v: tensor<48x16xf32> {tp.name = "net/v", tp.role = "param", tp.sharding = [[], []]}, %3: tensor<64x16xf32>, %mean: tensor<48xf32> {tp.role = "param"})
    -> (tensor<32x48xf32>, tensor<48x16xf32>, tensor<48xf32> {tp.updates = 4 : i64}, tensor<64x16xf32> {tp.name = "logits"}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x48xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %e1 = tensor.empty() : tensor<64x16xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %e2 = tensor.empty() : tensor<16x48xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x48xf32>) -> tensor<16x48xf32>
  %e3 = tensor.empty() : tensor<48x16xf32>
  %e4 = tensor.empty() : tensor<32x48xf32>
  %i4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<32x48xf32>) -> tensor<32x48xf32>
  %e5 = tensor.empty() : tensor<48xf32>
  %i5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<48xf32>) -> tensor<48xf32>
  %rate = arith.constant dense<0.1> : tensor<32x48xf32>
  %rate_v = arith.constant dense<0.1> : tensor<48x16xf32>
  %keep = arith.constant dense<0.9> : tensor<48xf32>
  %take = arith.constant dense<0.1> : tensor<48xf32>
  %10 = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x48xf32>) outs(%i0 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %11 = math.tanh %10 : tensor<64x48xf32>
  %12 = linalg.matmul ins(%11, %v : tensor<64x48xf32>, tensor<48x16xf32>) outs(%i1 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %logits = math.absf %12 : tensor<64x16xf32>
  %13 = arith.subf %12, %3 : tensor<64x16xf32>
  %14 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%13, %11 : tensor<64x16xf32>, tensor<64x48xf32>) outs(%i2 : tensor<16x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x48xf32>
  %15 = linalg.transpose ins(%14 : tensor<16x48xf32>) outs(%e3 : tensor<48x16xf32>) permutation = [1, 0]
  %16 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%13, %v : tensor<64x16xf32>, tensor<48x16xf32>) outs(%i0 : tensor<64x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  %17 = arith.mulf %16, %11 : tensor<64x48xf32>
  %18 = arith.subf %16, %17 : tensor<64x48xf32>
  %19 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %18 : tensor<64x32xf32>, tensor<64x48xf32>) outs(%i4 : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %20 = arith.mulf %rate, %19 : tensor<32x48xf32>
  %21 = arith.subf %w, %20 : tensor<32x48xf32>
  %22 = arith.mulf %rate_v, %15 : tensor<48x16xf32>
  %23 = arith.subf %v, %22 : tensor<48x16xf32>
  %24 = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]} ins(%10 : tensor<64x48xf32>) outs(%i5 : tensor<48xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<48xf32>
  %25 = arith.mulf %take, %24 : tensor<48xf32>
  %26 = arith.mulf %keep, %mean : tensor<48xf32>
  %27 = arith.addf %26, %25 : tensor<48xf32>
  return %21, %23, %27, %logits : tensor<32x48xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<64x16xf32>
}
