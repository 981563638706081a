// Op rules against those of Shardy: for every factor one function whose arguments and result are split along it. A parallel factor needs
// no communication, a reduction one all_reduce. The ops and their rules (the comments) are from the test of the rule registry in
// openxla/shardy (https://github.com/openxla/shardy), commit a0277a83e7f8, Copyright the Shardy authors, licensed under the Apache
// License 2.0 (the LICENSE of this repository has its text). Changed: written with linalg and tensor ops; the convolution is smaller.
//
// Where Shardy permutes (slices, pads, windows) and where it sums (the rows of a gather) data travels here; only the result is checked.
// need_replication of Shardy is TP_FIXED here.
//
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s
// RUN: shard-run %s --mesh 2 --function gather_l | FileCheck %s --check-prefix=EXEC
// RUN: shard-run %s --mesh 2 --function pad_i | FileCheck %s --check-prefix=EXEC
// RUN: shard-run %s --mesh 3 --function reshape_swap_i | FileCheck %s --check-prefix=EXEC
// EXEC: verified

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}

// pointwise_op: ([i, j, k], [i, j, k])->([i, j, k])

// CHECK-LABEL: func.func @add_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @add_i(%a0: tensor<2x1x4xf32> {tp.sharding = [["x"], [], []]},
                 %a1: tensor<2x1x4xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<2x1x4xf32> {tp.sharding = [["x"], [], []]}) {
  %r = arith.addf %a0, %a1 : tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @add_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @add_k(%a0: tensor<2x1x4xf32> {tp.sharding = [[], [], ["x"]]},
                 %a1: tensor<2x1x4xf32> {tp.sharding = [[], [], ["x"]]})
    -> (tensor<2x1x4xf32> {tp.sharding = [[], [], ["x"]]}) {
  %r = arith.addf %a0, %a1 : tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}

// concat_not_all_operands_are_results_of_slices: ([i, j, k])->([i, j, k])

// CHECK-LABEL: func.func @negate_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @negate_i(%a0: tensor<4x60x256xf32> {tp.sharding = [["x"], [], []]}) -> (tensor<4x60x256xf32> {tp.sharding = [["x"], [], []]}) {
  %r = arith.negf %a0 : tensor<4x60x256xf32>
  return %r : tensor<4x60x256xf32>
}

// CHECK-LABEL: func.func @negate_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @negate_j(%a0: tensor<4x60x256xf32> {tp.sharding = [[], ["x"], []]}) -> (tensor<4x60x256xf32> {tp.sharding = [[], ["x"], []]}) {
  %r = arith.negf %a0 : tensor<4x60x256xf32>
  return %r : tensor<4x60x256xf32>
}

// CHECK-LABEL: func.func @negate_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @negate_k(%a0: tensor<4x60x256xf32> {tp.sharding = [[], [], ["x"]]}) -> (tensor<4x60x256xf32> {tp.sharding = [[], [], ["x"]]}) {
  %r = arith.negf %a0 : tensor<4x60x256xf32>
  return %r : tensor<4x60x256xf32>
}

// custom_call_erf: ([i, j])->([i, j])

// CHECK-LABEL: func.func @erf_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @erf_i(%a0: tensor<8x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}) {
  %r = math.erf %a0 : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @erf_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @erf_j(%a0: tensor<8x4xf32> {tp.sharding = [[], ["x"]]}) -> (tensor<8x4xf32> {tp.sharding = [[], ["x"]]}) {
  %r = math.erf %a0 : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// batch_norm_inference: ([i, j, k, l], [k], [k], [k], [k])->([i, j, k, l])

// CHECK-LABEL: func.func @batch_norm_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @batch_norm_i(%a0: tensor<4x8x16x32xf32> {tp.sharding = [["x"], [], [], []]},
                        %a1: tensor<16xf32> {tp.sharding = [[]]},
                        %a2: tensor<16xf32> {tp.sharding = [[]]},
                        %a3: tensor<16xf32> {tp.sharding = [[]]},
                        %a4: tensor<16xf32> {tp.sharding = [[]]})
    -> (tensor<4x8x16x32xf32> {tp.sharding = [["x"], [], [], []]}) {
  %e = tensor.empty() : tensor<4x8x16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>,
      affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x8x16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<4x8x16x32xf32>) {
  ^bb0(%x: f32, %scale: f32, %offset: f32, %mean: f32, %variance: f32, %o: f32):
    %c = arith.subf %x, %mean : f32
    %v = arith.mulf %variance, %variance : f32
    %d = math.exp %v : f32
    %n = arith.divf %c, %d : f32
    %m = arith.mulf %n, %scale : f32
    %y = arith.addf %m, %offset : f32
    linalg.yield %y : f32
  } -> tensor<4x8x16x32xf32>
  return %r : tensor<4x8x16x32xf32>
}

