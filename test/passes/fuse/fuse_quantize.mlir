// Rows that become f8: what is written for forms of it, and what is left apart.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
#whole = affine_map<(d0, d1) -> (d0, d1)>
#stat = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> (d0, 0)>
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}

// The largest magnitude has a least; the rows are not read elsewhere.
// REMARK: 'shard.all_reduce': is fused with residual, f8 with scales of rows, 8 rows of 16
// CHECK-LABEL: func.func @guarded
// CHECK: call @tp.fused.0({{.*}}) -> (tensor<8x16xf8E4M3FN>, tensor<8xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @guarded(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %least : tensor<8xf32>
  %scale = arith.divf %guarded, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// The scale has a least, rows are bf16, of slices, and read elsewhere.
// REMARK: 'shard.reduce_scatter': is fused with residual, f8 with scales of rows, 32 rows of 16
// CHECK-LABEL: func.func @least_scale
// CHECK: call @tp.fused.1({{.*}}) -> (tensor<8x16xbf16>, tensor<8x16xf8E4M3FN>, tensor<8xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @least_scale(%d: tensor<32x16xbf16>, %residual: tensor<8x16xbf16>) -> (tensor<8x16xf8E4M3FN>, tensor<8x16xbf16>) {
  %a = shard.reduce_scatter %d on @mesh grid_axes = [1] scatter_axis = 0 : tensor<32x16xbf16> -> tensor<8x16xbf16>
  %y = arith.addf %a, %residual : tensor<8x16xbf16>
  %magnitude = math.absf %y : tensor<8x16xbf16>
  %zeros = arith.constant dense<0.0> : tensor<8xbf16>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xbf16>) outs(%zeros : tensor<8xbf16>) {
  ^bb0(%m: bf16, %o: bf16):
    %s = arith.maximumf %o, %m : bf16
    linalg.yield %s : bf16
  } -> tensor<8xbf16>
  %wide = arith.extf %amax : tensor<8xbf16> to tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %share = arith.divf %wide, %top : tensor<8xf32>
  %scale = arith.maximumf %least, %share : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xbf16>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: bf16, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %w = arith.extf %v : bf16 to f32
    %n = arith.divf %w, %s : f32
    %b = arith.minimumf %n, %hi : f32
    %c = arith.maximumf %lo, %b : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q, %y : tensor<8x16xf8E4M3FN>, tensor<8x16xbf16>
}

