// Row 0 sees no column, all its scores are -infinity: NaN comes out, as where scores are stored. What row 1 sees is on the first device only, and
// in the first block.
// RUN: sed -e 's/-> tensor<1x1x2x101x12xf32> {/-> (tensor<1x1x2x101x12xf32>, tensor<1x1x2x101x1401xf32>) {/' -e 's/return %%o : tensor<1x1x2x101x12xf32>/return %%o, %%p : tensor<1x1x2x101x12xf32>, tensor<1x1x2x101x1401xf32>/' %s > %t.scores.mlir
// RUN: shard-run %t.scores.mlir --mesh tp=1 --no-verify --output @%t.npy | FileCheck %s --check-prefix=SCORES
// RUN: shard-run %s --mesh tp=1 --no-verify --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: sed -e 's/%%k: \([^,]*\),/%%k: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%v: \([^,]*\),/%%v: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%q: \([^,]*\),/%%q: \1 {tp.sharding = [[], [], [], [], []]},/' %s > %t.columns.mlir
// RUN: shard-run %t.columns.mlir --mesh tp=3 --no-verify --strategy follow --expected-output @%t.npy | FileCheck %s --check-prefixes=COLUMNS,BLOCKS

// Where they are a result they are made there, and need no buffer.
// SCORES: buffers {{[0-9]+}} B
// SCORES: result 1: 1x1x2x101x1401xf32
// COLUMNS: all_reduce {{.*}} 3
// BLOCKS: memory per device: {{.*}} buffers {{[0-9.]+}} KiB
// BLOCKS: against expected{{ +}}ok
// BLOCKS: verified

shard.grid @mesh(shape = 1x1) {tp.axes = ["dp", "tp"]}

func.func @main(%q: tensor<1x1x2x101x8xf32>, %k: tensor<1x1401x1x8xf32>, %v: tensor<1x1401x1x12xf32>, %bias: tensor<1x1401xf32>) -> tensor<1x1x2x101x12xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %sc = arith.constant 0.17 : f32
  %es = tensor.empty() : tensor<1x1x2x101x1401xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1x1x2x101x1401xf32>) -> tensor<1x1x2x101x1401xf32>
  %s = linalg.contract indexing_maps=[affine_map<(b,h,g,i,j,d)->(b,h,g,i,d)>, affine_map<(b,h,g,i,j,d)->(b,j,h,d)>, affine_map<(b,h,g,i,j,d)->(b,h,g,i,j)>] ins(%q, %k : tensor<1x1x2x101x8xf32>, tensor<1x1401x1x8xf32>) outs(%s0 : tensor<1x1x2x101x1401xf32>) -> tensor<1x1x2x101x1401xf32>
  %scs = arith.constant dense<0.17> : tensor<1x1x2x101x1401xf32>
  %t = arith.mulf %s, %scs : tensor<1x1x2x101x1401xf32>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%t, %bias : tensor<1x1x2x101x1401xf32>, tensor<1x1401xf32>) outs(%es : tensor<1x1x2x101x1401xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %b = arith.addf %x, %y : f32
    linalg.yield %b : f32
  } -> tensor<1x1x2x101x1401xf32>
  %m2 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m1 : tensor<1x1x2x101x1401xf32>) outs(%es : tensor<1x1x2x101x1401xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sgt, %i, %j : index
    %w = arith.select %c, %x, %inf : f32
    linalg.yield %w : f32
  } -> tensor<1x1x2x101x1401xf32>
  %p = linalg.softmax dimension(4) ins(%m2 : tensor<1x1x2x101x1401xf32>) outs(%es : tensor<1x1x2x101x1401xf32>) -> tensor<1x1x2x101x1401xf32>
  %eo = tensor.empty() : tensor<1x1x2x101x12xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x1x2x101x12xf32>) -> tensor<1x1x2x101x12xf32>
  %o = linalg.contract indexing_maps=[affine_map<(b,h,g,i,e,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,e,j)->(b,j,h,e)>, affine_map<(b,h,g,i,e,j)->(b,h,g,i,e)>] ins(%p, %v : tensor<1x1x2x101x1401xf32>, tensor<1x1401x1x12xf32>) outs(%o0 : tensor<1x1x2x101x12xf32>) -> tensor<1x1x2x101x12xf32>
  return %o : tensor<1x1x2x101x12xf32>
}