// CHECK-LABEL: func.func @batch_norm_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @batch_norm_j(%a0: tensor<4x8x16x32xf32> {tp.sharding = [[], ["x"], [], []]},
                        %a1: tensor<16xf32> {tp.sharding = [[]]},
                        %a2: tensor<16xf32> {tp.sharding = [[]]},
                        %a3: tensor<16xf32> {tp.sharding = [[]]},
                        %a4: tensor<16xf32> {tp.sharding = [[]]})
    -> (tensor<4x8x16x32xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %e = tensor.empty() : tensor<4x8x16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>,
      affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x8x16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<4x8x16x32xf32>) {
  ^bb0(%x: f32, %scale: f32, %offset: f32, %mean: f32, %variance: f32, %o: f32):
    %c = arith.subf %x, %mean : f32
    %v = arith.mulf %variance, %variance : f32
    %d = math.exp %v : f32
    %n = arith.divf %c, %d : f32
    %m = arith.mulf %n, %scale : f32
    %y = arith.addf %m, %offset : f32
    linalg.yield %y : f32
  } -> tensor<4x8x16x32xf32>
  return %r : tensor<4x8x16x32xf32>
}

// CHECK-LABEL: func.func @batch_norm_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @batch_norm_k(%a0: tensor<4x8x16x32xf32> {tp.sharding = [[], [], ["x"], []]},
                        %a1: tensor<16xf32> {tp.sharding = [["x"]]},
                        %a2: tensor<16xf32> {tp.sharding = [["x"]]},
                        %a3: tensor<16xf32> {tp.sharding = [["x"]]},
                        %a4: tensor<16xf32> {tp.sharding = [["x"]]})
    -> (tensor<4x8x16x32xf32> {tp.sharding = [[], [], ["x"], []]}) {
  %e = tensor.empty() : tensor<4x8x16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>,
      affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x8x16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<4x8x16x32xf32>) {
  ^bb0(%x: f32, %scale: f32, %offset: f32, %mean: f32, %variance: f32, %o: f32):
    %c = arith.subf %x, %mean : f32
    %v = arith.mulf %variance, %variance : f32
    %d = math.exp %v : f32
    %n = arith.divf %c, %d : f32
    %m = arith.mulf %n, %scale : f32
    %y = arith.addf %m, %offset : f32
    linalg.yield %y : f32
  } -> tensor<4x8x16x32xf32>
  return %r : tensor<4x8x16x32xf32>
}

// CHECK-LABEL: func.func @batch_norm_l(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @batch_norm_l(%a0: tensor<4x8x16x32xf32> {tp.sharding = [[], [], [], ["x"]]},
                        %a1: tensor<16xf32> {tp.sharding = [[]]},
                        %a2: tensor<16xf32> {tp.sharding = [[]]},
                        %a3: tensor<16xf32> {tp.sharding = [[]]},
                        %a4: tensor<16xf32> {tp.sharding = [[]]})
    -> (tensor<4x8x16x32xf32> {tp.sharding = [[], [], [], ["x"]]}) {
  %e = tensor.empty() : tensor<4x8x16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>,
      affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x8x16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<4x8x16x32xf32>) {
  ^bb0(%x: f32, %scale: f32, %offset: f32, %mean: f32, %variance: f32, %o: f32):
    %c = arith.subf %x, %mean : f32
    %v = arith.mulf %variance, %variance : f32
    %d = math.exp %v : f32
    %n = arith.divf %c, %d : f32
    %m = arith.mulf %n, %scale : f32
    %y = arith.addf %m, %offset : f32
    linalg.yield %y : f32
  } -> tensor<4x8x16x32xf32>
  return %r : tensor<4x8x16x32xf32>
}

