// Attention in blocks against the same program, of which the probabilities are a result too, so that they are stored: the same numbers, without the
// memory. Neither devices nor blocks divide 101 rows and 1301 columns. Scores are 3 MiB: within the limits of memory they would not fit.
// RUN: sed -e 's/-> tensor<1x2x3x101x12xf32> {/-> (tensor<1x2x3x101x12xf32>, tensor<1x2x3x101x1301xf32>) {/' -e 's/return %%o : tensor<1x2x3x101x12xf32>/return %%o, %%p : tensor<1x2x3x101x12xf32>, tensor<1x2x3x101x1301xf32>/' %s > %t.scores.mlir
// RUN: shard-run %t.scores.mlir --mesh tp=1 --no-verify --output @%t.npy | FileCheck %s --check-prefix=SCORES
// RUN: shard-run %s --mesh tp=1 --no-verify --memory-limit 1500KiB --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: shard-run %s --mesh tp=2 --no-verify --memory-limit 1200KiB --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: shard-run %s --mesh tp=3 --no-verify --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: shard-run %s --mesh tp=4 --no-verify --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: shard-run %s --mesh dp=2,tp=2 --no-verify --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS

// Columns split over devices: maxima, sums and outputs are reduced, the rest stays in blocks. Of 1301 columns the last of 4 devices has 323, in a
// buffer of 326.
// RUN: sed -e 's/%%k: \([^,]*\),/%%k: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%v: \([^,]*\),/%%v: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%q: \([^,]*\),/%%q: \1 {tp.sharding = [[], [], [], [], []]},/' %s > %t.columns.mlir
// RUN: shard-run %t.columns.mlir --mesh tp=2 --no-verify --strategy follow --expected-output @%t.npy | FileCheck %s --check-prefixes=COLUMNS,BLOCKS
// RUN: shard-run %t.columns.mlir --mesh tp=4 --no-verify --strategy follow --expected-output @%t.npy | FileCheck %s --check-prefixes=COLUMNS,BLOCKS

// SCORES: buffers {{[0-9.]+}} MiB
// COLUMNS: all_reduce {{.*}} 3
// BLOCKS: memory per device: {{.*}} buffers {{[0-9.]+}} KiB
// BLOCKS: against expected{{ +}}ok
// BLOCKS: verified

shard.grid @mesh(shape = 1x1) {tp.axes = ["dp", "tp"]}

func.func @main(%q: tensor<1x2x3x101x8xf32>, %k: tensor<1x1301x2x8xf32>, %v: tensor<1x1301x2x12xf32>, %bias: tensor<1x1301xf32>) -> tensor<1x2x3x101x12xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %sc = arith.constant 0.17 : f32
  %es = tensor.empty() : tensor<1x2x3x101x1301xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1x2x3x101x1301xf32>) -> tensor<1x2x3x101x1301xf32>
  %s = linalg.contract indexing_maps=[affine_map<(b,h,g,i,j,d)->(b,h,g,i,d)>, affine_map<(b,h,g,i,j,d)->(b,j,h,d)>, affine_map<(b,h,g,i,j,d)->(b,h,g,i,j)>] ins(%q, %k : tensor<1x2x3x101x8xf32>, tensor<1x1301x2x8xf32>) outs(%s0 : tensor<1x2x3x101x1301xf32>) -> tensor<1x2x3x101x1301xf32>
  %scs = arith.constant dense<0.17> : tensor<1x2x3x101x1301xf32>
  %t = arith.mulf %s, %scs : tensor<1x2x3x101x1301xf32>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%t, %bias : tensor<1x2x3x101x1301xf32>, tensor<1x1301xf32>) outs(%es : tensor<1x2x3x101x1301xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %b = arith.addf %x, %y : f32
    linalg.yield %b : f32
  } -> tensor<1x2x3x101x1301xf32>
  %m2 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m1 : tensor<1x2x3x101x1301xf32>) outs(%es : tensor<1x2x3x101x1301xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sge, %i, %j : index
    %w = arith.select %c, %x, %inf : f32
    linalg.yield %w : f32
  } -> tensor<1x2x3x101x1301xf32>
  %er = tensor.empty() : tensor<1x2x3x101xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<1x2x3x101xf32>) -> tensor<1x2x3x101xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<1x2x3x101xf32>) -> tensor<1x2x3x101xf32>
  %mx = linalg.reduce ins(%m2 : tensor<1x2x3x101x1301xf32>) outs(%m0 : tensor<1x2x3x101xf32>) dimensions = [4]
    (%x: f32, %y: f32) { %a = arith.maximumf %x, %y : f32  linalg.yield %a : f32 }
  %mb = linalg.broadcast ins(%mx : tensor<1x2x3x101xf32>) outs(%es : tensor<1x2x3x101x1301xf32>) dimensions = [4]
  %d = arith.subf %m2, %mb : tensor<1x2x3x101x1301xf32>
  %e = math.exp %d : tensor<1x2x3x101x1301xf32>
  %l = linalg.reduce ins(%e : tensor<1x2x3x101x1301xf32>) outs(%l0 : tensor<1x2x3x101xf32>) dimensions = [4]
    (%x: f32, %y: f32) { %a = arith.addf %x, %y : f32  linalg.yield %a : f32 }
  %one = arith.constant dense<1.0> : tensor<1x2x3x101xf32>
  %rl = arith.divf %one, %l : tensor<1x2x3x101xf32>
  %lb = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%rl : tensor<1x2x3x101xf32>) outs(%es : tensor<1x2x3x101x1301xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<1x2x3x101x1301xf32>
  %p = arith.mulf %e, %lb : tensor<1x2x3x101x1301xf32>
  %eo = tensor.empty() : tensor<1x2x3x101x12xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x2x3x101x12xf32>) -> tensor<1x2x3x101x12xf32>
  %o = linalg.contract indexing_maps=[affine_map<(b,h,g,i,e,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,e,j)->(b,j,h,e)>, affine_map<(b,h,g,i,e,j)->(b,h,g,i,e)>] ins(%p, %v : tensor<1x2x3x101x1301xf32>, tensor<1x1301x2x12xf32>) outs(%o0 : tensor<1x2x3x101x12xf32>) -> tensor<1x2x3x101x12xf32>
  return %o : tensor<1x2x3x101x12xf32>
}
