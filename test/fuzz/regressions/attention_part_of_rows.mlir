// A row's number in one element of a dimension of 16: scores were computed in blocks as if it had one.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-optimize-local)' -o /dev/null
func.func @main(%q: tensor<16x16x2x101x8xf32>, %k: tensor<16x1401x16x8xf32>, %v: tensor<16x1401x16x12xf32>, %bias: tensor<16x1401xf32>) -> tensor<16x16x2x101x12xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %sc = arith.constant 0.17 : f32
  %es = tensor.empty() : tensor<16x16x2x101x1401xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<16x16x2x101x1401xf32>) -> tensor<16x16x2x101x1401xf32>
  %s = linalg.contract indexing_maps=[affine_map<(b,h,g,i,j,d)->(b,h,g,i,d)>, affine_map<(b,h,g,i,j,d)->(b,j,h,d)>, affine_map<(b,h,g,i,j,d)->(b,h,g,i,j)>] ins(%q, %k : tensor<16x16x2x101x8xf32>, tensor<16x1401x16x8xf32>) outs(%s0 : tensor<16x16x2x101x1401xf32>) -> tensor<16x16x2x101x1401xf32>
  %scs = arith.constant dense<0.17> : tensor<16x16x2x101x1401xf32>
  %t = arith.mulf %s, %scs : tensor<16x16x2x101x1401xf32>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%t, %bias : tensor<16x16x2x101x1401xf32>, tensor<16x1401xf32>) outs(%es : tensor<16x16x2x101x1401xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %b = arith.addf %x, %y : f32
    linalg.yield %b : f32
  } -> tensor<16x16x2x101x1401xf32>
  %m2 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m1 : tensor<16x16x2x101x1401xf32>) outs(%es : tensor<16x16x2x101x1401xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sgt, %i, %j : index
    %w = arith.select %c, %x, %inf : f32
    linalg.yield %w : f32
  } -> tensor<16x16x2x101x1401xf32>
  %p = linalg.softmax dimension(4) ins(%m2 : tensor<16x16x2x101x1401xf32>) outs(%es : tensor<16x16x2x101x1401xf32>) -> tensor<16x16x2x101x1401xf32>
  %ei = tensor.empty() : tensor<16x16x2x101x1401xi1>
  %hidden = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m2 : tensor<16x16x2x101x1401xf32>) outs(%ei : tensor<16x16x2x101x1401xi1>) {
  ^bb0(%x: f32, %z: i1):
    %c = arith.cmpf oeq, %x, %inf : f32
    linalg.yield %c : i1
  } -> tensor<16x16x2x101x1401xi1>
  %true = arith.constant true
  %false = arith.constant false
  %seen = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%hidden : tensor<16x16x2x101x1401xi1>) outs(%ei : tensor<16x16x2x101x1401xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.xori %x, %true : i1
    linalg.yield %c : i1
  } -> tensor<16x16x2x101x1401xi1>
  %er = tensor.empty() : tensor<16x16x2x101x16xi1>
  %none = linalg.fill ins(%false : i1) outs(%er : tensor<16x16x2x101x16xi1>) -> tensor<16x16x2x101x16xi1>
  %any = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,0)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%seen : tensor<16x16x2x101x1401xi1>) outs(%none : tensor<16x16x2x101x16xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.ori %x, %z : i1
    linalg.yield %c : i1
  } -> tensor<16x16x2x101x16xi1>
  %dead = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,0)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%any : tensor<16x16x2x101x16xi1>) outs(%er : tensor<16x16x2x101x16xi1>) {
  ^bb0(%x: i1, %z: i1):
    %c = arith.xori %x, %true : i1
    linalg.yield %c : i1
  } -> tensor<16x16x2x101x16xi1>
  %zeros = linalg.fill ins(%zero : f32) outs(%es : tensor<16x16x2x101x1401xf32>) -> tensor<16x16x2x101x1401xf32>
  %safe = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,0)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%dead, %zeros, %p : tensor<16x16x2x101x16xi1>, tensor<16x16x2x101x1401xf32>, tensor<16x16x2x101x1401xf32>) outs(%es : tensor<16x16x2x101x1401xf32>) {
  ^bb0(%x: i1, %y: f32, %w: f32, %z: f32):
    %c = arith.select %x, %y, %w : f32
    linalg.yield %c : f32
  } -> tensor<16x16x2x101x1401xf32>
  %eo = tensor.empty() : tensor<16x16x2x101x12xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x16x2x101x12xf32>) -> tensor<16x16x2x101x12xf32>
  %o = linalg.contract indexing_maps=[affine_map<(b,h,g,i,e,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,e,j)->(b,j,h,e)>, affine_map<(b,h,g,i,e,j)->(b,h,g,i,e)>] ins(%safe, %v : tensor<16x16x2x101x1401xf32>, tensor<16x1401x16x12xf32>) outs(%o0 : tensor<16x16x2x101x12xf32>) -> tensor<16x16x2x101x12xf32>
  return %o : tensor<16x16x2x101x12xf32>
}