// broadcast_in_dim_no_broadcast_dims: ([])->([i, j, k])

// CHECK-LABEL: func.func @broadcast_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @broadcast_i(%a0: tensor<f32> {tp.sharding = []}) -> (tensor<2x1x13xf32> {tp.sharding = [["x"], [], []]}) {
  %e = tensor.empty() : tensor<2x1x13xf32>
  %r = linalg.broadcast ins(%a0 : tensor<f32>) outs(%e : tensor<2x1x13xf32>) dimensions = [0, 1, 2]
  return %r : tensor<2x1x13xf32>
}

// CHECK-LABEL: func.func @broadcast_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @broadcast_k(%a0: tensor<f32> {tp.sharding = []}) -> (tensor<2x1x13xf32> {tp.sharding = [[], [], ["x"]]}) {
  %e = tensor.empty() : tensor<2x1x13xf32>
  %r = linalg.broadcast ins(%a0 : tensor<f32>) outs(%e : tensor<2x1x13xf32>) dimensions = [0, 1, 2]
  return %r : tensor<2x1x13xf32>
}

// concat_operands_dim_size_one: ([i, j, k], [i, j, k], [i, j, k])->([i, j, k]) need_replication={j}

// CHECK-LABEL: func.func @concat_one_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @concat_one_i(%a0: tensor<4x1x256xf32> {tp.sharding = [["x"], [], []]},
                        %a1: tensor<4x1x256xf32> {tp.sharding = [["x"], [], []]},
                        %a2: tensor<4x1x256xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<4x3x256xf32> {tp.sharding = [["x"], [], []]}) {
  %r = tensor.concat dim(1) %a0, %a1, %a2 : (tensor<4x1x256xf32>, tensor<4x1x256xf32>, tensor<4x1x256xf32>) -> tensor<4x3x256xf32>
  return %r : tensor<4x3x256xf32>
}

// CHECK-LABEL: func.func @concat_one_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @concat_one_k(%a0: tensor<4x1x256xf32> {tp.sharding = [[], [], ["x"]]},
                        %a1: tensor<4x1x256xf32> {tp.sharding = [[], [], ["x"]]},
                        %a2: tensor<4x1x256xf32> {tp.sharding = [[], [], ["x"]]})
    -> (tensor<4x3x256xf32> {tp.sharding = [[], [], ["x"]]}) {
  %r = tensor.concat dim(1) %a0, %a1, %a2 : (tensor<4x1x256xf32>, tensor<4x1x256xf32>, tensor<4x1x256xf32>) -> tensor<4x3x256xf32>
  return %r : tensor<4x3x256xf32>
}

// concat_gcd_is_equal_to_operand_dim: ([i, j, k], [i, j, k])->([i, j, k]) need_replication={j}

// CHECK-LABEL: func.func @concat_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @concat_i(%a0: tensor<4x32x256xf32> {tp.sharding = [["x"], [], []]},
                    %a1: tensor<4x16x256xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<4x48x256xf32> {tp.sharding = [["x"], [], []]}) {
  %r = tensor.concat dim(1) %a0, %a1 : (tensor<4x32x256xf32>, tensor<4x16x256xf32>) -> tensor<4x48x256xf32>
  return %r : tensor<4x48x256xf32>
}

// CHECK-LABEL: func.func @concat_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @concat_k(%a0: tensor<4x32x256xf32> {tp.sharding = [[], [], ["x"]]},
                    %a1: tensor<4x16x256xf32> {tp.sharding = [[], [], ["x"]]})
    -> (tensor<4x48x256xf32> {tp.sharding = [[], [], ["x"]]}) {
  %r = tensor.concat dim(1) %a0, %a1 : (tensor<4x32x256xf32>, tensor<4x16x256xf32>) -> tensor<4x48x256xf32>
  return %r : tensor<4x48x256xf32>
}

