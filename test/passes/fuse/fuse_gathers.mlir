// Gathers of rows that are done together with the products of what is gathered, and those that are not.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always})' 2>/dev/null | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json},tp-to-cuda)' 2>/dev/null | FileCheck %s --check-prefix=CUDA

// CUDA-LABEL: llvm.func @sliced
// CUDA-NOT: tprt_abi_contract
// CUDA: llvm.call @tprt_abi_fused
// CUDA-NOT: llvm.call @tprt_abi_collective
// CUDA-LABEL: llvm.func @slower

// Two products; what is gathered has another reader, too.
// REMARK: 'shard.all_gather': is done in slices with 2 matmuls: 8192 rows of 2048 take {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @sliced
// CHECK-SAME: (%[[X:.*]]: tensor<2048x2048xf32>, %[[W:.*]]: tensor<2048x1024xf32>, %[[V:.*]]: tensor<512x2048xf32>)
// CHECK-NOT: shard.all_gather
// CHECK: %[[C:.*]]:3 = call @tp.fused.0(%[[X]], %[[W]], %[[V]]) : (tensor<2048x2048xf32>, tensor<2048x1024xf32>, tensor<512x2048xf32>) -> (tensor<8192x2048xf32>, tensor<8192x1024xf32>, tensor<8192x512xf32>)
// CHECK: %[[T:.*]] = math.tanh %[[C]]#0
// CHECK: return %[[C]]#1, %[[C]]#2, %[[T]]
// CHECK: func.func private @tp.fused.0
// CHECK-SAME: tp.fused = {axes = ["tp"], dim = 0 : i64, kind = "gather_multiply", operands = ["input", "b0", "b1"], results = ["gathered", "out0", "out1"], transposed = [false, true]}
// CHECK: %[[G:.*]] = shard.all_gather
// CHECK: linalg.generic {{.*}} ins(%[[G]],
// CHECK: linalg.generic {{.*}} ins(%[[G]],
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @sliced(%x: tensor<2048x2048xf32>, %w: tensor<2048x1024xf32>, %v: tensor<512x2048xf32>) -> (tensor<8192x1024xf32>, tensor<8192x512xf32>, tensor<8192x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<2048x2048xf32> -> tensor<8192x2048xf32>
  %e = tensor.empty() : tensor<2048x512xf32>
  %t = linalg.transpose ins(%v : tensor<512x2048xf32>) outs(%e : tensor<2048x512xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8192x512xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %z = linalg.matmul ins(%g, %t : tensor<8192x2048xf32>, tensor<2048x512xf32>) outs(%zeros2 : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %h = math.tanh %g : tensor<8192x2048xf32>
  %y = linalg.matmul ins(%g, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y, %z, %h : tensor<8192x1024xf32>, tensor<8192x512xf32>, tensor<8192x2048xf32>
}
}

// -----

// Eight small products take longer than what they hide.
// REMARK: 'shard.all_gather': is not done in slices with 1 matmul: 4096 rows of 64 take {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @slower
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
// ALWAYS-LABEL: func.func @slower
// ALWAYS: kind = "gather_multiply"
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x8) {tp.axes = ["dp", "tp"]}
func.func @slower(%x: tensor<512x64xf32>, %w: tensor<64x128xf32>) -> tensor<4096x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<512x64xf32> -> tensor<4096x64xf32>
  %y = linalg.matmul ins(%g, %w : tensor<4096x64xf32>, tensor<64x128xf32>) outs(%zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  return %y : tensor<4096x128xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: the time is not known for fewer than 4096 rows, or fewer than 512 rows per device
// CHECK-LABEL: func.func @few
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @few(%x: tensor<1023x2048xf32>, %w: tensor<2048x1024xf32>) -> tensor<4092x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4092x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4092x1024xf32>) -> tensor<4092x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<1023x2048xf32> -> tensor<4092x2048xf32>
  %y = linalg.matmul ins(%g, %w : tensor<4092x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<4092x1024xf32>) -> tensor<4092x1024xf32>
  return %y : tensor<4092x1024xf32>
}
}

// -----

// The rows of a device are between those of the others: a batch.
// REMARK: 'shard.all_gather': is done in slices with 1 matmul: 8192 rows of 2048
// CHECK-LABEL: func.func @blocks
// CHECK: call @tp.fused.0
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @blocks(%x: tensor<2x1024x2048xf32>, %w: tensor<2048x1024xf32>) -> tensor<2x4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4096x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4096x1024xf32>) -> tensor<2x4096x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<2x1024x2048xf32> -> tensor<2x4096x2048xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%g, %w : tensor<2x4096x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<2x4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4096x1024xf32>
  return %y : tensor<2x4096x1024xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: it gathers the column dimension 1, so devices hold only parts of rows
// CHECK-LABEL: func.func @along
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @along(%x: tensor<8192x512xf32>, %w: tensor<2048x1024xf32>) -> tensor<8192x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<8192x512xf32> -> tensor<8192x2048xf32>
  %y = linalg.matmul ins(%g, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y : tensor<8192x1024xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: its init is not zero
// CHECK-LABEL: func.func @added
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @added(%x: tensor<2048x2048xf32>, %w: tensor<2048x1024xf32>, %other: tensor<8192x1024xf32>) -> tensor<8192x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<2048x2048xf32> -> tensor<8192x2048xf32>
  %y = linalg.matmul ins(%g, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%other : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y : tensor<8192x1024xf32>
}
}

