// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-nests)' | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A softmax in place: seven nests are one kernel. The program's buffer is read, and written at the end; what is in between, and the numbers of
// rows, has buffers that only the kernel knows.
// CHECK-LABEL: func.func @softmax
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: call @softmax.fused0(%{{.*}}) : (memref<64x256xf32>) -> ()
// CHECK-NOT: linalg
// CHECK: return
// CHECK: func.func private @softmax.fused0(%[[X:.*]]: memref<64x256xf32>) attributes {{.*}}tp.kernel
// CHECK-COUNT-4: memref.alloca
// CHECK-NOT: memref.alloca
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<64x256xf32>) outs(%[[SCALED:.*]] : memref<64x256xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[MAX:.*]] : memref<64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SCALED]] : memref<64x256xf32>) outs(%[[MAX]] : memref<64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SCALED]], %[[MAX]] : {{.*}}) outs(%[[EXP:.*]] : memref<64x256xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[SUM:.*]] : memref<64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[EXP]] : memref<64x256xf32>) outs(%[[SUM]] : memref<64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]] : {{.*}}) outs(%[[X]] : memref<64x256xf32>)
func.func @softmax(%context: !llvm.ptr) -> memref<64x256xf32> {
  %x = memref.alloc() : memref<64x256xf32>
  call @tprt_abi_fill(%x) : (memref<64x256xf32>) -> ()
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%x : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.mulf %a, %scale : f32
    linalg.yield %z : f32
  }
  %max = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%low : f32) outs(%max : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%max : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %o, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<64x256xf32>, memref<64xf32>) outs(%x : memref<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.subf %a, %b : f32
    %z = math.exp %y : f32
    linalg.yield %z : f32
  }
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %o, %a : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x256xf32>, memref<64xf32>) outs(%x : memref<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  }
  return %x : memref<64x256xf32>
}
func.func private @tprt_abi_fill(memref<64x256xf32>)

// -----

// What is read behind the group is stored, too; the address of a buffer counts.
#one = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @used_behind
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: call @used_behind.fused0(%{{.*}}, %[[Y]], %{{.*}})
// CHECK: func.func private @tprt_abi_copy
// CHECK: func.func private @used_behind.fused0
// CHECK-NOT: alloca
func.func @used_behind(%context: !llvm.ptr, %x: memref<64xf32>, %z: memref<64xf32>) {
  %y = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %a : f32
    linalg.yield %r : f32
  }
  %address = memref.extract_aligned_pointer_as_index %y : memref<64xf32> -> index
  %word = arith.index_cast %address : index to i64
  %pointer = llvm.inttoptr %word : i64 to !llvm.ptr
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  }
  func.call @tprt_abi_copy(%context, %pointer) : (!llvm.ptr, !llvm.ptr) -> ()
  return
}
func.func private @tprt_abi_copy(!llvm.ptr, !llvm.ptr)

// -----

// A buffer that a loop carries is read by the next iteration; one made in it is not.
#one = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: call @loop.fused0(%{{.*}}) : (memref<64xf32>) -> ()
// CHECK: func.func private @loop.fused0(%[[A:.*]]: memref<64xf32>)
// CHECK: %[[Y:.*]] = memref.alloca
// CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[Y]]
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%[[A]]
func.func @loop(%context: !llvm.ptr, %n: index) -> memref<64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = memref.alloc() : memref<64xf32>
  scf.for %i = %zero to %n step %one {
    %y = memref.alloc() : memref<64xf32>
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%x : memref<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %a : f32
      linalg.yield %r : f32
    }
  }
  return %x : memref<64xf32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Sums of rows of words and of half-words: alone they add in vectors of 4 and of 8, and so they do now. The second zero goes with its sum.
