// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-outline-kernels)' | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-outline-kernels{asserts=some})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: asserts 'some' is not known; use true or false

#id = affine_map<(d0) -> (d0)>

// Equal nests call one kernel; constants go with it, other values are arguments.
// CHECK-LABEL: func.func @main
// CHECK-NOT: linalg.generic
// CHECK: call @main.kernel0(%arg0, %arg1) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK: call @main.kernel0(%arg1, %arg0) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK: call @main.kernel1(%arg0, %arg2) : (memref<4xf32>, f32) -> ()
// CHECK: scf.for
// CHECK: call @main.kernel1(%arg1, %arg2)
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>, %s: f32, %n: index) {
  %c = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<4xf32>) {
  ^bb0(%o: f32):
    %y = arith.addf %o, %s : f32
    linalg.yield %y : f32
  }
  scf.for %i = %n to %n step %n {
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<4xf32>) {
    ^bb0(%o: f32):
      %y = arith.addf %o, %s : f32
      linalg.yield %y : f32
    }
  }
  return
}

// An assertion has to end the program, not a kernel: it stays.
// CHECK-LABEL: func.func @assertion
// CHECK: linalg.generic
// CHECK: cf.assert
func.func @assertion(%a: memref<4xf32>, %ok: i1) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<4xf32>) {
  ^bb0(%o: f32):
    cf.assert %ok, "not ok"
    linalg.yield %o : f32
  }
  return
}

// CHECK: func.func private @main.kernel0(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]} {
// CHECK: arith.constant 2.000000e+00
// CHECK: linalg.generic
// CHECK: return
// CHECK: func.func private @main.kernel1(%{{.*}}: memref<4xf32>, %[[S:.*]]: f32)
// CHECK: arith.addf %{{.*}}, %[[S]]
// CHECK-NOT: kernel2
