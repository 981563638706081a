// A softmax after which rows that see nothing are made zero, with such rows: row 0 sees no column. It is computed in blocks, on one device, with heads
// split and with columns split, where a row is dead only if it is on all devices; and gives what stored scores give.
// RUN: sed -e 's/-> tensor<1x1x2x101x12xf32> {/-> (tensor<1x1x2x101x12xf32>, tensor<1x1x2x101x1401xf32>) {/' -e 's/return %%o : tensor<1x1x2x101x12xf32>/return %%o, %%p : tensor<1x1x2x101x12xf32>, tensor<1x1x2x101x1401xf32>/' %s > %t.scores.mlir
// RUN: shard-run %t.scores.mlir --mesh tp=1 --no-verify --output @%t.npy | FileCheck %s --check-prefix=SCORES
// RUN: shard-run %s --mesh tp=1 --no-verify --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// RUN: sed -e 's/%%k: \([^,]*\),/%%k: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%v: \([^,]*\),/%%v: \1 {tp.sharding = [[], ["tp"], [], []]},/' -e 's/%%q: \([^,]*\),/%%q: \1 {tp.sharding = [[], [], [], [], []]},/' %s > %t.columns.mlir
// RUN: shard-run %t.columns.mlir --mesh tp=3 --strategy follow --expected-output @%t.npy | FileCheck %s --check-prefixes=COLUMNS,BLOCKS
// RUN: sed -e 's/%%q: \([^,]*\),/%%q: \1 {tp.sharding = [[], [], ["tp"], [], []]},/' %s > %t.heads.mlir
// RUN: shard-run %t.heads.mlir --mesh tp=2 --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// The other way round: zero where something holds not.
// RUN: sed -e 's/select %%x, %%y, %%w/select %%x, %%w, %%y/' -e 's/ins(%%dead, %%zeros/ins(%%any, %%zeros/' %s > %t.unless.mlir
// RUN: shard-run %t.unless.mlir --mesh tp=2 --expected-output @%t.npy | FileCheck %s --check-prefixes=BLOCKS
// On GPUs the kernel of attention makes these rows 0.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh tp=1 --target cuda --expected-output @%t.npy 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %t.unless.mlir --mesh tp=1 --target cuda --expected-output @%t.npy 2>&1 | FileCheck %s --check-prefix=KERNEL
// Rows in which one column is hidden are others.
// RUN: sed -e 's/arith.ori %%x, %%z/arith.andi %%x, %%z/' -e 's/ins(%%false : i1) outs(%%er/ins(%%true : i1) outs(%%er/' %s > %t.some.mlir
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %t.some.mlir --mesh tp=1 --target cuda 2>&1 | FileCheck %s --check-prefix=SOME
// KERNEL: attention is computed by one kernel
// KERNEL: against expected{{ +}}ok
// KERNEL: verified
// SOME: attention is not computed by one kernel: rows of the scores are reduced to more than their largest score and their sum
// SOME: verified
// Something else than zero is no such row: scores are stored.
// RUN: sed -e 's/%%zeros = linalg.fill ins(%%zero/%%zeros = linalg.fill ins(%%sc/' %s > %t.other.mlir
// RUN: shard-run %t.other.mlir --mesh tp=2 | FileCheck %s --check-prefix=STORED

// SCORES: buffers {{[0-9.]+}} MiB
// STORED: buffers {{[0-9.]+}} MiB
// STORED: verified
// COLUMNS: all_reduce {{.*}} 4
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
  // What PyTorch makes of _safe_softmax: rows of which all scores are -infinity become zero.
  %ei = tensor.empty() : tensor<1x1x2x101x1401xi1>
  %hidden = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m2 : tensor<1x1x2x101x1401xf32>) outs(%ei : tensor<1x1x2x101x1401xi1>) {
  ^bb0(%x: f32, %z: i1):
    %c = arith.cmpf oeq, %x, %inf : f32
    linalg.yield %c : i1
  } -> tensor<1x1x2x101x1401xi1>
  %true = arith.constant true
  %false = arith.constant false
  %seen = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%hidden : tensor<1x1x2x101x1401xi1>) outs(%ei : tensor<1x1x2x101x1401xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.xori %x, %true : i1
    linalg.yield %c : i1
  } -> tensor<1x1x2x101x1401xi1>
  %er = tensor.empty() : tensor<1x1x2x101x1xi1>
  %none = linalg.fill ins(%false : i1) outs(%er : tensor<1x1x2x101x1xi1>) -> tensor<1x1x2x101x1xi1>
  %any = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,0)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%seen : tensor<1x1x2x101x1401xi1>) outs(%none : tensor<1x1x2x101x1xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.ori %x, %z : i1
    linalg.yield %c : i1
  } -> tensor<1x1x2x101x1xi1>
  %dead = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,0)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%any : tensor<1x1x2x101x1xi1>) outs(%er : tensor<1x1x2x101x1xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.xori %x, %true : i1
    linalg.yield %c : i1
  } -> tensor<1x1x2x101x1xi1>
  %zeros = linalg.fill ins(%zero : f32) outs(%es : tensor<1x1x2x101x1401xf32>) -> tensor<1x1x2x101x1401xf32>
  %safe = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,0)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%dead, %zeros, %p : tensor<1x1x2x101x1xi1>, tensor<1x1x2x101x1401xf32>, tensor<1x1x2x101x1401xf32>) outs(%es : tensor<1x1x2x101x1401xf32>) {
  ^bb0(%x: i1, %y: f32, %w: f32, %z: f32):
    %c = arith.select %x, %y, %w : f32
    linalg.yield %c : f32
  } -> tensor<1x1x2x101x1401xf32>
  %eo = tensor.empty() : tensor<1x1x2x101x12xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x1x2x101x12xf32>) -> tensor<1x1x2x101x12xf32>
  %o = linalg.contract indexing_maps=[affine_map<(b,h,g,i,e,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,e,j)->(b,j,h,e)>, affine_map<(b,h,g,i,e,j)->(b,h,g,i,e)>] ins(%safe, %v : tensor<1x1x2x101x1401xf32>, tensor<1x1401x1x12xf32>) outs(%o0 : tensor<1x1x2x101x12xf32>) -> tensor<1x1x2x101x12xf32>
  return %o : tensor<1x1x2x101x12xf32>
}
