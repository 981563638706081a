// Nests that may not be one kernel.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-nests)' | FileCheck %s --implicit-check-not=.fused

#rows = affine_map<(d0, d1) -> (d0, d1)>
#across = affine_map<(d0, d1) -> (d1, d0)>

// The second reads what other threads write.
// CHECK-LABEL: func.func @across
func.func @across(%context: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#across, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#across = affine_map<(d0, d1) -> (d1, d0)>

// The second overwrites what other threads of the first have yet to read.
// CHECK-LABEL: func.func @overwrites
func.func @overwrites(%context: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#across, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x64xf32>) outs(%x : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Two parts of one buffer, which overlap.
// CHECK-LABEL: func.func @parts
func.func @parts(%context: !llvm.ptr, %x: memref<64xf32>, %z: memref<60xf32>) {
  %y = memref.alloc() : memref<64xf32>
  %front = memref.subview %y[0] [60] [1] : memref<64xf32> to memref<60xf32, strided<[1]>>
  %back = memref.subview %y[4] [60] [1] : memref<64xf32> to memref<60xf32, strided<[1], offset: 4>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%z : memref<60xf32>) outs(%front : memref<60xf32, strided<[1]>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%back : memref<60xf32, strided<[1], offset: 4>>) outs(%z : memref<60xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A row's number is in memory only, where one thread is to overwrite it: the sum does not begin here.
// CHECK-LABEL: func.func @begun
func.func @begun(%context: !llvm.ptr, %x: memref<64x64xf32>, %sum: memref<64xf32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %o : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x64xf32>, memref<64xf32>) outs(%x : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Other loops; a body that reads memory, or asserts; a program that looks at memory in between.
// CHECK-LABEL: func.func @others
func.func @others(%context: !llvm.ptr, %x: memref<64xf32>, %y: memref<32xf32>, %i: memref<64xindex>, %at: index, %w: memref<1xf32>) {
  %size = arith.constant 64 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%x : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : memref<64xindex>) outs(%x : memref<64xf32>) {
  ^bb0(%a: index, %o: f32):
    %z = memref.load %x[%a] : memref<64xf32>
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%x : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%i : memref<64xindex>) {
  ^bb0(%o: index):
    %in = arith.cmpi ult, %o, %size : index
    cf.assert %in, "no place"
    linalg.yield %o : index
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%x : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  %read = memref.load %x[%at] : memref<64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%x : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %read : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<() -> ()>
#none2 = affine_map<(d0, d1) -> ()>

// One row, which nothing reduces over: alone the second has as many threads as elements.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%context: !llvm.ptr, %x: memref<64x64xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%s : memref<f32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%x : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#across = affine_map<(d0, d1) -> (d1, d0)>

// A large transpose has tiles of its own.
// CHECK-LABEL: func.func @transpose
func.func @transpose(%context: !llvm.ptr, %x: memref<256x256xf32>, %y: memref<256x256xf32>, %z: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#across, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<256x256xf32>) outs(%y : memref<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<256x256xf32>) outs(%z : memref<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}
