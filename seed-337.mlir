// run failed: rank 0 failed: its process exited with code 127
// RUN: shard-run %s --launch processes --memory-limit 62210
// Found as: shard-fuzz limits --seed 337 --count 1

shard.grid @mesh(shape = 3) {tp.axes = ["x"]}
func.func @main(%v0: tensor<12x24x12xi64> {tp.sharding = [[], [], []]},
                %v3: tensor<12x12xf32>,
                %v8: tensor<12x24xi32> {tp.sharding = [[], []]},
                %v10: tensor<24xf32> {tp.sharding = [["x"]]},
                %v11: tensor<71x50xf32> {tp.sharding = [["x"], []]},
                %v13: tensor<12x24x12xf32> {tp.sharding = [[], [], ["?"]]},
                %v14: tensor<12x24x12xf32>,
                %v22: tensor<12x24x12xbf16>) -> (tensor<12x24x12xbf16>) {
  %h0_init0_c = arith.constant 2 : i64
  %h0_init0_e = tensor.empty() : tensor<24x12xi64>
  %h0_init0 = linalg.fill ins(%h0_init0_c : i64) outs(%h0_init0_e : tensor<24x12xi64>) -> tensor<24x12xi64>
  %v1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%v0 : tensor<12x24x12xi64>) outs(%h0_init0 : tensor<24x12xi64>) {
  ^bb0(%in: i64, %o0: i64):
    %y0 = arith.addi %in, %o0 : i64
    linalg.yield %y0 : i64
  } -> tensor<24x12xi64>
  %h1_s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %v2 = shard.shard %v1 to %h1_s {tp.sharding = [["?"], []]} : tensor<24x12xi64>
  %h2_best_c = arith.constant -100000.0 : f32
  %h2_best_e = tensor.empty() : tensor<12xf32>
  %h2_best = linalg.fill ins(%h2_best_c : f32) outs(%h2_best_e : tensor<12xf32>) -> tensor<12xf32>
  %h2_at_c = arith.constant 0 : i32
  %h2_at_e = tensor.empty() : tensor<12xi32>
  %h2_at = linalg.fill ins(%h2_at_c : i32) outs(%h2_at_e : tensor<12xi32>) -> tensor<12xi32>
  %v4, %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%v3 : tensor<12x12xf32>) outs(%h2_best, %h2_at : tensor<12xf32>, tensor<12xi32>) {
  ^bb0(%in: f32, %b: f32, %i: i32):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i32
    %better = arith.cmpf ogt, %in, %b : f32
    %nan = arith.cmpf une, %in, %in : f32
    %wins = arith.ori %better, %nan : i1
    %tie = arith.cmpf oeq, %in, %b : f32
    %front = arith.cmpi slt, %k, %i : i32
    %both = arith.andi %tie, %front : i1
    %moves = arith.ori %wins, %both : i1
    %nb = arith.select %wins, %in, %b : f32
    %ni = arith.select %moves, %k, %i : i32
    linalg.yield %nb, %ni : f32, i32
  } -> (tensor<12xf32>, tensor<12xi32>)
  %h3_p = arith.constant 2 : i64
  %v6 = tensor.pad %v2 low[0, 0] high[0, 0] {
  ^bb0(%i0: index, %i1: index):
    tensor.yield %h3_p : i64
  } : tensor<24x12xi64> to tensor<24x12xi64>
  %h4_init_c = arith.constant 0.0 : f32
  %h4_init_e = tensor.empty() : tensor<12x12xf32>
  %h4_init = linalg.fill ins(%h4_init_c : f32) outs(%h4_init_e : tensor<12x12xf32>) -> tensor<12x12xf32>
  %v7 = linalg.matmul ins(%v3, %v3 : tensor<12x12xf32>, tensor<12x12xf32>) outs(%h4_init : tensor<12x12xf32>) -> tensor<12x12xf32>
  %h5_init = tensor.empty() : tensor<12x24x12xi64>
  %h5_lo = arith.constant 0 : index
  %h5_hi = arith.constant 23 : index
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8 : tensor<12x24xi32>) outs(%h5_init : tensor<12x24x12xi64>) {
  ^bb0(%in: i32, %o: i64):
    %i = arith.index_cast %in : i32 to index
    %j = linalg.index 2 : index
    %x = tensor.extract %v6[%i, %j] : tensor<24x12xi64>
    linalg.yield %x : i64
  } -> tensor<12x24x12xi64>
  %h6_start0_c = arith.constant 0.0 : f32
  %h6_start0_e = tensor.empty() : tensor<24xf32>
  %h6_start0 = linalg.fill ins(%h6_start0_c : f32) outs(%h6_start0_e : tensor<24xf32>) -> tensor<24xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 1)>, affine_map<(d0) -> (d0 * 1 + d0 * 2, d0 * 1 + d0 * 1 + 2)>, affine_map<(d0) -> (d0 * 1)>], iterator_types = ["parallel"]} ins(%v10, %v11 : tensor<24xf32>, tensor<71x50xf32>) outs(%h6_start0 : tensor<24xf32>) {
  ^bb0(%in0: f32, %in1: f32, %o0: f32):
  %h6_e1_lt = arith.cmpf olt, %in0, %in1 : f32
  %h6_e1_d = arith.subf %in1, %in0 : f32
  %h6_e1 = arith.select %h6_e1_lt, %in0, %h6_e1_d : i1, f32
  %h6_e2 = arith.maxnumf %in1, %h6_e1 : f32
  %h6_e3 = arith.addf %h6_e2, %o0 : f32
    linalg.yield %h6_e3 : f32
  } -> tensor<24xf32>
  %h7_c_init = tensor.empty() : tensor<12x24x12xcomplex<f32>>
  %h7_c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v13, %v14 : tensor<12x24x12xf32>, tensor<12x24x12xf32>) outs(%h7_c_init : tensor<12x24x12xcomplex<f32>>) {
  ^bb0(%re: f32, %im: f32, %o: complex<f32>):
    %z = complex.create %re, %im : complex<f32>
    %y = complex.mul %z, %z : complex<f32>
    linalg.yield %y : complex<f32>
  } -> tensor<12x24x12xcomplex<f32>>
  %h7_zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %h7_se = tensor.empty() : tensor<12x12xcomplex<f32>>
  %h7_s_init = linalg.fill ins(%h7_zero : complex<f32>) outs(%h7_se : tensor<12x12xcomplex<f32>>) -> tensor<12x12xcomplex<f32>>
  %h7_s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%h7_c : tensor<12x24x12xcomplex<f32>>) outs(%h7_s_init : tensor<12x12xcomplex<f32>>) {
  ^bb0(%in: complex<f32>, %o: complex<f32>):
    %y = complex.add %o, %in : complex<f32>
    linalg.yield %y : complex<f32>
  } -> tensor<12x12xcomplex<f32>>
  %v15_init = tensor.empty() : tensor<12x12xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%h7_s : tensor<12x12xcomplex<f32>>) outs(%v15_init : tensor<12x12xf32>) {
  ^bb0(%in: complex<f32>, %o: f32):
    %y = complex.re %in : complex<f32>
    linalg.yield %y : f32
  } -> tensor<12x12xf32>
  return %v22 : tensor<12x24x12xbf16>
}