// CHECK-LABEL: func.func @widths
// CHECK: call @widths.fused0(%arg2, %arg1)
// CHECK: call @widths.fused1(%arg4, %arg3)
func.func @widths(%context: !llvm.ptr, %x: memref<64x64xf32>, %a: memref<64xf32>, %y: memref<64x64xbf16>, %b: memref<64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %zero2 = arith.constant 0.0 : bf16
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%a : memref<64xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%i: f32, %o: f32):
    %z = arith.addf %i, %o : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero2 : bf16) outs(%b : memref<64xbf16>) {
  ^bb0(%i: bf16, %o: bf16):
    linalg.yield %i : bf16
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<64x64xbf16>) outs(%b : memref<64xbf16>) {
  ^bb0(%i: bf16, %o: bf16):
    %z = arith.addf %i, %o : bf16
    linalg.yield %z : bf16
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Of x and y a thread keeps 32 numbers each. With z, which the last one reads, it would be too many.
// CHECK-LABEL: func.func @registers
// CHECK: call @registers.fused0
// CHECK: linalg.generic
// CHECK: return
// CHECK: func.func private @registers.fused0
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: linalg.generic
func.func @registers(%context: !llvm.ptr, %x: memref<512x8192xf32>, %s: memref<512xf32>, %y: memref<512x8192xf32>,
                     %z: memref<512x8192xf32>, %w: memref<512x8192xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%s : memref<512xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x8192xf32>) outs(%s : memref<512xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.addf %i, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : memref<512x8192xf32>, memref<512x8192xf32>) outs(%y : memref<512x8192xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.mulf %i, %j : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : memref<512x8192xf32>, memref<512x8192xf32>) outs(%z : memref<512x8192xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.mulf %i, %j : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%z, %y : memref<512x8192xf32>, memref<512x8192xf32>) outs(%w : memref<512x8192xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.mulf %i, %j : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Copies beside a nest are nests: halves of rows change places by way of a buffer that nothing reads afterwards. The halves of the result share no
// element.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: memref.copy
// CHECK: call @halves.fused0
// CHECK-NOT: memref.copy
// CHECK: func.func private @halves.fused0
// CHECK: memref.alloca
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
func.func @halves(%context: !llvm.ptr, %x: memref<16x8xf32>, %y: memref<16x8xf32>) {
  %left = memref.subview %x[0, 0] [16, 4] [1, 1] : memref<16x8xf32> to memref<16x4xf32, strided<[8, 1]>>
  %right = memref.subview %x[0, 4] [16, 4] [1, 1] : memref<16x8xf32> to memref<16x4xf32, strided<[8, 1], offset: 4>>
  %to_left = memref.subview %y[0, 0] [16, 4] [1, 1] : memref<16x8xf32> to memref<16x4xf32, strided<[8, 1]>>
  %to_right = memref.subview %y[0, 4] [16, 4] [1, 1] : memref<16x8xf32> to memref<16x4xf32, strided<[8, 1], offset: 4>>
  %minus = memref.alloc() : memref<16x4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%right : memref<16x4xf32, strided<[8, 1], offset: 4>>) outs(%minus : memref<16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  memref.copy %minus, %to_left : memref<16x4xf32> to memref<16x4xf32, strided<[8, 1]>>
  memref.copy %left, %to_right : memref<16x4xf32, strided<[8, 1]>> to memref<16x4xf32, strided<[8, 1], offset: 4>>
  return
}

// -----

// A copy alone is left to the driver.
// CHECK-LABEL: func.func @alone
// CHECK: memref.copy
// CHECK-NOT: linalg.generic
func.func @alone(%context: !llvm.ptr, %x: memref<64xf32>, %y: memref<64xf32>) {
  memref.copy %x, %y : memref<64xf32> to memref<64xf32>
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A sum over one element is none.
// CHECK-LABEL: func.func @single
// CHECK: call @single.fused0
// CHECK: func.func private @single.fused0
// CHECK-COUNT-3: linalg.generic
func.func @single(%context: !llvm.ptr, %x: memref<64x1xf32>, %y: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<64xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x1xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.subf %i, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %sum : memref<64x32xf32>, memref<64xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.mulf %i, %j : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// No known combination: a thread does a row, in order, from the number on, which needs no kernel. What follows is another kernel.
// CHECK-LABEL: func.func @in_order
// CHECK: call @in_order.fused0(%arg2, %arg1)
// CHECK: linalg.generic
// CHECK: return
// CHECK: func.func private @in_order.fused0
// CHECK-NOT: alloca
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @in_order(%context: !llvm.ptr, %x: memref<64x64xf32>, %sum: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.subf %a, %o : f32
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

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Rows that a block does not keep, but goes through twice.
// CHECK-LABEL: func.func @long
// CHECK: call @long.fused0(
// CHECK-NOT: linalg.generic
// CHECK: return
// CHECK: func.func private @long.fused0
// CHECK-NOT: alloca
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
func.func @long(%context: !llvm.ptr, %x: memref<1024x65536xf32>, %sum: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x65536xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.addf %a, %o : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<1024x65536xf32>, memref<1024xf32>) outs(%x : memref<1024x65536xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  }
  return
}