// concat_operands_are_results_of_slices: ([i, j, k])->([i, j, k]) permutation={j}

// CHECK-LABEL: func.func @slice_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @slice_i(%a0: tensor<4x60x256xf32> {tp.sharding = [["x"], [], []]}) -> (tensor<4x48x256xf32> {tp.sharding = [["x"], [], []]}) {
  %r = tensor.extract_slice %a0[0, 0, 0] [4, 48, 256] [1, 1, 1] : tensor<4x60x256xf32> to tensor<4x48x256xf32>
  return %r : tensor<4x48x256xf32>
}

// CHECK-LABEL: func.func @slice_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @slice_k(%a0: tensor<4x60x256xf32> {tp.sharding = [[], [], ["x"]]}) -> (tensor<4x48x256xf32> {tp.sharding = [[], [], ["x"]]}) {
  %r = tensor.extract_slice %a0[0, 0, 0] [4, 48, 256] [1, 1, 1] : tensor<4x60x256xf32> to tensor<4x48x256xf32>
  return %r : tensor<4x48x256xf32>
}

// CHECK-LABEL: func.func @slice_j(
func.func @slice_j(%a0: tensor<4x60x256xf32> {tp.sharding = [[], ["x"], []]}) -> (tensor<4x48x256xf32> {tp.sharding = [[], ["x"], []]}) {
  %r = tensor.extract_slice %a0[0, 0, 0] [4, 48, 256] [1, 1, 1] : tensor<4x60x256xf32> to tensor<4x48x256xf32>
  return %r : tensor<4x48x256xf32>
}

// concat_operands_are_on_the_same_tensor_one_is_slice: ([i, j])->([i, j]) permutation={i}

