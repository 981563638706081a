// Elements that no point of a linalg.generic writes are those of the init, but upstream's fusion and bufferization look only at the body: an init
// that it does not read is a buffer without contents for them. So the body reads it, behind a condition that nothing knows before code is generated.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s
// Neither simplification nor fusion removes the read.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose,canonicalize,cse,tp-prepare-fusion,linalg-fuse-elementwise-ops,sccp,canonicalize)' | FileCheck %s --check-prefix=LATE

// CHECK-LABEL: func.func @diagonal
// CHECK: ^bb0(%[[NEW:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[BITS:.*]] = index.sizeof
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[WRITTEN:.*]] = arith.cmpi ne, %[[BITS]], %[[ZERO]] : index
// CHECK: %[[Y:.*]] = arith.select %[[WRITTEN]], %[[NEW]], %[[OLD]] : f32
// CHECK: linalg.yield %[[Y]] : f32
// LATE-LABEL: func.func @diagonal
// LATE: outs(%arg1 :
// LATE: arith.select
func.func @diagonal(%x: tensor<7xf32>, %o: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<7xf32>) outs(%o : tensor<7x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<7x7xf32>
  return %r : tensor<7x7xf32>
}

// -----

// What nothing needs reads the init.
// CHECK-LABEL: func.func @dead
// CHECK: ^bb0(%[[NEW:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[Y:.*]] = arith.select %{{.*}}, %[[NEW]], %[[OLD]] : f32
// CHECK: linalg.yield %[[Y]] : f32
// LATE-LABEL: func.func @dead
// LATE: outs(%arg1 :
func.func @dead(%x: tensor<7xf32>, %o: tensor<15xf32>) -> tensor<15xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%x : tensor<7xf32>) outs(%o : tensor<15xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    %1 = arith.mulf %0, %in : f32
    linalg.yield %in : f32
  } -> tensor<15xf32>
  return %r : tensor<15xf32>
}

// -----

// Nothing is written at all.
// CHECK-LABEL: func.func @nothing
// CHECK: arith.select
// LATE-LABEL: func.func @nothing
// LATE: outs(%arg1 :
func.func @nothing(%x: tensor<7x0xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x0xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// Only the second result has such elements; the first is written everywhere, the third starts without contents, the fourth reads its init already.
// CHECK-LABEL: func.func @some
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32, %[[OLD:.*]]: f32, %{{.*}}: f32, %[[LAST:.*]]: f32):
// CHECK: %[[SUM:.*]] = arith.addf %[[IN]], %[[LAST]] : f32
// CHECK: %[[Y:.*]] = arith.select %{{.*}}, %[[IN]], %[[OLD]] : f32
// CHECK-NOT: arith.select
// CHECK: linalg.yield %[[IN]], %[[Y]], %[[IN]], %[[SUM]] : f32, f32, f32, f32
// LATE-LABEL: func.func @some
func.func @some(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<8xf32>, %d: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %r:4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i, i)>, affine_map<(i) -> (i, i)>],
                         iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%a, %b, %e, %d : tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%in: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32):
    %s = arith.addf %in, %o3 : f32
    linalg.yield %in, %in, %in, %s : f32, f32, f32, f32
  } -> (tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
