"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [["tp"], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [["tp"], [], []]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], ["tp"]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], [], []]}, {tp.sharding = [[], []]}, {tp.sharding = [[], []]}, {tp.sharding = [[], [], []]}], function_type = (tensor<64xf32>, tensor<64xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x2x16xf32>, tensor<4x16x64xf32>, tensor<64x4x16xf32>, tensor<64x128xf32>, tensor<64x2x16xf32>, tensor<2x40x64xf32>, tensor<2x40xi1>, tensor<2x2xui32>, tensor<2x40x64xf32>) -> (tensor<2x40x64xf32>, tensor<2x40x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x2x16xf32>, tensor<4x16x64xf32>, tensor<64x4x16xf32>, tensor<64x128xf32>, tensor<64x2x16xf32>), res_attrs = [{tp.sharding = [[], [], []]}, {tp.sharding = [[], [], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [["tp"], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [["tp"], [], []]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], ["tp"]]}, {tp.sharding = [[], ["tp"], []]}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg76: tensor<64xf32>, %arg77: tensor<64xf32>, %arg78: tensor<128x64xf32>, %arg79: tensor<64xf32>, %arg80: tensor<64xf32>, %arg81: tensor<64x2x16xf32>, %arg82: tensor<4x16x64xf32>, %arg83: tensor<64x4x16xf32>, %arg84: tensor<64x128xf32>, %arg85: tensor<64x2x16xf32>, %arg86: tensor<2x40x64xf32>, %arg87: tensor<2x40xi1>, %arg88: tensor<2x2xui32>, %arg89: tensor<2x40x64xf32>):
    %256 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %257 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %258 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %259 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %260 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %261 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %262 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %263 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %264 = "stablehlo.constant"() <{value = dense<-3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %266 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %267 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %268 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %269 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %270 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %271 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %272 = "stablehlo.slice"(%arg88) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %273 = "stablehlo.reshape"(%272) : (tensor<1x2xui32>) -> tensor<2xui32>
    %274 = "stablehlo.slice"(%arg88) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %275 = "stablehlo.reshape"(%274) : (tensor<1x2xui32>) -> tensor<2xui32>
    %276 = "stablehlo.reduce"(%arg86, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg144: tensor<f32>, %arg145: tensor<f32>):
      %599 = "stablehlo.add"(%arg144, %arg145) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%599) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %277 = "stablehlo.broadcast_in_dim"(%276) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %278 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %279 = "stablehlo.divide"(%277, %278) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %280 = "stablehlo.broadcast_in_dim"(%279) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %281 = "stablehlo.subtract"(%arg86, %280) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %282 = "stablehlo.multiply"(%281, %281) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %283 = "stablehlo.broadcast_in_dim"(%269) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %284 = "stablehlo.multiply"(%283, %281) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %285 = "stablehlo.reduce"(%282, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg142: tensor<f32>, %arg143: tensor<f32>):
      %598 = "stablehlo.add"(%arg142, %arg143) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%598) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %286 = "stablehlo.broadcast_in_dim"(%285) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %287 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %288 = "stablehlo.divide"(%286, %287) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %289 = "stablehlo.broadcast_in_dim"(%279) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %290 = "stablehlo.subtract"(%arg86, %289) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %291 = "stablehlo.broadcast_in_dim"(%268) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %292 = "stablehlo.add"(%288, %291) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %293 = "stablehlo.rsqrt"(%292) : (tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %294 = "stablehlo.divide"(%293, %292) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %295 = "stablehlo.broadcast_in_dim"(%267) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %296 = "stablehlo.multiply"(%295, %294) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %297 = "stablehlo.broadcast_in_dim"(%293) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %298 = "stablehlo.multiply"(%290, %297) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %299 = "stablehlo.broadcast_in_dim"(%arg79) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %300 = "stablehlo.broadcast_in_dim"(%299) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %301 = "stablehlo.multiply"(%298, %300) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %302 = "stablehlo.broadcast_in_dim"(%arg76) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %303 = "stablehlo.broadcast_in_dim"(%302) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %304 = "stablehlo.add"(%301, %303) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %305 = "stablehlo.dot_general"(%arg83, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<64x4x16xf32>, tensor<2x40x64xf32>) -> tensor<4x16x2x40xf32>
    %306 = "stablehlo.transpose"(%305) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<4x16x2x40xf32>) -> tensor<2x4x40x16xf32>
    %307 = "stablehlo.dot_general"(%arg81, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<64x2x16xf32>, tensor<2x40x64xf32>) -> tensor<2x16x2x40xf32>
    %308 = "stablehlo.transpose"(%307) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<2x16x2x40xf32>) -> tensor<2x2x40x16xf32>
    %309 = "stablehlo.dot_general"(%arg85, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<64x2x16xf32>, tensor<2x40x64xf32>) -> tensor<2x16x2x40xf32>
    %310 = "stablehlo.transpose"(%309) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<2x16x2x40xf32>) -> tensor<2x2x40x16xf32>
    %311 = "stablehlo.broadcast_in_dim"(%308) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<2x2x40x16xf32>) -> tensor<2x2x2x40x16xf32>
    %312 = "stablehlo.reshape"(%311) : (tensor<2x2x2x40x16xf32>) -> tensor<2x4x40x16xf32>
    %313 = "stablehlo.broadcast_in_dim"(%310) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<2x2x40x16xf32>) -> tensor<2x2x2x40x16xf32>
    %314 = "stablehlo.reshape"(%313) : (tensor<2x2x2x40x16xf32>) -> tensor<2x4x40x16xf32>
    %315 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<40x40xi1>
    %316 = "func.call"(%315) <{callee = @tril}> : (tensor<40x40xi1>) -> tensor<40x40xi1>
    %317 = "stablehlo.broadcast_in_dim"(%316) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<40x40xi1>) -> tensor<1x1x40x40xi1>
    %318 = "stablehlo.broadcast_in_dim"(%arg87) <{broadcast_dimensions = array<i64: 0, 3>}> : (tensor<2x40xi1>) -> tensor<2x1x1x40xi1>
    %319 = "stablehlo.broadcast_in_dim"(%317) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x40x40xi1>) -> tensor<2x1x40x40xi1>
    %320 = "stablehlo.broadcast_in_dim"(%318) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x1x1x40xi1>) -> tensor<2x1x40x40xi1>
    %321 = "stablehlo.and"(%319, %320) : (tensor<2x1x40x40xi1>, tensor<2x1x40x40xi1>) -> tensor<2x1x40x40xi1>
    %322 = "stablehlo.dot_general"(%306, %312) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<2x4x40x16xf32>, tensor<2x4x40x16xf32>) -> tensor<2x4x40x40xf32>
    %323 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %324 = "stablehlo.multiply"(%322, %323) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %325:2 = "func.call"(%321, %324, %264) <{callee = @_where}> : (tensor<2x1x40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>)
    %326 = "stablehlo.reduce"(%325#0, %263) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg140: tensor<f32>, %arg141: tensor<f32>):
      %597 = "stablehlo.maximum"(%arg140, %arg141) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%597) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %327 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40xf32>
    %328 = "stablehlo.maximum"(%327, %326) : (tensor<2x4x40xf32>, tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %329 = "stablehlo.broadcast_in_dim"(%328) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %330 = "stablehlo.broadcast_in_dim"(%329) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %331 = "stablehlo.subtract"(%325#0, %330) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %332 = "stablehlo.exponential"(%331) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %333 = "stablehlo.reduce"(%332, %271) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg138: tensor<f32>, %arg139: tensor<f32>):
      %596 = "stablehlo.add"(%arg138, %arg139) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%596) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %334 = "stablehlo.broadcast_in_dim"(%333) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %335 = "stablehlo.broadcast_in_dim"(%334) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %336 = "stablehlo.divide"(%332, %335) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %337 = "stablehlo.multiply"(%334, %334) : (tensor<2x4x40x1xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %338 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x1xf32>
    %339 = "stablehlo.divide"(%338, %337) : (tensor<2x4x40x1xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %340 = "func.call"(%273, %261) <{callee = @_bernoulli}> : (tensor<2xui32>, tensor<f32>) -> tensor<2x4x40x40xi1>
    %341 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %342 = "stablehlo.divide"(%336, %341) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %343 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %344 = "stablehlo.select"(%340, %342, %343) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %345 = "stablehlo.dot_general"(%314, %344) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<2x4x40x16xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x16x40xf32>
    %346 = "stablehlo.transpose"(%345) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x16x40xf32>) -> tensor<2x40x4x16xf32>
    %347 = "stablehlo.dot_general"(%346, %arg82) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3, 2], rhs_contracting_dimensions = [1, 0]>}> : (tensor<2x40x4x16xf32>, tensor<4x16x64xf32>) -> tensor<2x40x64xf32>
    %348 = "stablehlo.add"(%arg86, %347) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %349 = "stablehlo.reduce"(%348, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg136: tensor<f32>, %arg137: tensor<f32>):
      %595 = "stablehlo.add"(%arg136, %arg137) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%595) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %350 = "stablehlo.broadcast_in_dim"(%349) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %351 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %352 = "stablehlo.divide"(%350, %351) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %353 = "stablehlo.broadcast_in_dim"(%352) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %354 = "stablehlo.subtract"(%348, %353) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %355 = "stablehlo.multiply"(%354, %354) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %356 = "stablehlo.broadcast_in_dim"(%269) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %357 = "stablehlo.multiply"(%356, %354) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %358 = "stablehlo.reduce"(%355, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg134: tensor<f32>, %arg135: tensor<f32>):
      %594 = "stablehlo.add"(%arg134, %arg135) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%594) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %359 = "stablehlo.broadcast_in_dim"(%358) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %360 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %361 = "stablehlo.divide"(%359, %360) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %362 = "stablehlo.broadcast_in_dim"(%352) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %363 = "stablehlo.subtract"(%348, %362) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %364 = "stablehlo.broadcast_in_dim"(%268) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %365 = "stablehlo.add"(%361, %364) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %366 = "stablehlo.rsqrt"(%365) : (tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %367 = "stablehlo.divide"(%366, %365) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %368 = "stablehlo.broadcast_in_dim"(%267) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %369 = "stablehlo.multiply"(%368, %367) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %370 = "stablehlo.broadcast_in_dim"(%366) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %371 = "stablehlo.multiply"(%363, %370) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %372 = "stablehlo.broadcast_in_dim"(%arg80) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %373 = "stablehlo.broadcast_in_dim"(%372) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %374 = "stablehlo.multiply"(%371, %373) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %375 = "stablehlo.broadcast_in_dim"(%arg77) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %376 = "stablehlo.broadcast_in_dim"(%375) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %377 = "stablehlo.add"(%374, %376) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %378 = "stablehlo.dot_general"(%377, %arg84) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x40x64xf32>, tensor<64x128xf32>) -> tensor<2x40x128xf32>
    %379 = "stablehlo.multiply"(%378, %378) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %380 = "stablehlo.multiply"(%379, %378) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %381 = "stablehlo.multiply"(%378, %378) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %382 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %383 = "stablehlo.multiply"(%382, %381) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %384 = "stablehlo.broadcast_in_dim"(%259) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %385 = "stablehlo.multiply"(%384, %380) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %386 = "stablehlo.add"(%378, %385) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %387 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %388 = "stablehlo.multiply"(%387, %386) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %389 = "stablehlo.tanh"(%388) : (tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %390 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %391 = "stablehlo.subtract"(%390, %389) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %392 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %393 = "stablehlo.add"(%392, %389) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %394 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %395 = "stablehlo.multiply"(%394, %393) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %396 = "stablehlo.multiply"(%378, %395) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %397 = "stablehlo.dot_general"(%396, %arg78) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x40x128xf32>, tensor<128x64xf32>) -> tensor<2x40x64xf32>
    %398 = "func.call"(%275, %261) <{callee = @_bernoulli_0}> : (tensor<2xui32>, tensor<f32>) -> tensor<2x40x64xi1>
    %399 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %400 = "stablehlo.divide"(%397, %399) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %401 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %402 = "stablehlo.select"(%398, %400, %401) : (tensor<2x40x64xi1>, tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %403 = "stablehlo.add"(%348, %402) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %404 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %405 = "stablehlo.select"(%398, %arg89, %404) : (tensor<2x40x64xi1>, tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %406 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %407 = "stablehlo.divide"(%405, %406) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %408 = "stablehlo.dot_general"(%407, %396) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x40x64xf32>, tensor<2x40x128xf32>) -> tensor<64x128xf32>
    %409 = "stablehlo.transpose"(%408) <{permutation = array<i64: 1, 0>}> : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %410 = "stablehlo.dot_general"(%407, %arg78) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x40x64xf32>, tensor<128x64xf32>) -> tensor<2x40x128xf32>
    %411 = "stablehlo.multiply"(%378, %410) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %412 = "stablehlo.multiply"(%410, %395) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %413 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %414 = "stablehlo.multiply"(%413, %411) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %415 = "stablehlo.multiply"(%414, %391) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %416 = "stablehlo.multiply"(%415, %389) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %417 = "stablehlo.add"(%415, %416) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %418 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %419 = "stablehlo.multiply"(%418, %417) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %420 = "stablehlo.add"(%412, %419) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %421 = "stablehlo.broadcast_in_dim"(%259) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x128xf32>
    %422 = "stablehlo.multiply"(%421, %419) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %423 = "stablehlo.multiply"(%422, %383) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %424 = "stablehlo.add"(%420, %423) : (tensor<2x40x128xf32>, tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %425 = "stablehlo.dot_general"(%424, %377) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x40x128xf32>, tensor<2x40x64xf32>) -> tensor<128x64xf32>
    %426 = "stablehlo.transpose"(%425) <{permutation = array<i64: 1, 0>}> : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %427 = "stablehlo.dot_general"(%424, %arg84) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x40x128xf32>, tensor<64x128xf32>) -> tensor<2x40x64xf32>
    %428 = "stablehlo.reduce"(%427, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg132: tensor<f32>, %arg133: tensor<f32>):
      %593 = "stablehlo.add"(%arg132, %arg133) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%593) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<64xf32>
    %429 = "stablehlo.reshape"(%428) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %430 = "stablehlo.reduce"(%429, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg130: tensor<f32>, %arg131: tensor<f32>):
      %592 = "stablehlo.add"(%arg130, %arg131) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%592) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %431 = "stablehlo.multiply"(%371, %427) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %432 = "stablehlo.reduce"(%431, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg128: tensor<f32>, %arg129: tensor<f32>):
      %591 = "stablehlo.add"(%arg128, %arg129) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%591) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<64xf32>
    %433 = "stablehlo.reshape"(%432) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %434 = "stablehlo.broadcast_in_dim"(%372) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %435 = "stablehlo.multiply"(%427, %434) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %436 = "stablehlo.reduce"(%433, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg126: tensor<f32>, %arg127: tensor<f32>):
      %590 = "stablehlo.add"(%arg126, %arg127) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%590) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %437 = "stablehlo.multiply"(%363, %435) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %438 = "stablehlo.reduce"(%437, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg124: tensor<f32>, %arg125: tensor<f32>):
      %589 = "stablehlo.add"(%arg124, %arg125) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%589) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %439 = "stablehlo.reshape"(%438) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %440 = "stablehlo.broadcast_in_dim"(%366) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %441 = "stablehlo.multiply"(%435, %440) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %442 = "stablehlo.multiply"(%439, %369) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %443 = "stablehlo.negate"(%441) : (tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %444 = "stablehlo.reduce"(%443, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg122: tensor<f32>, %arg123: tensor<f32>):
      %588 = "stablehlo.add"(%arg122, %arg123) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%588) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %445 = "stablehlo.reshape"(%444) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %446 = "stablehlo.add"(%arg89, %441) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %447 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %448 = "stablehlo.divide"(%442, %447) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %449 = "stablehlo.reduce"(%448, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg120: tensor<f32>, %arg121: tensor<f32>):
      %587 = "stablehlo.add"(%arg120, %arg121) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%587) : (tensor<f32>) -> ()
    }) : (tensor<2x40x1xf32>, tensor<f32>) -> tensor<2x40xf32>
    %450 = "stablehlo.broadcast_in_dim"(%449) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x64xf32>
    %451 = "stablehlo.multiply"(%450, %357) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %452 = "stablehlo.negate"(%451) : (tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %453 = "stablehlo.reduce"(%452, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg118: tensor<f32>, %arg119: tensor<f32>):
      %586 = "stablehlo.add"(%arg118, %arg119) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%586) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %454 = "stablehlo.reshape"(%453) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %455 = "stablehlo.add"(%446, %451) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %456 = "stablehlo.add"(%445, %454) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %457 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %458 = "stablehlo.divide"(%456, %457) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %459 = "stablehlo.reduce"(%458, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg116: tensor<f32>, %arg117: tensor<f32>):
      %585 = "stablehlo.add"(%arg116, %arg117) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%585) : (tensor<f32>) -> ()
    }) : (tensor<2x40x1xf32>, tensor<f32>) -> tensor<2x40xf32>
    %460 = "stablehlo.broadcast_in_dim"(%459) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x64xf32>
    %461 = "stablehlo.add"(%455, %460) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %462 = "stablehlo.dot_general"(%461, %346) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x40x64xf32>, tensor<2x40x4x16xf32>) -> tensor<64x4x16xf32>
    %463 = "stablehlo.transpose"(%462) <{permutation = array<i64: 1, 2, 0>}> : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
    %464 = "stablehlo.dot_general"(%461, %arg82) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x40x64xf32>, tensor<4x16x64xf32>) -> tensor<2x40x4x16xf32>
    %465 = "stablehlo.transpose"(%464) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x40x4x16xf32>) -> tensor<2x4x16x40xf32>
    %466 = "stablehlo.dot_general"(%465, %314) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<2x4x16x40xf32>, tensor<2x4x40x16xf32>) -> tensor<2x4x40x40xf32>
    %467 = "stablehlo.dot_general"(%465, %344) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<2x4x16x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x16x40xf32>
    %468 = "stablehlo.transpose"(%467) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x16x40xf32>) -> tensor<2x4x40x16xf32>
    %469 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %470 = "stablehlo.select"(%340, %466, %469) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %471 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %472 = "stablehlo.divide"(%470, %471) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %473 = "stablehlo.broadcast_in_dim"(%339) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %474 = "stablehlo.multiply"(%472, %473) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %475 = "stablehlo.multiply"(%474, %332) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %476 = "stablehlo.reduce"(%475, %271) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg114: tensor<f32>, %arg115: tensor<f32>):
      %584 = "stablehlo.add"(%arg114, %arg115) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%584) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %477 = "stablehlo.reshape"(%476) : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %478 = "stablehlo.negate"(%477) : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %479 = "stablehlo.broadcast_in_dim"(%334) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %480 = "stablehlo.divide"(%472, %479) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %481 = "stablehlo.reduce"(%478, %271) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg112: tensor<f32>, %arg113: tensor<f32>):
      %583 = "stablehlo.add"(%arg112, %arg113) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%583) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x1xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %482 = "stablehlo.broadcast_in_dim"(%481) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x40xf32>
    %483 = "stablehlo.add"(%480, %482) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %484 = "stablehlo.multiply"(%483, %332) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %485 = "func.call"(%325#1, %484) <{callee = @_where_4}> : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %486 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %487 = "stablehlo.multiply"(%485, %486) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %488 = "stablehlo.dot_general"(%487, %306) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x4x40x40xf32>, tensor<2x4x40x16xf32>) -> tensor<2x4x40x16xf32>
    %489 = "stablehlo.dot_general"(%487, %312) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<2x4x40x40xf32>, tensor<2x4x40x16xf32>) -> tensor<2x4x40x16xf32>
    %490 = "stablehlo.reshape"(%468) : (tensor<2x4x40x16xf32>) -> tensor<2x2x2x40x16xf32>
    %491 = "stablehlo.reduce"(%490, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg110: tensor<f32>, %arg111: tensor<f32>):
      %582 = "stablehlo.add"(%arg110, %arg111) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%582) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x40x16xf32>, tensor<f32>) -> tensor<2x2x40x16xf32>
    %492 = "stablehlo.reshape"(%488) : (tensor<2x4x40x16xf32>) -> tensor<2x2x2x40x16xf32>
    %493 = "stablehlo.reduce"(%492, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg108: tensor<f32>, %arg109: tensor<f32>):
      %581 = "stablehlo.add"(%arg108, %arg109) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%581) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x40x16xf32>, tensor<f32>) -> tensor<2x2x40x16xf32>
    %494 = "stablehlo.transpose"(%491) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<2x2x40x16xf32>) -> tensor<2x16x2x40xf32>
    %495 = "stablehlo.dot_general"(%494, %arg85) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<2x16x2x40xf32>, tensor<64x2x16xf32>) -> tensor<2x40x64xf32>
    %496 = "stablehlo.dot_general"(%494, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x16x2x40xf32>, tensor<2x40x64xf32>) -> tensor<2x16x64xf32>
    %497 = "stablehlo.transpose"(%496) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x16x64xf32>) -> tensor<64x2x16xf32>
    %498 = "stablehlo.transpose"(%493) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<2x2x40x16xf32>) -> tensor<2x16x2x40xf32>
    %499 = "stablehlo.dot_general"(%498, %arg81) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<2x16x2x40xf32>, tensor<64x2x16xf32>) -> tensor<2x40x64xf32>
    %500 = "stablehlo.add"(%495, %499) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %501 = "stablehlo.dot_general"(%498, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x16x2x40xf32>, tensor<2x40x64xf32>) -> tensor<2x16x64xf32>
    %502 = "stablehlo.transpose"(%501) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x16x64xf32>) -> tensor<64x2x16xf32>
    %503 = "stablehlo.transpose"(%489) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<2x4x40x16xf32>) -> tensor<4x16x2x40xf32>
    %504 = "stablehlo.dot_general"(%503, %arg83) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<4x16x2x40xf32>, tensor<64x4x16xf32>) -> tensor<2x40x64xf32>
    %505 = "stablehlo.add"(%500, %504) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %506 = "stablehlo.dot_general"(%503, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<4x16x2x40xf32>, tensor<2x40x64xf32>) -> tensor<4x16x64xf32>
    %507 = "stablehlo.transpose"(%506) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x64xf32>) -> tensor<64x4x16xf32>
    %508 = "stablehlo.reduce"(%505, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg106: tensor<f32>, %arg107: tensor<f32>):
      %580 = "stablehlo.add"(%arg106, %arg107) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%580) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<64xf32>
    %509 = "stablehlo.reshape"(%508) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %510 = "stablehlo.reduce"(%509, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg104: tensor<f32>, %arg105: tensor<f32>):
      %579 = "stablehlo.add"(%arg104, %arg105) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%579) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %511 = "stablehlo.multiply"(%298, %505) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %512 = "stablehlo.reduce"(%511, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg102: tensor<f32>, %arg103: tensor<f32>):
      %578 = "stablehlo.add"(%arg102, %arg103) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%578) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<64xf32>
    %513 = "stablehlo.reshape"(%512) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %514 = "stablehlo.broadcast_in_dim"(%299) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x40x64xf32>
    %515 = "stablehlo.multiply"(%505, %514) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %516 = "stablehlo.reduce"(%513, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg100: tensor<f32>, %arg101: tensor<f32>):
      %577 = "stablehlo.add"(%arg100, %arg101) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%577) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %517 = "stablehlo.multiply"(%290, %515) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %518 = "stablehlo.reduce"(%517, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg98: tensor<f32>, %arg99: tensor<f32>):
      %576 = "stablehlo.add"(%arg98, %arg99) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%576) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %519 = "stablehlo.reshape"(%518) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %520 = "stablehlo.broadcast_in_dim"(%293) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x40x1xf32>) -> tensor<2x40x64xf32>
    %521 = "stablehlo.multiply"(%515, %520) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %522 = "stablehlo.multiply"(%519, %296) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %523 = "stablehlo.negate"(%521) : (tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %524 = "stablehlo.reduce"(%523, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg96: tensor<f32>, %arg97: tensor<f32>):
      %575 = "stablehlo.add"(%arg96, %arg97) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%575) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %525 = "stablehlo.reshape"(%524) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %526 = "stablehlo.add"(%461, %521) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %527 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %528 = "stablehlo.divide"(%522, %527) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %529 = "stablehlo.reduce"(%528, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg94: tensor<f32>, %arg95: tensor<f32>):
      %574 = "stablehlo.add"(%arg94, %arg95) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%574) : (tensor<f32>) -> ()
    }) : (tensor<2x40x1xf32>, tensor<f32>) -> tensor<2x40xf32>
    %530 = "stablehlo.broadcast_in_dim"(%529) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x64xf32>
    %531 = "stablehlo.multiply"(%530, %284) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %532 = "stablehlo.negate"(%531) : (tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %533 = "stablehlo.reduce"(%532, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg92: tensor<f32>, %arg93: tensor<f32>):
      %573 = "stablehlo.add"(%arg92, %arg93) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%573) : (tensor<f32>) -> ()
    }) : (tensor<2x40x64xf32>, tensor<f32>) -> tensor<2x40xf32>
    %534 = "stablehlo.reshape"(%533) : (tensor<2x40xf32>) -> tensor<2x40x1xf32>
    %535 = "stablehlo.add"(%526, %531) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %536 = "stablehlo.add"(%525, %534) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %537 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x1xf32>
    %538 = "stablehlo.divide"(%536, %537) : (tensor<2x40x1xf32>, tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %539 = "stablehlo.reduce"(%538, %271) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg90: tensor<f32>, %arg91: tensor<f32>):
      %572 = "stablehlo.add"(%arg90, %arg91) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%572) : (tensor<f32>) -> ()
    }) : (tensor<2x40x1xf32>, tensor<f32>) -> tensor<2x40xf32>
    %540 = "stablehlo.broadcast_in_dim"(%539) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x40xf32>) -> tensor<2x40x64xf32>
    %541 = "stablehlo.add"(%535, %540) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %542 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %543 = "stablehlo.multiply"(%542, %510) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %544 = "stablehlo.subtract"(%arg76, %543) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %545 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %546 = "stablehlo.multiply"(%545, %430) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %547 = "stablehlo.subtract"(%arg77, %546) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %548 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x64xf32>
    %549 = "stablehlo.multiply"(%548, %409) : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %550 = "stablehlo.subtract"(%arg78, %549) : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %551 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %552 = "stablehlo.multiply"(%551, %516) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %553 = "stablehlo.subtract"(%arg79, %552) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %554 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %555 = "stablehlo.multiply"(%554, %436) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %556 = "stablehlo.subtract"(%arg80, %555) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %557 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x2x16xf32>
    %558 = "stablehlo.multiply"(%557, %502) : (tensor<64x2x16xf32>, tensor<64x2x16xf32>) -> tensor<64x2x16xf32>
    %559 = "stablehlo.subtract"(%arg81, %558) : (tensor<64x2x16xf32>, tensor<64x2x16xf32>) -> tensor<64x2x16xf32>
    %560 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16x64xf32>
    %561 = "stablehlo.multiply"(%560, %463) : (tensor<4x16x64xf32>, tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
    %562 = "stablehlo.subtract"(%arg82, %561) : (tensor<4x16x64xf32>, tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
    %563 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x4x16xf32>
    %564 = "stablehlo.multiply"(%563, %507) : (tensor<64x4x16xf32>, tensor<64x4x16xf32>) -> tensor<64x4x16xf32>
    %565 = "stablehlo.subtract"(%arg83, %564) : (tensor<64x4x16xf32>, tensor<64x4x16xf32>) -> tensor<64x4x16xf32>
    %566 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %567 = "stablehlo.multiply"(%566, %426) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %568 = "stablehlo.subtract"(%arg84, %567) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %569 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x2x16xf32>
    %570 = "stablehlo.multiply"(%569, %497) : (tensor<64x2x16xf32>, tensor<64x2x16xf32>) -> tensor<64x2x16xf32>
    %571 = "stablehlo.subtract"(%arg85, %570) : (tensor<64x2x16xf32>, tensor<64x2x16xf32>) -> tensor<64x2x16xf32>
    "func.return"(%403, %541, %544, %547, %550, %553, %556, %559, %562, %565, %568, %571) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x2x16xf32>, tensor<4x16x64xf32>, tensor<64x4x16xf32>, tensor<64x128xf32>, tensor<64x2x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<40x40xi1>) -> tensor<40x40xi1>, sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg75: tensor<40x40xi1>):
    %247 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %248 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %249 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<40x40xi32>
    %250 = "stablehlo.broadcast_in_dim"(%248) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<40x40xi32>
    %251 = "stablehlo.add"(%249, %250) : (tensor<40x40xi32>, tensor<40x40xi32>) -> tensor<40x40xi32>
    %252 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<40x40xi32>
    %253 = "stablehlo.compare"(%251, %252) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<40x40xi32>, tensor<40x40xi32>) -> tensor<40x40xi1>
    %254 = "stablehlo.broadcast_in_dim"(%247) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<40x40xi1>
    %255 = "stablehlo.select"(%253, %arg75, %254) : (tensor<40x40xi1>, tensor<40x40xi1>, tensor<40x40xi1>) -> tensor<40x40xi1>
    "func.return"(%255) : (tensor<40x40xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x1x40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>), sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg72: tensor<2x1x40x40xi1>, %arg73: tensor<2x4x40x40xf32>, %arg74: tensor<f32>):
    %244 = "stablehlo.broadcast_in_dim"(%arg72) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x1x40x40xi1>) -> tensor<2x4x40x40xi1>
    %245 = "stablehlo.broadcast_in_dim"(%arg74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %246 = "stablehlo.select"(%244, %arg73, %245) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    "func.return"(%246, %244) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<2x4x40x40xi1>, sym_name = "_bernoulli", sym_visibility = "private"}> ({
  ^bb0(%arg70: tensor<2xui32>, %arg71: tensor<f32>):
    %239 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %241 = "func.call"(%arg70, %239, %240) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x4x40x40xf32>
    %242 = "stablehlo.broadcast_in_dim"(%arg71) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %243 = "stablehlo.compare"(%241, %242) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xi1>
    "func.return"(%243) : (tensor<2x4x40x40xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x4x40x40xf32>, sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg67: tensor<2xui32>, %arg68: tensor<f32>, %arg69: tensor<f32>):
    %188 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %189 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %190 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %191 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %192 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %193 = "stablehlo.constant"() <{value = dense<40> : tensor<ui64>}> : () -> tensor<ui64>
    %194 = "stablehlo.constant"() <{value = dense<1600> : tensor<ui64>}> : () -> tensor<ui64>
    %195 = "stablehlo.constant"() <{value = dense<6400> : tensor<ui64>}> : () -> tensor<ui64>
    %196 = "stablehlo.convert"(%arg68) : (tensor<f32>) -> tensor<f32>
    %197 = "stablehlo.convert"(%arg69) : (tensor<f32>) -> tensor<f32>
    %198 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %199 = "stablehlo.broadcast_in_dim"(%197) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %200 = "stablehlo.slice"(%arg67) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %201 = "stablehlo.reshape"(%200) : (tensor<1xui32>) -> tensor<ui32>
    %202 = "stablehlo.slice"(%arg67) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %203 = "stablehlo.reshape"(%202) : (tensor<1xui32>) -> tensor<ui32>
    %204 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x4x40x40xui64>
    %205 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x4x40x40xui64>
    %206 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<2x4x40x40xui64>
    %207 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> tensor<2x4x40x40xui64>
    %208 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x4x40x40xui64>
    %209 = "stablehlo.multiply"(%208, %204) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %210 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x4x40x40xui64>
    %211 = "stablehlo.multiply"(%210, %205) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %212 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x4x40x40xui64>
    %213 = "stablehlo.multiply"(%212, %206) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %214 = "stablehlo.broadcast_in_dim"(%192) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x4x40x40xui64>
    %215 = "stablehlo.multiply"(%214, %207) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %216 = "stablehlo.add"(%209, %211) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %217 = "stablehlo.add"(%216, %213) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %218 = "stablehlo.add"(%217, %215) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %219 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x4x40x40xui64>
    %220 = "stablehlo.shift_right_logical"(%218, %219) : (tensor<2x4x40x40xui64>, tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui64>
    %221 = "stablehlo.convert"(%218) : (tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui32>
    %222 = "stablehlo.convert"(%220) : (tensor<2x4x40x40xui64>) -> tensor<2x4x40x40xui32>
    %223:2 = "func.call"(%201, %203, %222, %221) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>)
    %224 = "stablehlo.xor"(%223#0, %223#1) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %225 = "stablehlo.broadcast_in_dim"(%190) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %226 = "stablehlo.shift_right_logical"(%224, %225) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %227 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %228 = "stablehlo.or"(%226, %227) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %229 = "stablehlo.bitcast_convert"(%228) : (tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xf32>
    %230 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %231 = "stablehlo.subtract"(%229, %230) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %232 = "stablehlo.subtract"(%199, %198) : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<2x4x40x40xf32>
    %234 = "stablehlo.multiply"(%231, %233) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %235 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<2x4x40x40xf32>
    %236 = "stablehlo.add"(%234, %235) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %237 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<2x4x40x40xf32>
    %238 = "stablehlo.maximum"(%237, %236) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    "func.return"(%238) : (tensor<2x4x40x40xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg45: tensor<ui32>, %arg46: tensor<ui32>, %arg47: tensor<2x4x40x40xui32>, %arg48: tensor<2x4x40x40xui32>):
    %172 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %173 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %174 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %175 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %176 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %177 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %178 = "stablehlo.xor"(%arg45, %arg46) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %179 = "stablehlo.xor"(%178, %175) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %180 = "stablehlo.broadcast_in_dim"(%arg45) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %181 = "stablehlo.add"(%arg47, %180) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %182 = "stablehlo.broadcast_in_dim"(%arg46) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %183 = "stablehlo.add"(%arg48, %182) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %184:9 = "stablehlo.while"(%174, %174, %181, %183, %arg46, %179, %arg45, %176, %177) ({
    ^bb0(%arg58: tensor<i32>, %arg59: tensor<i32>, %arg60: tensor<2x4x40x40xui32>, %arg61: tensor<2x4x40x40xui32>, %arg62: tensor<ui32>, %arg63: tensor<ui32>, %arg64: tensor<ui32>, %arg65: tensor<4xui32>, %arg66: tensor<4xui32>):
      %187 = "stablehlo.compare"(%arg58, %173) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%187) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg49: tensor<i32>, %arg50: tensor<i32>, %arg51: tensor<2x4x40x40xui32>, %arg52: tensor<2x4x40x40xui32>, %arg53: tensor<ui32>, %arg54: tensor<ui32>, %arg55: tensor<ui32>, %arg56: tensor<4xui32>, %arg57: tensor<4xui32>):
      %185:8 = "func.call"(%arg50, %arg51, %arg52, %arg53, %arg54, %arg55, %arg56, %arg57) <{callee = @closed_call}> : (tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %186 = "stablehlo.add"(%arg49, %172) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%186, %185#0, %185#1, %185#2, %185#3, %185#4, %185#5, %185#6, %185#7) : (tensor<i32>, tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%184#2, %184#3) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg37: tensor<i32>, %arg38: tensor<2x4x40x40xui32>, %arg39: tensor<2x4x40x40xui32>, %arg40: tensor<ui32>, %arg41: tensor<ui32>, %arg42: tensor<ui32>, %arg43: tensor<4xui32>, %arg44: tensor<4xui32>):
    %121 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %122 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %123 = "stablehlo.add"(%arg37, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %124 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %125 = "stablehlo.reshape"(%124) : (tensor<1xui32>) -> tensor<ui32>
    %126 = "stablehlo.add"(%arg38, %arg39) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %127 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %128 = "stablehlo.shift_left"(%arg39, %127) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %129 = "stablehlo.subtract"(%121, %125) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %131 = "stablehlo.shift_right_logical"(%arg39, %130) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %132 = "stablehlo.or"(%128, %131) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %133 = "stablehlo.xor"(%126, %132) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %134 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %135 = "stablehlo.reshape"(%134) : (tensor<1xui32>) -> tensor<ui32>
    %136 = "stablehlo.add"(%126, %133) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %137 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %138 = "stablehlo.shift_left"(%133, %137) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %139 = "stablehlo.subtract"(%121, %135) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %141 = "stablehlo.shift_right_logical"(%133, %140) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %142 = "stablehlo.or"(%138, %141) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %143 = "stablehlo.xor"(%136, %142) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %144 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %145 = "stablehlo.reshape"(%144) : (tensor<1xui32>) -> tensor<ui32>
    %146 = "stablehlo.add"(%136, %143) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %147 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %148 = "stablehlo.shift_left"(%143, %147) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %149 = "stablehlo.subtract"(%121, %145) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %151 = "stablehlo.shift_right_logical"(%143, %150) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %152 = "stablehlo.or"(%148, %151) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %153 = "stablehlo.xor"(%146, %152) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %154 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %155 = "stablehlo.reshape"(%154) : (tensor<1xui32>) -> tensor<ui32>
    %156 = "stablehlo.add"(%146, %153) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %157 = "stablehlo.broadcast_in_dim"(%155) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %159 = "stablehlo.subtract"(%121, %155) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %161 = "stablehlo.shift_right_logical"(%153, %160) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %162 = "stablehlo.or"(%158, %161) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %163 = "stablehlo.xor"(%156, %162) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %164 = "stablehlo.broadcast_in_dim"(%arg40) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %165 = "stablehlo.add"(%156, %164) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %166 = "stablehlo.broadcast_in_dim"(%arg41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %167 = "stablehlo.add"(%163, %166) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    %168 = "stablehlo.add"(%arg37, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %169 = "stablehlo.convert"(%168) : (tensor<i32>) -> tensor<ui32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x4x40x40xui32>
    %171 = "stablehlo.add"(%167, %170) : (tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>) -> tensor<2x4x40x40xui32>
    "func.return"(%123, %165, %171, %arg41, %arg42, %arg40, %arg44, %arg43) : (tensor<i32>, tensor<2x4x40x40xui32>, tensor<2x4x40x40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<2x40x64xi1>, sym_name = "_bernoulli_0", sym_visibility = "private"}> ({
  ^bb0(%arg35: tensor<2xui32>, %arg36: tensor<f32>):
    %116 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118 = "func.call"(%arg35, %116, %117) <{callee = @_uniform_1}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x40x64xf32>
    %119 = "stablehlo.broadcast_in_dim"(%arg36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %120 = "stablehlo.compare"(%118, %119) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xi1>
    "func.return"(%120) : (tensor<2x40x64xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x40x64xf32>, sym_name = "_uniform_1", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<2xui32>, %arg33: tensor<f32>, %arg34: tensor<f32>):
    %70 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %72 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %73 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %74 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %75 = "stablehlo.constant"() <{value = dense<64> : tensor<ui64>}> : () -> tensor<ui64>
    %76 = "stablehlo.constant"() <{value = dense<2560> : tensor<ui64>}> : () -> tensor<ui64>
    %77 = "stablehlo.convert"(%arg33) : (tensor<f32>) -> tensor<f32>
    %78 = "stablehlo.convert"(%arg34) : (tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %80 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %81 = "stablehlo.slice"(%arg32) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %82 = "stablehlo.reshape"(%81) : (tensor<1xui32>) -> tensor<ui32>
    %83 = "stablehlo.slice"(%arg32) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %84 = "stablehlo.reshape"(%83) : (tensor<1xui32>) -> tensor<ui32>
    %85 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x40x64xui64>
    %86 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x40x64xui64>
    %87 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<2x40x64xui64>
    %88 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x40x64xui64>
    %89 = "stablehlo.multiply"(%88, %85) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %90 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x40x64xui64>
    %91 = "stablehlo.multiply"(%90, %86) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %92 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x40x64xui64>
    %93 = "stablehlo.multiply"(%92, %87) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %94 = "stablehlo.add"(%89, %91) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %95 = "stablehlo.add"(%94, %93) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %96 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2x40x64xui64>
    %97 = "stablehlo.shift_right_logical"(%95, %96) : (tensor<2x40x64xui64>, tensor<2x40x64xui64>) -> tensor<2x40x64xui64>
    %98 = "stablehlo.convert"(%95) : (tensor<2x40x64xui64>) -> tensor<2x40x64xui32>
    %99 = "stablehlo.convert"(%97) : (tensor<2x40x64xui64>) -> tensor<2x40x64xui32>
    %100:2 = "func.call"(%82, %84, %99, %98) <{callee = @threefry2x32_2}> : (tensor<ui32>, tensor<ui32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> (tensor<2x40x64xui32>, tensor<2x40x64xui32>)
    %101 = "stablehlo.xor"(%100#0, %100#1) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %102 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %103 = "stablehlo.shift_right_logical"(%101, %102) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %104 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %105 = "stablehlo.or"(%103, %104) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %106 = "stablehlo.bitcast_convert"(%105) : (tensor<2x40x64xui32>) -> tensor<2x40x64xf32>
    %107 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x40x64xf32>
    %108 = "stablehlo.subtract"(%106, %107) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %109 = "stablehlo.subtract"(%80, %79) : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<2x40x64xf32>
    %111 = "stablehlo.multiply"(%108, %110) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %112 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<2x40x64xf32>
    %113 = "stablehlo.add"(%111, %112) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    %114 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<2x40x64xf32>
    %115 = "stablehlo.maximum"(%114, %113) : (tensor<2x40x64xf32>, tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
    "func.return"(%115) : (tensor<2x40x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> (tensor<2x40x64xui32>, tensor<2x40x64xui32>), sym_name = "threefry2x32_2", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<ui32>, %arg11: tensor<ui32>, %arg12: tensor<2x40x64xui32>, %arg13: tensor<2x40x64xui32>):
    %54 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %55 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %56 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %57 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %58 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %59 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %60 = "stablehlo.xor"(%arg10, %arg11) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %61 = "stablehlo.xor"(%60, %57) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %63 = "stablehlo.add"(%arg12, %62) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %64 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %65 = "stablehlo.add"(%arg13, %64) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %66:9 = "stablehlo.while"(%56, %56, %63, %65, %arg11, %61, %arg10, %58, %59) ({
    ^bb0(%arg23: tensor<i32>, %arg24: tensor<i32>, %arg25: tensor<2x40x64xui32>, %arg26: tensor<2x40x64xui32>, %arg27: tensor<ui32>, %arg28: tensor<ui32>, %arg29: tensor<ui32>, %arg30: tensor<4xui32>, %arg31: tensor<4xui32>):
      %69 = "stablehlo.compare"(%arg23, %55) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%69) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<2x40x64xui32>, %arg17: tensor<2x40x64xui32>, %arg18: tensor<ui32>, %arg19: tensor<ui32>, %arg20: tensor<ui32>, %arg21: tensor<4xui32>, %arg22: tensor<4xui32>):
      %67:8 = "func.call"(%arg15, %arg16, %arg17, %arg18, %arg19, %arg20, %arg21, %arg22) <{callee = @closed_call_3}> : (tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %68 = "stablehlo.add"(%arg14, %54) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%68, %67#0, %67#1, %67#2, %67#3, %67#4, %67#5, %67#6, %67#7) : (tensor<i32>, tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%66#2, %66#3) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<2x40x64xui32>, %arg4: tensor<2x40x64xui32>, %arg5: tensor<ui32>, %arg6: tensor<ui32>, %arg7: tensor<ui32>, %arg8: tensor<4xui32>, %arg9: tensor<4xui32>):
    %3 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.add"(%arg2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xui32>) -> tensor<ui32>
    %8 = "stablehlo.add"(%arg3, %arg4) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %9 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %10 = "stablehlo.shift_left"(%arg4, %9) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %11 = "stablehlo.subtract"(%3, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %13 = "stablehlo.shift_right_logical"(%arg4, %12) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %14 = "stablehlo.or"(%10, %13) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %15 = "stablehlo.xor"(%8, %14) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %16 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %17 = "stablehlo.reshape"(%16) : (tensor<1xui32>) -> tensor<ui32>
    %18 = "stablehlo.add"(%8, %15) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %19 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %20 = "stablehlo.shift_left"(%15, %19) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %21 = "stablehlo.subtract"(%3, %17) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %23 = "stablehlo.shift_right_logical"(%15, %22) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %24 = "stablehlo.or"(%20, %23) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %25 = "stablehlo.xor"(%18, %24) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %26 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %27 = "stablehlo.reshape"(%26) : (tensor<1xui32>) -> tensor<ui32>
    %28 = "stablehlo.add"(%18, %25) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %29 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %30 = "stablehlo.shift_left"(%25, %29) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %31 = "stablehlo.subtract"(%3, %27) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %33 = "stablehlo.shift_right_logical"(%25, %32) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %34 = "stablehlo.or"(%30, %33) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %35 = "stablehlo.xor"(%28, %34) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %36 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %37 = "stablehlo.reshape"(%36) : (tensor<1xui32>) -> tensor<ui32>
    %38 = "stablehlo.add"(%28, %35) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %39 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %40 = "stablehlo.shift_left"(%35, %39) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %41 = "stablehlo.subtract"(%3, %37) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %43 = "stablehlo.shift_right_logical"(%35, %42) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %44 = "stablehlo.or"(%40, %43) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %45 = "stablehlo.xor"(%38, %44) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %47 = "stablehlo.add"(%38, %46) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    %50 = "stablehlo.add"(%arg2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %51 = "stablehlo.convert"(%50) : (tensor<i32>) -> tensor<ui32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x40x64xui32>
    %53 = "stablehlo.add"(%49, %52) : (tensor<2x40x64xui32>, tensor<2x40x64xui32>) -> tensor<2x40x64xui32>
    "func.return"(%5, %47, %53, %arg6, %arg7, %arg5, %arg9, %arg8) : (tensor<i32>, tensor<2x40x64xui32>, tensor<2x40x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>, sym_name = "_where_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x4x40x40xi1>, %arg1: tensor<2x4x40x40xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    "func.return"(%2) : (tensor<2x4x40x40xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