// CHECK-LABEL: func.func @slice_rows_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @slice_rows_j(%a0: tensor<4x64xf32> {tp.sharding = [[], ["x"]]}) -> (tensor<2x64xf32> {tp.sharding = [[], ["x"]]}) {
  %r = tensor.extract_slice %a0[0, 0] [2, 64] [1, 1] : tensor<4x64xf32> to tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @slice_rows_i(
func.func @slice_rows_i(%a0: tensor<4x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<2x64xf32> {tp.sharding = [["x"], []]}) {
  %r = tensor.extract_slice %a0[0, 0] [2, 64] [1, 1] : tensor<4x64xf32> to tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}

// dot_vector_matrix: ([j], [j, i])->([i]) reduction={j}

// CHECK-LABEL: func.func @dot_vector_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dot_vector_i(%a0: tensor<32xf32> {tp.sharding = [[]]},
                        %a1: tensor<32x16xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<16xf32> {tp.sharding = [["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<16xf32>) -> tensor<16xf32>
  %r = linalg.vecmat ins(%a0, %a1 : tensor<32xf32>, tensor<32x16xf32>) outs(%z : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: func.func @dot_vector_j(
// CHECK: shard.all_reduce
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dot_vector_j(%a0: tensor<32xf32> {tp.sharding = [["x"]]},
                        %a1: tensor<32x16xf32> {tp.sharding = [["x"], []]})
    -> (tensor<16xf32> {tp.sharding = [[]]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<16xf32>) -> tensor<16xf32>
  %r = linalg.vecmat ins(%a0, %a1 : tensor<32xf32>, tensor<32x16xf32>) outs(%z : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// dot_general_no_batching_dims: ([i, k], [k, j])->([i, j]) reduction={k}

// CHECK-LABEL: func.func @dot_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dot_i(%a0: tensor<8x32xf32> {tp.sharding = [["x"], []]},
                 %a1: tensor<32x16xf32> {tp.sharding = [[], []]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.matmul ins(%a0, %a1 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @dot_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dot_j(%a0: tensor<8x32xf32> {tp.sharding = [[], []]},
                 %a1: tensor<32x16xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<8x16xf32> {tp.sharding = [[], ["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.matmul ins(%a0, %a1 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @dot_k(
// CHECK: shard.all_reduce
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dot_k(%a0: tensor<8x32xf32> {tp.sharding = [[], ["x"]]},
                 %a1: tensor<32x16xf32> {tp.sharding = [["x"], []]})
    -> (tensor<8x16xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.matmul ins(%a0, %a1 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// dynamic_slice: ([i, j, k], [], [], [])->([i, j, k]) need_replication={j, k}

// CHECK-LABEL: func.func @dynamic_slice_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @dynamic_slice_i(%a0: tensor<32x4x8xf32> {tp.sharding = [["x"], [], []]}) -> (tensor<32x1x2xf32> {tp.sharding = [["x"], [], []]}) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = tensor.extract_slice %a0[0, %c1, %c3] [32, 1, 2] [1, 1, 1] : tensor<32x4x8xf32> to tensor<32x1x2xf32>
  return %r : tensor<32x1x2xf32>
}

// gather_implicit_index_vector_dim_and_size_one_collapsed_slice_dim: ([m, n, l], [i, j, k])->([i, j, k, l]) reduction={m} need_replication={n}

// CHECK-LABEL: func.func @gather_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @gather_i(%a0: tensor<3x1x2xf32> {tp.sharding = [[], [], []]},
                    %a1: tensor<2x3x2xi64> {tp.sharding = [["x"], [], []]})
    -> (tensor<2x3x2x2xf32> {tp.sharding = [["x"], [], [], []]}) {
  %m = tensor.empty() : tensor<2x3x2xi64>
  %rows = arith.constant 3 : i64
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a1 : tensor<2x3x2xi64>) outs(%m : tensor<2x3x2xi64>) {
  ^bb0(%at: i64, %o: i64):
    %s = arith.remui %at, %rows : i64
    linalg.yield %s : i64
  } -> tensor<2x3x2xi64>
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%n : tensor<2x3x2xi64>) outs(%e : tensor<2x3x2x2xf32>) {
  ^bb0(%at: i64, %o: f32):
    %c0 = arith.constant 0 : index
    %row = arith.index_cast %at : i64 to index
    %column = linalg.index 3 : index
    %v = tensor.extract %a0[%row, %c0, %column] : tensor<3x1x2xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x2x2xf32>
  return %r : tensor<2x3x2x2xf32>
}

// CHECK-LABEL: func.func @gather_j(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @gather_j(%a0: tensor<3x1x2xf32> {tp.sharding = [[], [], []]},
                    %a1: tensor<2x3x2xi64> {tp.sharding = [[], ["x"], []]})
    -> (tensor<2x3x2x2xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %m = tensor.empty() : tensor<2x3x2xi64>
  %rows = arith.constant 3 : i64
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a1 : tensor<2x3x2xi64>) outs(%m : tensor<2x3x2xi64>) {
  ^bb0(%at: i64, %o: i64):
    %s = arith.remui %at, %rows : i64
    linalg.yield %s : i64
  } -> tensor<2x3x2xi64>
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%n : tensor<2x3x2xi64>) outs(%e : tensor<2x3x2x2xf32>) {
  ^bb0(%at: i64, %o: f32):
    %c0 = arith.constant 0 : index
    %row = arith.index_cast %at : i64 to index
    %column = linalg.index 3 : index
    %v = tensor.extract %a0[%row, %c0, %column] : tensor<3x1x2xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x2x2xf32>
  return %r : tensor<2x3x2x2xf32>
}

// CHECK-LABEL: func.func @gather_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @gather_k(%a0: tensor<3x1x2xf32> {tp.sharding = [[], [], []]},
                    %a1: tensor<2x3x2xi64> {tp.sharding = [[], [], ["x"]]})
    -> (tensor<2x3x2x2xf32> {tp.sharding = [[], [], ["x"], []]}) {
  %m = tensor.empty() : tensor<2x3x2xi64>
  %rows = arith.constant 3 : i64
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a1 : tensor<2x3x2xi64>) outs(%m : tensor<2x3x2xi64>) {
  ^bb0(%at: i64, %o: i64):
    %s = arith.remui %at, %rows : i64
    linalg.yield %s : i64
  } -> tensor<2x3x2xi64>
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%n : tensor<2x3x2xi64>) outs(%e : tensor<2x3x2x2xf32>) {
  ^bb0(%at: i64, %o: f32):
    %c0 = arith.constant 0 : index
    %row = arith.index_cast %at : i64 to index
    %column = linalg.index 3 : index
    %v = tensor.extract %a0[%row, %c0, %column] : tensor<3x1x2xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x2x2xf32>
  return %r : tensor<2x3x2x2xf32>
}

// CHECK-LABEL: func.func @gather_l(
func.func @gather_l(%a0: tensor<3x1x2xf32> {tp.sharding = [[], [], ["x"]]},
                    %a1: tensor<2x3x2xi64> {tp.sharding = [[], [], []]})
    -> (tensor<2x3x2x2xf32> {tp.sharding = [[], [], [], ["x"]]}) {
  %m = tensor.empty() : tensor<2x3x2xi64>
  %rows = arith.constant 3 : i64
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a1 : tensor<2x3x2xi64>) outs(%m : tensor<2x3x2xi64>) {
  ^bb0(%at: i64, %o: i64):
    %s = arith.remui %at, %rows : i64
    linalg.yield %s : i64
  } -> tensor<2x3x2xi64>
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%n : tensor<2x3x2xi64>) outs(%e : tensor<2x3x2x2xf32>) {
  ^bb0(%at: i64, %o: f32):
    %c0 = arith.constant 0 : index
    %row = arith.index_cast %at : i64 to index
    %column = linalg.index 3 : index
    %v = tensor.extract %a0[%row, %c0, %column] : tensor<3x1x2xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x2x2xf32>
  return %r : tensor<2x3x2x2xf32>
}

// pad: ([i, j, k], [])->([i, j, k]) permutation={i, j}

// CHECK-LABEL: func.func @pad_k(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @pad_k(%a0: tensor<28x28x16xf32> {tp.sharding = [[], [], ["x"]]}) -> (tensor<30x26x16xf32> {tp.sharding = [[], [], ["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %a0 low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<28x28x16xf32> to tensor<30x28x16xf32>
  %r = tensor.extract_slice %p[0, 1, 0] [30, 26, 16] [1, 1, 1] : tensor<30x28x16xf32> to tensor<30x26x16xf32>
  return %r : tensor<30x26x16xf32>
}

// CHECK-LABEL: func.func @pad_i(
func.func @pad_i(%a0: tensor<28x28x16xf32> {tp.sharding = [["x"], [], []]}) -> (tensor<30x26x16xf32> {tp.sharding = [["x"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %a0 low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<28x28x16xf32> to tensor<30x28x16xf32>
  %r = tensor.extract_slice %p[0, 1, 0] [30, 26, 16] [1, 1, 1] : tensor<30x28x16xf32> to tensor<30x26x16xf32>
  return %r : tensor<30x26x16xf32>
}

// CHECK-LABEL: func.func @pad_j(
func.func @pad_j(%a0: tensor<28x28x16xf32> {tp.sharding = [[], ["x"], []]}) -> (tensor<30x26x16xf32> {tp.sharding = [[], ["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %a0 low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<28x28x16xf32> to tensor<30x28x16xf32>
  %r = tensor.extract_slice %p[0, 1, 0] [30, 26, 16] [1, 1, 1] : tensor<30x28x16xf32> to tensor<30x26x16xf32>
  return %r : tensor<30x26x16xf32>
}

// reduce_size_one_dim: ([i, j, k, l], [])->([i, k, l]) reduction={j}

// CHECK-LABEL: func.func @reduce_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reduce_i(%a0: tensor<2x64x1x13xf32> {tp.sharding = [["x"], [], [], []]}) -> (tensor<2x1x13xf32> {tp.sharding = [["x"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x1x13xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x1x13xf32>) -> tensor<2x1x13xf32>
  %r = linalg.reduce ins(%a0 : tensor<2x64x1x13xf32>) outs(%z : tensor<2x1x13xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %s = arith.addf %x, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<2x1x13xf32>
}

// CHECK-LABEL: func.func @reduce_l(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reduce_l(%a0: tensor<2x64x1x13xf32> {tp.sharding = [[], [], [], ["x"]]}) -> (tensor<2x1x13xf32> {tp.sharding = [[], [], ["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x1x13xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x1x13xf32>) -> tensor<2x1x13xf32>
  %r = linalg.reduce ins(%a0 : tensor<2x64x1x13xf32>) outs(%z : tensor<2x1x13xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %s = arith.addf %x, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<2x1x13xf32>
}

// CHECK-LABEL: func.func @reduce_j(
// CHECK: shard.all_reduce
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reduce_j(%a0: tensor<2x64x1x13xf32> {tp.sharding = [[], ["x"], [], []]}) -> (tensor<2x1x13xf32> {tp.sharding = [[], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x1x13xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x1x13xf32>) -> tensor<2x1x13xf32>
  %r = linalg.reduce ins(%a0 : tensor<2x64x1x13xf32>) outs(%z : tensor<2x1x13xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %s = arith.addf %x, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<2x1x13xf32>
}

// reshape_merge_dim: ([i, j])->([ij])

// CHECK-LABEL: func.func @reshape_merge_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_merge_i(%a0: tensor<2x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<8xf32> {tp.sharding = [["x"]]}) {
  %r = tensor.collapse_shape %a0 [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// reshape_split_dim_then_size_one: ([ij, k])->([i, j])

// CHECK-LABEL: func.func @reshape_split_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_split_i(%a0: tensor<32x1xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}) {
  %m = tensor.collapse_shape %a0 [[0, 1]] : tensor<32x1xf32> into tensor<32xf32>
  %r = tensor.expand_shape %m [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// reshape_split_and_merge_dims: ([ij, k, l])->([i, jk, l])

// CHECK-LABEL: func.func @reshape_split_merge_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_split_merge_i(%a0: tensor<8x4x5xf32> {tp.sharding = [["x"], [], []]})
    -> (tensor<2x16x5xf32> {tp.sharding = [["x"], [], []]}) {
  %m = tensor.expand_shape %a0 [[0, 1], [2], [3]] output_shape [2, 4, 4, 5] : tensor<8x4x5xf32> into tensor<2x4x4x5xf32>
  %r = tensor.collapse_shape %m [[0], [1, 2], [3]] : tensor<2x4x4x5xf32> into tensor<2x16x5xf32>
  return %r : tensor<2x16x5xf32>
}

// CHECK-LABEL: func.func @reshape_split_merge_l(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_split_merge_l(%a0: tensor<8x4x5xf32> {tp.sharding = [[], [], ["x"]]})
    -> (tensor<2x16x5xf32> {tp.sharding = [[], [], ["x"]]}) {
  %m = tensor.expand_shape %a0 [[0, 1], [2], [3]] output_shape [2, 4, 4, 5] : tensor<8x4x5xf32> into tensor<2x4x4x5xf32>
  %r = tensor.collapse_shape %m [[0], [1, 2], [3]] : tensor<2x4x4x5xf32> into tensor<2x16x5xf32>
  return %r : tensor<2x16x5xf32>
}

// reshape_swap_with_dim_before_and_in_between: ([i, j, l, n])->([i, k, m, o])

// CHECK-LABEL: func.func @reshape_swap_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_swap_i(%a0: tensor<5x2x5x3xf32> {tp.sharding = [["x"], [], [], []]})
    -> (tensor<5x3x5x2xf32> {tp.sharding = [["x"], [], [], []]}) {
  %m = tensor.collapse_shape %a0 [[0], [1, 2, 3]] : tensor<5x2x5x3xf32> into tensor<5x30xf32>
  %r = tensor.expand_shape %m [[0], [1, 2, 3]] output_shape [5, 3, 5, 2] : tensor<5x30xf32> into tensor<5x3x5x2xf32>
  return %r : tensor<5x3x5x2xf32>
}

// reshape_split_swap_and_merge: ([ij, l, n, o])->([ik, mn, o])

// CHECK-LABEL: func.func @reshape_mixed_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_mixed_i(%a0: tensor<4x7x5x8xf32> {tp.sharding = [["x"], [], [], []]})
    -> (tensor<14x10x8xf32> {tp.sharding = [["x"], [], []]}) {
  %m = tensor.collapse_shape %a0 [[0, 1, 2], [3]] : tensor<4x7x5x8xf32> into tensor<140x8xf32>
  %r = tensor.expand_shape %m [[0, 1], [2]] output_shape [14, 10, 8] : tensor<140x8xf32> into tensor<14x10x8xf32>
  return %r : tensor<14x10x8xf32>
}

// CHECK-LABEL: func.func @reshape_mixed_o(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @reshape_mixed_o(%a0: tensor<4x7x5x8xf32> {tp.sharding = [[], [], [], ["x"]]})
    -> (tensor<14x10x8xf32> {tp.sharding = [[], [], ["x"]]}) {
  %m = tensor.collapse_shape %a0 [[0, 1, 2], [3]] : tensor<4x7x5x8xf32> into tensor<140x8xf32>
  %r = tensor.expand_shape %m [[0, 1], [2]] output_shape [14, 10, 8] : tensor<140x8xf32> into tensor<14x10x8xf32>
  return %r : tensor<14x10x8xf32>
}

// conv_window_size_greater_than_num_windows: ([i, jk, lm, n], [j, l, n, o])->([i, k, m, o]) reduction={j, l, n} permutation={k, m}

// CHECK-LABEL: func.func @convolution_i(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @convolution_i(%a0: tensor<2x12x12x8xf32> {tp.sharding = [["x"], [], [], []]},
                         %a1: tensor<6x6x8x4xf32> {tp.sharding = [[], [], [], []]})
    -> (tensor<2x4x4x4xf32> {tp.sharding = [["x"], [], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x4x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x12x12x8xf32>, tensor<6x6x8x4xf32>) outs(%z : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: func.func @convolution_n(
// CHECK: shard.all_reduce
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @convolution_n(%a0: tensor<2x12x12x8xf32> {tp.sharding = [[], [], [], ["x"]]},
                         %a1: tensor<6x6x8x4xf32> {tp.sharding = [[], [], ["x"], []]})
    -> (tensor<2x4x4x4xf32> {tp.sharding = [[], [], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x4x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x12x12x8xf32>, tensor<6x6x8x4xf32>) outs(%z : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: func.func @convolution_o(
// CHECK-NOT: {{shard\.(all_|reduce|shift)|@tp\.permute}}
func.func @convolution_o(%a0: tensor<2x12x12x8xf32> {tp.sharding = [[], [], [], []]},
                         %a1: tensor<6x6x8x4xf32> {tp.sharding = [[], [], [], ["x"]]})
    -> (tensor<2x4x4x4xf32> {tp.sharding = [[], [], [], ["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x4x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x12x12x8xf32>, tensor<6x6x8x4xf32>) outs(%z : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: func.func @convolution_j(
func.func @convolution_j(%a0: tensor<2x12x12x8xf32> {tp.sharding = [[], ["x"], [], []]},
                         %a1: tensor<6x6x8x4xf32> {tp.sharding = [["x"], [], [], []]})
    -> (tensor<2x4x4x4xf32> {tp.sharding = [[], [], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x4x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x12x12x8xf32>, tensor<6x6x8x4xf32>) outs(%z : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: func.func @convolution_k(
func.func @convolution_k(%a0: tensor<2x12x12x8xf32> {tp.sharding = [[], ["x"], [], []]},
                         %a1: tensor<6x6x8x4xf32> {tp.sharding = [[], [], [], []]})
    -> (tensor<2x4x4x4xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<2x4x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x12x12x8xf32>, tensor<6x6x8x4xf32>) outs(%z : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}