// -----

// The other factor is made of the rows; or is the rows.
// REMARK: 'shard.all_gather': is not done in slices with its matmuls: a matrix depends on the gathered rows
// CHECK-LABEL: func.func @squared
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @squared(%x: tensor<2048x2048xf32>, %w: tensor<2048x1024xf32>) -> tensor<8192x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<2048x2048xf32> -> tensor<8192x2048xf32>
  %part = tensor.extract_slice %g[0, 0] [2048, 1024] [1, 1] : tensor<8192x2048xf32> to tensor<2048x1024xf32>
  %m = arith.mulf %part, %part : tensor<2048x1024xf32>
  %y = linalg.matmul ins(%g, %m : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y : tensor<8192x1024xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: it is not a matmul of these rows, untransposed, by a matrix
// CHECK-LABEL: func.func @itself
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @itself(%x: tensor<1024x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x4096xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<1024x4096xf32> -> tensor<4096x4096xf32>
  %y = linalg.matmul ins(%g, %g : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%zeros : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}
}

// -----

// The rows are the right factor.
// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: it is not a matmul of these rows, untransposed, by a matrix
// CHECK-LABEL: func.func @right
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @right(%x: tensor<2048x2048xf32>, %w: tensor<2048x8192xf32>, %v: tensor<1024x8192xf32>) -> tensor<1024x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x8192xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<2048x2048xf32> -> tensor<8192x2048xf32>
  %e = tensor.empty() : tensor<1024x2048xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %q = linalg.matmul ins(%v, %g : tensor<1024x8192xf32>, tensor<8192x2048xf32>) outs(%zeros2 : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  return %q : tensor<1024x2048xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: slices of its left operand would not be aligned to 16 bytes
// CHECK-LABEL: func.func @unaligned
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @unaligned(%x: tensor<1x3xf32>, %w: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<1x3xf32> -> tensor<4x3xf32>
  %y = linalg.matmul ins(%g, %w : tensor<4x3xf32>, tensor<3x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: its slices would not be aligned to 16 bytes
// CHECK-LABEL: func.func @unaligned_out
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @unaligned_out(%x: tensor<1x4xf32>, %w: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x3xf32>) -> tensor<4x3xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<1x4xf32> -> tensor<4x4xf32>
  %y = linalg.matmul ins(%g, %w : tensor<4x4xf32>, tensor<4x3xf32>) outs(%zeros : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
}

// -----

// REMARK: 'shard.all_gather': is not done in slices with its matmuls: topology "kernels" has no fused kernels that span all devices of the group
// CHECK-LABEL: func.func @nodes
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @nodes(%x: tensor<2048x2048xf32>, %w: tensor<2048x1024xf32>) -> tensor<8192x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [0] gather_axis = 0 : tensor<2048x2048xf32> -> tensor<8192x2048xf32>
  %y = linalg.matmul ins(%g, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y : tensor<8192x1024xf32>
}
}

// -----

// Nobody multiplies: nothing is said.
// REMARK-NOT: 'shard.all_gather'
// CHECK-LABEL: func.func @alone
// CHECK: shard.all_gather
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @alone(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x16xf32>) -> tensor<64x16xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<16x32xf32> -> tensor<64x32xf32>
  return %g : tensor<64x32xf32>
}
}

// -----

// Four products at most; the fifth reads what is gathered.
// REMARK: 'shard.all_gather': is not done in slices with its matmuls: the time is not known
// CHECK-LABEL: func.func @five
// CHECK: shard.all_gather
// ALWAYS-LABEL: func.func @five
// ALWAYS: %[[C:.*]]:5 = call @tp.fused.0
// ALWAYS: linalg.matmul ins(%[[C]]#0,
// ALWAYS-NOT: linalg.matmul
// ALWAYS: operands = ["input", "b0", "b1", "b2", "b3"], results = ["gathered", "out0", "out1", "out2", "out3"]
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @five(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x16xf32>) -> tensor<64x16xf32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<16x32xf32> -> tensor<64x32xf32>
  %y0 = linalg.matmul ins(%g, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y1 = linalg.matmul ins(%g, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y2 = linalg.matmul ins(%g, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y3 = linalg.matmul ins(%g, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.matmul ins(%g, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y0, %y1, %y2, %y3, %y : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}
}

// -----

// A product without rows: the sum of the squares of what is gathered, a scalar.
// REMARK: 'shard.all_gather': is not done in slices with its matmuls: unsupported matmul: it is not a matmul of untransposed rows by a matrix
// CHECK-LABEL: func.func @squares
// CHECK: shard.all_gather
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @squares(%x: tensor<16x32xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %g = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<16x32xf32> -> tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%g, %g : tensor<64x32xf32>, tensor<64x32xf32>) outs(%zeros : tensor<f32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
}
