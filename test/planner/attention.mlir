// Attention, whose scores have one layout and take no memory: no plan that was listed and added up without the planner is cheaper.
// RUN: shard-oracle --steps 20000 --edits 3 %s
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%q: tensor<2x2x2x6x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>, %bias: tensor<2x8xf32>) -> tensor<2x2x2x6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %sc = arith.constant 0.17 : f32
  %es = tensor.empty() : tensor<2x2x2x6x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x2x2x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %s = linalg.contract indexing_maps=[affine_map<(b,h,g,i,j,d)->(b,h,g,i,d)>, affine_map<(b,h,g,i,j,d)->(b,j,h,d)>, affine_map<(b,h,g,i,j,d)->(b,h,g,i,j)>] ins(%q, %k : tensor<2x2x2x6x4xf32>, tensor<2x8x2x4xf32>) outs(%s0 : tensor<2x2x2x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %scs = arith.constant dense<0.17> : tensor<2x2x2x6x8xf32>
  %t = arith.mulf %s, %scs : tensor<2x2x2x6x8xf32>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%t, %bias : tensor<2x2x2x6x8xf32>, tensor<2x8xf32>) outs(%es : tensor<2x2x2x6x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %b = arith.addf %x, %y : f32
    linalg.yield %b : f32
} -> tensor<2x2x2x6x8xf32>
  %m2 = linalg.generic {indexing_maps=[affine_map<(b,h,g,i,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,j)->(b,h,g,i,j)>], iterator_types=["parallel","parallel","parallel","parallel","parallel"]} ins(%m1 : tensor<2x2x2x6x8xf32>) outs(%es : tensor<2x2x2x6x8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sge, %i, %j : index
    %w = arith.select %c, %x, %inf : f32
    linalg.yield %w : f32
} -> tensor<2x2x2x6x8xf32>
  %p = linalg.softmax dimension(4) ins(%m2 : tensor<2x2x2x6x8xf32>) outs(%es : tensor<2x2x2x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %eo = tensor.empty() : tensor<2x2x2x6x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x2x2x6x4xf32>) -> tensor<2x2x2x6x4xf32>
  %o = linalg.contract indexing_maps=[affine_map<(b,h,g,i,e,j)->(b,h,g,i,j)>, affine_map<(b,h,g,i,e,j)->(b,j,h,e)>, affine_map<(b,h,g,i,e,j)->(b,h,g,i,e)>] ins(%p, %v : tensor<2x2x2x6x8xf32>, tensor<2x8x2x4xf32>) outs(%o0 : tensor<2x2x2x6x4xf32>) -> tensor<2x2x2x6x4xf32>
  return %o : tensor<2x2x2x6x4xf32>
}