// A scale that is given.
// REMARK: 'shard.all_reduce': is fused with residual, f8 with a given scale, 8 rows of 16
// CHECK-LABEL: func.func @given
// CHECK: call @tp.fused.2({{.*}}) -> tensor<8x16xf8E4M3FN>
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @given(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>, %given: tensor<1xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> (0)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %given : tensor<8x16xf32>, tensor<1xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// Without a least a row of zeros is 0 / 0, where the kernel has 0.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: its scale is 0 for a row or group of zeros
// CHECK-LABEL: func.func @unguarded
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @unguarded(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %scale = arith.divf %amax, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// What is too large becomes NaN, where the kernel has 448.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: it is not clamped to [-448, 448]
// CHECK-LABEL: func.func @not_clamped
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @not_clamped(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %least : tensor<8xf32>
  %scale = arith.divf %guarded, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %c = arith.maximumf %n, %lo : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: it is not clamped to [-448, 448]
// CHECK-LABEL: func.func @other_bounds
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @other_bounds(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %least : tensor<8xf32>
  %scale = arith.divf %guarded, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 240.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: it is not a row divided by a scale in f32
// CHECK-LABEL: func.func @multiplied
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @multiplied(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %least : tensor<8xf32>
  %scale = arith.divf %guarded, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.mulf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// The scale is rounded to bf16.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: its scale is neither a given value nor the largest magnitude of its row or group / 448 in f32
// CHECK-LABEL: func.func @narrow_scale
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @narrow_scale(%d: tensor<8x16xbf16>, %residual: tensor<8x16xbf16>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xbf16> -> tensor<8x16xbf16>
  %y = arith.addf %a, %residual : tensor<8x16xbf16>
  %magnitude = math.absf %y : tensor<8x16xbf16>
  %zeros = arith.constant dense<0.0> : tensor<8xbf16>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xbf16>) outs(%zeros : tensor<8xbf16>) {
  ^bb0(%m: bf16, %o: bf16):
    %s = arith.maximumf %o, %m : bf16
    linalg.yield %s : bf16
  } -> tensor<8xbf16>
  %top = arith.constant dense<448.0> : tensor<8xbf16>
  %least = arith.constant dense<1.0e-4> : tensor<8xbf16>
  %guarded = arith.maximumf %amax, %least : tensor<8xbf16>
  %scale0 = arith.divf %guarded, %top : tensor<8xbf16>
  %scale = arith.extf %scale0 : tensor<8xbf16> to tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xbf16>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: bf16, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %w = arith.extf %v : bf16 to f32
    %n = arith.divf %w, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: its scale is not f32
// CHECK-LABEL: func.func @given_bf16
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @given_bf16(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>, %given: tensor<bf16>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> ()>, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %given : tensor<8x16xf32>, tensor<bf16>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: bf16, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %sw = arith.extf %s : bf16 to f32
    %n = arith.divf %v, %sw : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// A NaN is no largest magnitude.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: a maximum of its rows ignores NaN (maxnumf)
// CHECK-LABEL: func.func @without_nan
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16x{{f32|bf16}}>
// CHECK: arith.truncf
func.func @without_nan(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %magnitude = math.absf %y : tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#whole, #stat], iterator_types = ["parallel", "reduction"]} ins(%magnitude : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%m: f32, %o: f32):
    %s = arith.maxnumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %top = arith.constant dense<448.0> : tensor<8xf32>
  %least = arith.constant dense<1.0e-4> : tensor<8xf32>
  %guarded = arith.maximumf %amax, %least : tensor<8xf32>
  %scale = arith.divf %guarded, %top : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, #stat, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// One scale for all rows, which is made of them.
// REMARK: 'shard.all_reduce': is fused with residual, 8 rows of 16
// REMARK: 'shard.all_reduce': its quantization to f8 stays unfused: its scale is computed after the collective
// CHECK-LABEL: func.func @of_all_rows
// CHECK: call @tp.fused.{{[0-9]+}}({{.*}}) -> tensor<8x16xf32>
// CHECK: arith.truncf
func.func @of_all_rows(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> (tensor<8x16xf8E4M3FN>) {
  %a = shard.all_reduce %d on @mesh grid_axes = [1] : tensor<8x16xf32> -> tensor<8x16xf32>
  %y = arith.addf %a, %residual : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %largest = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<8x16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %m = math.absf %v : f32
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %top = arith.constant dense<448.0> : tensor<f32>
  %scale = arith.divf %largest, %top : tensor<f32>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> ()>, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<8x16xf32>, tensor<f32>) outs(%e : tensor<8x16xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %lo = arith.constant -448.0 : f32
    %hi = arith.constant 448.0 : f32
    %n = arith.divf %v, %s : f32
    %b = arith.maximumf %n, %lo : f32
    %c = arith.minimumf %b, %hi : f32
    %t = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<8x16xf8E4M3FN>
  return %q : tensor<8x16xf8E4M3FN>
}

// CHECK: func.func private @tp.fused.0(
// CHECK-SAME: kind = "quantize_rows", layout = "whole", least_largest = 9.99999974E-5 : f32, least_scale = 0.000000e+00 : f32, norm = "none", operands = ["input", "residual"], quantize = "per_token", results = ["quantized", "scale"]
// CHECK: math.absf
// CHECK: arith.truncf {{.*}} to f8E4M3FN
// CHECK: func.func private @tp.fused.1(
// CHECK-SAME: layout = "scattered", least_largest = 0.000000e+00 : f32, least_scale = 9.99999974E-5 : f32, {{.*}}results = ["out", "quantized", "scale"]
// CHECK: func.func private @tp.fused.2(
// CHECK-SAME: operands = ["input", "residual", "static_scale"], quantize = "static", results = ["quantized"]
}
