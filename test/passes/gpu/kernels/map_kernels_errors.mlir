// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-map-kernels)'

// expected-error @below {{'func.func': is not lowered to the runtime yet; run tp-assign-buffers first}}
func.func @no_context(%a: memref<4x8xf32>) {
  return
}

// -----

func.func @not_outlined(%context: !llvm.ptr, %a: memref<4xf32>) {
  %c = arith.constant 2.0 : f32
  // expected-error @below {{'linalg.fill': does not run on GPUs yet in this form: it is not a kernel, and the host cannot access GPU memory}}
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
  return
}

// -----

// expected-error @below {{'func.func': is called on buffers but has no loop nest; run tp-outline-kernels first}}
func.func private @kernel(%a: memref<4xf32>) {
  return
}

// -----

func.func private @kernel(%c: f32, %a: memref<4xf32>) {
  // expected-error @below {{'linalg.fill': cannot be written as linalg.generic; run linalg-generalize-named-ops first}}
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func private @kernel(%a: memref<?xf32>) {
  // expected-error @below {{'linalg.generic': operand 0 has a dynamic size in dimension 0}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func private @kernel(%a: memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>) {
  // expected-error @below {{'linalg.generic': operand 0 has a layout without strides, which kernels do not support}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func private @kernel(%a: memref<4xi7>) {
  // expected-error @below {{'linalg.generic': operand 0 has an unsupported element type; kernels support f8E4M3FN, f8E5M2, f16, bf16,}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<4xi7>) {
  ^bb0(%o: i7):
    linalg.yield %o : i7
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
func.func private @kernel(%a: memref<4x8xf32>, %b: memref<4xf32>) {
  // expected-error @below {{'linalg.generic': loop 1 (size 8) rewrites elements of some outputs, but not the same elements of all outputs; threads of a kernel would race: compute these outputs by separate ops}}
  linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} outs(%a, %b : memref<4x8xf32>, memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %o, %x : f32, f32
  }
  return
}

// -----

// Rows of 4 begin 3 apart: points of two rows write one element.
func.func private @kernel(%a: memref<2x4xf32>, %b: memref<7xf32>) {
  // expected-error @below {{'linalg.generic': loop 0 (size 2) rewrites elements of some outputs, but not the same elements of all outputs; threads of a kernel would race: compute these outputs by separate ops}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i * 3 + j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<2x4xf32>) outs(%b : memref<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Both loops move by the same step.
func.func private @kernel(%a: memref<2x4xf32>, %b: memref<9xf32>) {
  // expected-error @below {{'linalg.generic': loop 0 (size 2) rewrites elements of some outputs, but not the same elements of all outputs; threads of a kernel would race: compute these outputs by separate ops}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i * 2 - j * 2 + 6)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<2x4xf32>) outs(%b : memref<9xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Two points write each element.
func.func private @kernel(%a: memref<8xf32>, %b: memref<4xf32>) {
  // expected-error @below {{'linalg.generic': loop 0 (size 8) rewrites elements of some outputs, but not the same elements of all outputs; threads of a kernel would race: compute these outputs by separate ops}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>], iterator_types = ["parallel"]}
      ins(%a : memref<8xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q) -> (a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q)>
func.func private @kernel(%a: memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @below {{'linalg.generic': operand 0 has 17 dimensions; a kernel takes at most}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
      "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%a : memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#in = affine_map<(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q) -> (a,b,c,d,e,f,g,h,i)>
#out = affine_map<(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q) -> (j,k,l,m,n,o,p,q)>
func.func private @kernel(%a: memref<1x1x1x1x1x1x1x1x1xf32>, %b: memref<1x1x1x1x1x1x1x1xf32>) {
  // expected-error @below {{'linalg.generic': has 17 loops; a kernel takes at most 16}}
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
      "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%a : memref<1x1x1x1x1x1x1x1x1xf32>) outs(%b : memref<1x1x1x1x1x1x1x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func private @kernel(%a0: memref<1xf32>, %a1: memref<1xf32>, %a2: memref<1xf32>, %a3: memref<1xf32>, %a4: memref<1xf32>, %a5: memref<1xf32>, %a6: memref<1xf32>, %a7: memref<1xf32>, %a8: memref<1xf32>, %a9: memref<1xf32>, %a10: memref<1xf32>, %a11: memref<1xf32>, %a12: memref<1xf32>, %a13: memref<1xf32>, %a14: memref<1xf32>, %a15: memref<1xf32>, %a16: memref<1xf32>, %a17: memref<1xf32>, %a18: memref<1xf32>, %a19: memref<1xf32>, %a20: memref<1xf32>, %a21: memref<1xf32>, %a22: memref<1xf32>, %a23: memref<1xf32>, %a24: memref<1xf32>, %a25: memref<1xf32>, %a26: memref<1xf32>, %a27: memref<1xf32>, %a28: memref<1xf32>, %a29: memref<1xf32>, %a30: memref<1xf32>, %a31: memref<1xf32>, %a32: memref<1xf32>, %a33: memref<1xf32>, %a34: memref<1xf32>, %a35: memref<1xf32>, %a36: memref<1xf32>, %a37: memref<1xf32>, %a38: memref<1xf32>, %a39: memref<1xf32>, %a40: memref<1xf32>, %a41: memref<1xf32>, %a42: memref<1xf32>, %a43: memref<1xf32>, %a44: memref<1xf32>, %a45: memref<1xf32>, %a46: memref<1xf32>, %a47: memref<1xf32>, %a48: memref<1xf32>, %a49: memref<1xf32>, %a50: memref<1xf32>, %a51: memref<1xf32>, %a52: memref<1xf32>, %a53: memref<1xf32>, %a54: memref<1xf32>, %a55: memref<1xf32>, %a56: memref<1xf32>, %a57: memref<1xf32>, %a58: memref<1xf32>, %a59: memref<1xf32>, %a60: memref<1xf32>, %a61: memref<1xf32>, %a62: memref<1xf32>, %a63: memref<1xf32>, %a64: memref<1xf32>) {
  // expected-error @below {{'linalg.generic': uses 65 values; a kernel takes at most 64}}
  linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %a20, %a21, %a22, %a23, %a24, %a25, %a26, %a27, %a28, %a29, %a30, %a31, %a32, %a33, %a34, %a35, %a36, %a37, %a38, %a39, %a40, %a41, %a42, %a43, %a44, %a45, %a46, %a47, %a48, %a49, %a50, %a51, %a52, %a53, %a54, %a55, %a56, %a57, %a58, %a59, %a60, %a61, %a62, %a63 : memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>, memref<1xf32>)
      outs(%a64 : memref<1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %x8: f32, %x9: f32, %x10: f32, %x11: f32, %x12: f32, %x13: f32, %x14: f32, %x15: f32, %x16: f32, %x17: f32, %x18: f32, %x19: f32, %x20: f32, %x21: f32, %x22: f32, %x23: f32, %x24: f32, %x25: f32, %x26: f32, %x27: f32, %x28: f32, %x29: f32, %x30: f32, %x31: f32, %x32: f32, %x33: f32, %x34: f32, %x35: f32, %x36: f32, %x37: f32, %x38: f32, %x39: f32, %x40: f32, %x41: f32, %x42: f32, %x43: f32, %x44: f32, %x45: f32, %x46: f32, %x47: f32, %x48: f32, %x49: f32, %x50: f32, %x51: f32, %x52: f32, %x53: f32, %x54: f32, %x55: f32, %x56: f32, %x57: f32, %x58: f32, %x59: f32, %x60: f32, %x61: f32, %x62: f32, %x63: f32, %x64: f32):
    linalg.yield %x0 : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @two(%context: !llvm.ptr, %a: memref<8xf32>) {
  call @kernel(%a) : (memref<8xf32>) -> ()
  return
}
// expected-error@+1 {{has 2 loop nests, but tp-fuse-nests did not mark it as one kernel}}
func.func private @kernel(%a: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @sizes(%context: !llvm.ptr, %a: memref<8xf32>, %b: memref<9xf32>) {
  call @kernel(%a, %b) : (memref<8xf32>, memref<9xf32>) -> ()
  return
}
func.func private @kernel(%a: memref<8xf32>, %b: memref<9xf32>) attributes {tp.kernel} {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  // expected-error@+1 {{does not iterate over the loops of the preceding nest, which has to share its kernel}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<9xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @vectors(%context: !llvm.ptr, %a: memref<8x64xf32>, %b: memref<8xf32>, %c: memref<8x64xbf16>, %d: memref<8xbf16>) {
  call @kernel(%a, %b, %c, %d) : (memref<8x64xf32>, memref<8xf32>, memref<8x64xbf16>, memref<8xbf16>) -> ()
  return
}
func.func private @kernel(%a: memref<8x64xf32>, %b: memref<8xf32>, %c: memref<8x64xbf16>, %d: memref<8xbf16>) attributes {tp.kernel} {
  // expected-error@+1 {{starts a kernel whose reductions have different vector widths}}
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.addf %x, %o : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : memref<8x64xbf16>) outs(%d : memref<8xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %z = arith.addf %x, %o : bf16
    linalg.yield %z : bf16
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @in_order(%context: !llvm.ptr, %a: memref<8x64xf32>, %b: memref<8xf32>) {
  call @kernel(%a, %b) : (memref<8x64xf32>, memref<8xf32>) -> ()
  return
}
func.func private @kernel(%a: memref<8x64xf32>, %b: memref<8xf32>) attributes {tp.kernel} {
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : memref<8x64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  // expected-error@+1 {{has a reduction with an unknown combiner, so it cannot be part of a fused kernel}}
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.subf %x, %o : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @begun(%context: !llvm.ptr, %a: memref<8x64xf32>, %b: memref<8xf32>) {
  call @kernel(%a, %b) : (memref<8x64xf32>, memref<8xf32>) -> ()
  return
}
func.func private @kernel(%a: memref<8x64xf32>, %b: memref<8xf32>) attributes {tp.kernel} {
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : memref<8x64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  // expected-error@+1 {{continues from a value of output 0 that its kernel did not compute}}
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.addf %x, %o : f32
    linalg.yield %z : f32
  }
  return
}

// -----

func.func @many(%context: !llvm.ptr, %a: memref<f32>) {
  call @kernel(%a) : (memref<f32>) -> ()
  return
}
func.func private @kernel(%a: memref<f32>) attributes {tp.kernel} {
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  // expected-error@+1 {{exceeds the limit of 24 loop nests in one kernel}}
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}
