"builtin.module"() <{sym_name = "jit_layer"}> ({
  "func.func"() <{arg_attrs = [{tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [["tp"], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [["tp"], [], []]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], ["tp"]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], [], []]}, {tp.sharding = [[], []]}, {tp.sharding = [[], []]}], function_type = (tensor<4096xf32>, tensor<4096xf32>, tensor<11008x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x8x128xbf16>, tensor<32x128x4096xbf16>, tensor<4096x32x128xbf16>, tensor<4096x11008xbf16>, tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>, tensor<1x2048xi1>, tensor<2x2xui32>) -> tensor<1x2048x4096xbf16>, res_attrs = [{tp.sharding = [[], [], []]}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg74: tensor<4096xf32>, %arg75: tensor<4096xf32>, %arg76: tensor<11008x4096xbf16>, %arg77: tensor<4096xf32>, %arg78: tensor<4096xf32>, %arg79: tensor<4096x8x128xbf16>, %arg80: tensor<32x128x4096xbf16>, %arg81: tensor<4096x32x128xbf16>, %arg82: tensor<4096x11008xbf16>, %arg83: tensor<4096x8x128xbf16>, %arg84: tensor<1x2048x4096xbf16>, %arg85: tensor<1x2048xi1>, %arg86: tensor<2x2xui32>):
    %253 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %254 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %255 = "stablehlo.constant"() <{value = dense<7.968750e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %256 = "stablehlo.constant"() <{value = dense<4.467770e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %257 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %258 = "stablehlo.constant"() <{value = dense<8.984370e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %259 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %260 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %261 = "stablehlo.constant"() <{value = dense<-3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %262 = "stablehlo.constant"() <{value = dense<8.837890e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %263 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %264 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %266 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %267 = "stablehlo.slice"(%arg86) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %268 = "stablehlo.reshape"(%267) : (tensor<1x2xui32>) -> tensor<2xui32>
    %269 = "stablehlo.slice"(%arg86) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %270 = "stablehlo.reshape"(%269) : (tensor<1x2xui32>) -> tensor<2xui32>
    %271 = "stablehlo.convert"(%arg84) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %272 = "stablehlo.reduce"(%271, %266) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg97: tensor<f32>, %arg98: tensor<f32>):
      %391 = "stablehlo.add"(%arg97, %arg98) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%391) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %273 = "stablehlo.broadcast_in_dim"(%272) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %274 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %275 = "stablehlo.divide"(%273, %274) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %276 = "stablehlo.broadcast_in_dim"(%275) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %277 = "stablehlo.subtract"(%271, %276) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %278 = "stablehlo.multiply"(%277, %277) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %279 = "stablehlo.reduce"(%278, %266) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg95: tensor<f32>, %arg96: tensor<f32>):
      %390 = "stablehlo.add"(%arg95, %arg96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%390) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %280 = "stablehlo.broadcast_in_dim"(%279) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %281 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %282 = "stablehlo.divide"(%280, %281) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %283 = "stablehlo.broadcast_in_dim"(%275) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %284 = "stablehlo.subtract"(%271, %283) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %285 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %286 = "stablehlo.add"(%282, %285) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %287 = "stablehlo.rsqrt"(%286) : (tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %288 = "stablehlo.broadcast_in_dim"(%287) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %289 = "stablehlo.multiply"(%284, %288) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %290 = "stablehlo.broadcast_in_dim"(%arg77) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %291 = "stablehlo.broadcast_in_dim"(%290) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %292 = "stablehlo.multiply"(%289, %291) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %293 = "stablehlo.broadcast_in_dim"(%arg74) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %294 = "stablehlo.broadcast_in_dim"(%293) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %295 = "stablehlo.add"(%292, %294) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %296 = "stablehlo.convert"(%295) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %297 = "stablehlo.dot_general"(%arg81, %296) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x32x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<32x128x1x2048xbf16>
    %298 = "stablehlo.transpose"(%297) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<32x128x1x2048xbf16>) -> tensor<1x32x2048x128xbf16>
    %299 = "stablehlo.dot_general"(%arg79, %296) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x1x2048xbf16>
    %300 = "stablehlo.transpose"(%299) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<8x128x1x2048xbf16>) -> tensor<1x8x2048x128xbf16>
    %301 = "stablehlo.dot_general"(%arg83, %296) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x1x2048xbf16>
    %302 = "stablehlo.transpose"(%301) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<8x128x1x2048xbf16>) -> tensor<1x8x2048x128xbf16>
    %303 = "stablehlo.broadcast_in_dim"(%300) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<1x8x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %304 = "stablehlo.reshape"(%303) : (tensor<1x8x4x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %305 = "stablehlo.broadcast_in_dim"(%302) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<1x8x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %306 = "stablehlo.reshape"(%305) : (tensor<1x8x4x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %307 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2048x2048xi1>
    %308 = "func.call"(%307) <{callee = @tril}> : (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    %309 = "stablehlo.broadcast_in_dim"(%308) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<2048x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %310 = "stablehlo.broadcast_in_dim"(%arg85) <{broadcast_dimensions = array<i64: 0, 3>}> : (tensor<1x2048xi1>) -> tensor<1x1x1x2048xi1>
    %311 = "stablehlo.broadcast_in_dim"(%310) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %312 = "stablehlo.and"(%309, %311) : (tensor<1x1x2048x2048xi1>, tensor<1x1x2048x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %313 = "stablehlo.dot_general"(%298, %304) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<1x32x2048x128xbf16>, tensor<1x32x2048x128xbf16>) -> tensor<1x32x2048x2048xbf16>
    %314 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %315 = "stablehlo.multiply"(%313, %314) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %316 = "stablehlo.convert"(%315) : (tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xf32>
    %317 = "func.call"(%312, %316, %261) <{callee = @_where}> : (tensor<1x1x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %318 = "stablehlo.reduce"(%317, %260) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg93: tensor<f32>, %arg94: tensor<f32>):
      %389 = "stablehlo.maximum"(%arg93, %arg94) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%389) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048xf32>
    %319 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048xf32>
    %320 = "stablehlo.maximum"(%319, %318) : (tensor<1x32x2048xf32>, tensor<1x32x2048xf32>) -> tensor<1x32x2048xf32>
    %321 = "stablehlo.broadcast_in_dim"(%320) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x1xf32>
    %322 = "stablehlo.broadcast_in_dim"(%321) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %323 = "stablehlo.subtract"(%317, %322) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %324 = "stablehlo.exponential"(%323) : (tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %325 = "stablehlo.reduce"(%324, %266) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg91: tensor<f32>, %arg92: tensor<f32>):
      %388 = "stablehlo.add"(%arg91, %arg92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%388) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048xf32>
    %326 = "stablehlo.broadcast_in_dim"(%325) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x1xf32>
    %327 = "stablehlo.broadcast_in_dim"(%326) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %328 = "stablehlo.divide"(%324, %327) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %329 = "stablehlo.convert"(%328) : (tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xbf16>
    %330 = "func.call"(%268, %259) <{callee = @_bernoulli}> : (tensor<2xui32>, tensor<f32>) -> tensor<1x32x2048x2048xi1>
    %331 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %332 = "stablehlo.divide"(%329, %331) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %333 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %334 = "stablehlo.select"(%330, %332, %333) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %335 = "stablehlo.dot_general"(%306, %334) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<1x32x2048x128xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x128x2048xbf16>
    %336 = "stablehlo.transpose"(%335) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x32x128x2048xbf16>) -> tensor<1x2048x32x128xbf16>
    %337 = "stablehlo.dot_general"(%336, %arg80) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3, 2], rhs_contracting_dimensions = [1, 0]>}> : (tensor<1x2048x32x128xbf16>, tensor<32x128x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %338 = "stablehlo.add"(%arg84, %337) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %339 = "stablehlo.convert"(%338) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %340 = "stablehlo.reduce"(%339, %266) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg89: tensor<f32>, %arg90: tensor<f32>):
      %387 = "stablehlo.add"(%arg89, %arg90) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%387) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %341 = "stablehlo.broadcast_in_dim"(%340) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %342 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %343 = "stablehlo.divide"(%341, %342) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %344 = "stablehlo.broadcast_in_dim"(%343) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %345 = "stablehlo.subtract"(%339, %344) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %346 = "stablehlo.multiply"(%345, %345) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %347 = "stablehlo.reduce"(%346, %266) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg87: tensor<f32>, %arg88: tensor<f32>):
      %386 = "stablehlo.add"(%arg87, %arg88) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%386) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %348 = "stablehlo.broadcast_in_dim"(%347) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %349 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %350 = "stablehlo.divide"(%348, %349) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %351 = "stablehlo.broadcast_in_dim"(%343) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %352 = "stablehlo.subtract"(%339, %351) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %353 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %354 = "stablehlo.add"(%350, %353) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %355 = "stablehlo.rsqrt"(%354) : (tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %356 = "stablehlo.broadcast_in_dim"(%355) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %357 = "stablehlo.multiply"(%352, %356) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %358 = "stablehlo.broadcast_in_dim"(%arg78) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %359 = "stablehlo.broadcast_in_dim"(%358) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %360 = "stablehlo.multiply"(%357, %359) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %361 = "stablehlo.broadcast_in_dim"(%arg75) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %362 = "stablehlo.broadcast_in_dim"(%361) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %363 = "stablehlo.add"(%360, %362) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %364 = "stablehlo.convert"(%363) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %365 = "stablehlo.dot_general"(%364, %arg82) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x2048x4096xbf16>, tensor<4096x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %366 = "stablehlo.multiply"(%365, %365) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %367 = "stablehlo.multiply"(%366, %365) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %368 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %369 = "stablehlo.multiply"(%368, %367) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %370 = "stablehlo.add"(%365, %369) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %371 = "stablehlo.broadcast_in_dim"(%255) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %372 = "stablehlo.multiply"(%371, %370) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %373 = "stablehlo.tanh"(%372) : (tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %374 = "stablehlo.broadcast_in_dim"(%254) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %375 = "stablehlo.add"(%374, %373) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %376 = "stablehlo.broadcast_in_dim"(%253) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %377 = "stablehlo.multiply"(%376, %375) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %378 = "stablehlo.multiply"(%365, %377) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %379 = "stablehlo.dot_general"(%378, %arg76) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x2048x11008xbf16>, tensor<11008x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %380 = "func.call"(%270, %259) <{callee = @_bernoulli_0}> : (tensor<2xui32>, tensor<f32>) -> tensor<1x2048x4096xi1>
    %381 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %382 = "stablehlo.divide"(%379, %381) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %383 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %384 = "stablehlo.select"(%380, %382, %383) : (tensor<1x2048x4096xi1>, tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %385 = "stablehlo.add"(%338, %384) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    "func.return"(%385) : (tensor<1x2048x4096xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>, sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg73: tensor<2048x2048xi1>):
    %244 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %245 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %246 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2048x2048xi32>
    %247 = "stablehlo.broadcast_in_dim"(%245) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2048x2048xi32>
    %248 = "stablehlo.add"(%246, %247) : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
    %249 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2048x2048xi32>
    %250 = "stablehlo.compare"(%248, %249) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi1>
    %251 = "stablehlo.broadcast_in_dim"(%244) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2048x2048xi1>
    %252 = "stablehlo.select"(%250, %arg73, %251) : (tensor<2048x2048xi1>, tensor<2048x2048xi1>, tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    "func.return"(%252) : (tensor<2048x2048xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x1x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg70: tensor<1x1x2048x2048xi1>, %arg71: tensor<1x32x2048x2048xf32>, %arg72: tensor<f32>):
    %241 = "stablehlo.broadcast_in_dim"(%arg70) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x2048x2048xi1>) -> tensor<1x32x2048x2048xi1>
    %242 = "stablehlo.broadcast_in_dim"(%arg72) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %243 = "stablehlo.select"(%241, %arg71, %242) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    "func.return"(%243) : (tensor<1x32x2048x2048xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<1x32x2048x2048xi1>, sym_name = "_bernoulli", sym_visibility = "private"}> ({
  ^bb0(%arg68: tensor<2xui32>, %arg69: tensor<f32>):
    %236 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %237 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %238 = "func.call"(%arg68, %236, %237) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %239 = "stablehlo.broadcast_in_dim"(%arg69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %240 = "stablehlo.compare"(%238, %239) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xi1>
    "func.return"(%240) : (tensor<1x32x2048x2048xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>, sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg65: tensor<2xui32>, %arg66: tensor<f32>, %arg67: tensor<f32>):
    %185 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %186 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %187 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %188 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %189 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %190 = "stablehlo.constant"() <{value = dense<2048> : tensor<ui64>}> : () -> tensor<ui64>
    %191 = "stablehlo.constant"() <{value = dense<4194304> : tensor<ui64>}> : () -> tensor<ui64>
    %192 = "stablehlo.constant"() <{value = dense<134217728> : tensor<ui64>}> : () -> tensor<ui64>
    %193 = "stablehlo.convert"(%arg66) : (tensor<f32>) -> tensor<f32>
    %194 = "stablehlo.convert"(%arg67) : (tensor<f32>) -> tensor<f32>
    %195 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %196 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %197 = "stablehlo.slice"(%arg65) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %198 = "stablehlo.reshape"(%197) : (tensor<1xui32>) -> tensor<ui32>
    %199 = "stablehlo.slice"(%arg65) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %200 = "stablehlo.reshape"(%199) : (tensor<1xui32>) -> tensor<ui32>
    %201 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %202 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %203 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %204 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %205 = "stablehlo.broadcast_in_dim"(%192) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %206 = "stablehlo.multiply"(%205, %201) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %207 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %208 = "stablehlo.multiply"(%207, %202) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %209 = "stablehlo.broadcast_in_dim"(%190) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %210 = "stablehlo.multiply"(%209, %203) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %211 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %212 = "stablehlo.multiply"(%211, %204) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %213 = "stablehlo.add"(%206, %208) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %214 = "stablehlo.add"(%213, %210) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %215 = "stablehlo.add"(%214, %212) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %216 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %217 = "stablehlo.shift_right_logical"(%215, %216) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %218 = "stablehlo.convert"(%215) : (tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui32>
    %219 = "stablehlo.convert"(%217) : (tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui32>
    %220:2 = "func.call"(%198, %200, %219, %218) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>)
    %221 = "stablehlo.xor"(%220#0, %220#1) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %222 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %223 = "stablehlo.shift_right_logical"(%221, %222) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %224 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %225 = "stablehlo.or"(%223, %224) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %226 = "stablehlo.bitcast_convert"(%225) : (tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xf32>
    %227 = "stablehlo.broadcast_in_dim"(%185) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %228 = "stablehlo.subtract"(%226, %227) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %229 = "stablehlo.subtract"(%196, %195) : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
    %230 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %231 = "stablehlo.multiply"(%228, %230) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %232 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %233 = "stablehlo.add"(%231, %232) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %234 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %235 = "stablehlo.maximum"(%234, %233) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    "func.return"(%235) : (tensor<1x32x2048x2048xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg43: tensor<ui32>, %arg44: tensor<ui32>, %arg45: tensor<1x32x2048x2048xui32>, %arg46: tensor<1x32x2048x2048xui32>):
    %169 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %170 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %171 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %172 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %173 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %174 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %175 = "stablehlo.xor"(%arg43, %arg44) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %176 = "stablehlo.xor"(%175, %172) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %177 = "stablehlo.broadcast_in_dim"(%arg43) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %178 = "stablehlo.add"(%arg45, %177) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %179 = "stablehlo.broadcast_in_dim"(%arg44) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %180 = "stablehlo.add"(%arg46, %179) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %181:9 = "stablehlo.while"(%171, %171, %178, %180, %arg44, %176, %arg43, %173, %174) ({
    ^bb0(%arg56: tensor<i32>, %arg57: tensor<i32>, %arg58: tensor<1x32x2048x2048xui32>, %arg59: tensor<1x32x2048x2048xui32>, %arg60: tensor<ui32>, %arg61: tensor<ui32>, %arg62: tensor<ui32>, %arg63: tensor<4xui32>, %arg64: tensor<4xui32>):
      %184 = "stablehlo.compare"(%arg56, %170) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%184) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg47: tensor<i32>, %arg48: tensor<i32>, %arg49: tensor<1x32x2048x2048xui32>, %arg50: tensor<1x32x2048x2048xui32>, %arg51: tensor<ui32>, %arg52: tensor<ui32>, %arg53: tensor<ui32>, %arg54: tensor<4xui32>, %arg55: tensor<4xui32>):
      %182:8 = "func.call"(%arg48, %arg49, %arg50, %arg51, %arg52, %arg53, %arg54, %arg55) <{callee = @closed_call}> : (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %183 = "stablehlo.add"(%arg47, %169) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%183, %182#0, %182#1, %182#2, %182#3, %182#4, %182#5, %182#6, %182#7) : (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%181#2, %181#3) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg35: tensor<i32>, %arg36: tensor<1x32x2048x2048xui32>, %arg37: tensor<1x32x2048x2048xui32>, %arg38: tensor<ui32>, %arg39: tensor<ui32>, %arg40: tensor<ui32>, %arg41: tensor<4xui32>, %arg42: tensor<4xui32>):
    %118 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %119 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %120 = "stablehlo.add"(%arg35, %119) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %121 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %122 = "stablehlo.reshape"(%121) : (tensor<1xui32>) -> tensor<ui32>
    %123 = "stablehlo.add"(%arg36, %arg37) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %124 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %125 = "stablehlo.shift_left"(%arg37, %124) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %126 = "stablehlo.subtract"(%118, %122) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %128 = "stablehlo.shift_right_logical"(%arg37, %127) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %129 = "stablehlo.or"(%125, %128) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %130 = "stablehlo.xor"(%123, %129) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %131 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %132 = "stablehlo.reshape"(%131) : (tensor<1xui32>) -> tensor<ui32>
    %133 = "stablehlo.add"(%123, %130) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %134 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %135 = "stablehlo.shift_left"(%130, %134) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %136 = "stablehlo.subtract"(%118, %132) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %138 = "stablehlo.shift_right_logical"(%130, %137) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %139 = "stablehlo.or"(%135, %138) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %140 = "stablehlo.xor"(%133, %139) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %141 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %142 = "stablehlo.reshape"(%141) : (tensor<1xui32>) -> tensor<ui32>
    %143 = "stablehlo.add"(%133, %140) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %144 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %145 = "stablehlo.shift_left"(%140, %144) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %146 = "stablehlo.subtract"(%118, %142) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %147 = "stablehlo.broadcast_in_dim"(%146) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %148 = "stablehlo.shift_right_logical"(%140, %147) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %149 = "stablehlo.or"(%145, %148) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %150 = "stablehlo.xor"(%143, %149) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %151 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %152 = "stablehlo.reshape"(%151) : (tensor<1xui32>) -> tensor<ui32>
    %153 = "stablehlo.add"(%143, %150) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %154 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %155 = "stablehlo.shift_left"(%150, %154) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %156 = "stablehlo.subtract"(%118, %152) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %157 = "stablehlo.broadcast_in_dim"(%156) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %158 = "stablehlo.shift_right_logical"(%150, %157) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %159 = "stablehlo.or"(%155, %158) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %160 = "stablehlo.xor"(%153, %159) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %161 = "stablehlo.broadcast_in_dim"(%arg38) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %162 = "stablehlo.add"(%153, %161) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %163 = "stablehlo.broadcast_in_dim"(%arg39) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %164 = "stablehlo.add"(%160, %163) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %165 = "stablehlo.add"(%arg35, %119) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %166 = "stablehlo.convert"(%165) : (tensor<i32>) -> tensor<ui32>
    %167 = "stablehlo.broadcast_in_dim"(%166) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %168 = "stablehlo.add"(%164, %167) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    "func.return"(%120, %162, %168, %arg39, %arg40, %arg38, %arg42, %arg41) : (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<1x2048x4096xi1>, sym_name = "_bernoulli_0", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<2xui32>, %arg34: tensor<f32>):
    %113 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %115 = "func.call"(%arg33, %113, %114) <{callee = @_uniform_1}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x2048x4096xf32>
    %116 = "stablehlo.broadcast_in_dim"(%arg34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %117 = "stablehlo.compare"(%115, %116) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xi1>
    "func.return"(%117) : (tensor<1x2048x4096xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x2048x4096xf32>, sym_name = "_uniform_1", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<2xui32>, %arg31: tensor<f32>, %arg32: tensor<f32>):
    %67 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %69 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %70 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %71 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %72 = "stablehlo.constant"() <{value = dense<4096> : tensor<ui64>}> : () -> tensor<ui64>
    %73 = "stablehlo.constant"() <{value = dense<8388608> : tensor<ui64>}> : () -> tensor<ui64>
    %74 = "stablehlo.convert"(%arg31) : (tensor<f32>) -> tensor<f32>
    %75 = "stablehlo.convert"(%arg32) : (tensor<f32>) -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %77 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %78 = "stablehlo.slice"(%arg30) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %79 = "stablehlo.reshape"(%78) : (tensor<1xui32>) -> tensor<ui32>
    %80 = "stablehlo.slice"(%arg30) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %81 = "stablehlo.reshape"(%80) : (tensor<1xui32>) -> tensor<ui32>
    %82 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1x2048x4096xui64>
    %83 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x2048x4096xui64>
    %84 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<1x2048x4096xui64>
    %85 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %86 = "stablehlo.multiply"(%85, %82) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %87 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %88 = "stablehlo.multiply"(%87, %83) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %89 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %90 = "stablehlo.multiply"(%89, %84) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %91 = "stablehlo.add"(%86, %88) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %92 = "stablehlo.add"(%91, %90) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %93 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %94 = "stablehlo.shift_right_logical"(%92, %93) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %95 = "stablehlo.convert"(%92) : (tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui32>
    %96 = "stablehlo.convert"(%94) : (tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui32>
    %97:2 = "func.call"(%79, %81, %96, %95) <{callee = @threefry2x32_2}> : (tensor<ui32>, tensor<ui32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>)
    %98 = "stablehlo.xor"(%97#0, %97#1) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %99 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %100 = "stablehlo.shift_right_logical"(%98, %99) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %101 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %102 = "stablehlo.or"(%100, %101) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %103 = "stablehlo.bitcast_convert"(%102) : (tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xf32>
    %104 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %105 = "stablehlo.subtract"(%103, %104) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %106 = "stablehlo.subtract"(%77, %76) : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %108 = "stablehlo.multiply"(%105, %107) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %109 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %110 = "stablehlo.add"(%108, %109) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %111 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %112 = "stablehlo.maximum"(%111, %110) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    "func.return"(%112) : (tensor<1x2048x4096xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>), sym_name = "threefry2x32_2", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<ui32>, %arg9: tensor<ui32>, %arg10: tensor<1x2048x4096xui32>, %arg11: tensor<1x2048x4096xui32>):
    %51 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %52 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %53 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %54 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %55 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %56 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %57 = "stablehlo.xor"(%arg8, %arg9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %58 = "stablehlo.xor"(%57, %54) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %59 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %60 = "stablehlo.add"(%arg10, %59) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %61 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %62 = "stablehlo.add"(%arg11, %61) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %63:9 = "stablehlo.while"(%53, %53, %60, %62, %arg9, %58, %arg8, %55, %56) ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>, %arg23: tensor<1x2048x4096xui32>, %arg24: tensor<1x2048x4096xui32>, %arg25: tensor<ui32>, %arg26: tensor<ui32>, %arg27: tensor<ui32>, %arg28: tensor<4xui32>, %arg29: tensor<4xui32>):
      %66 = "stablehlo.compare"(%arg21, %52) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%66) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<1x2048x4096xui32>, %arg15: tensor<1x2048x4096xui32>, %arg16: tensor<ui32>, %arg17: tensor<ui32>, %arg18: tensor<ui32>, %arg19: tensor<4xui32>, %arg20: tensor<4xui32>):
      %64:8 = "func.call"(%arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20) <{callee = @closed_call_3}> : (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %65 = "stablehlo.add"(%arg12, %51) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%65, %64#0, %64#1, %64#2, %64#3, %64#4, %64#5, %64#6, %64#7) : (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%63#2, %63#3) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<1x2048x4096xui32>, %arg2: tensor<1x2048x4096xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>):
    %0 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %4 = "stablehlo.reshape"(%3) : (tensor<1xui32>) -> tensor<ui32>
    %5 = "stablehlo.add"(%arg1, %arg2) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %7 = "stablehlo.shift_left"(%arg2, %6) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %8 = "stablehlo.subtract"(%0, %4) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %10 = "stablehlo.shift_right_logical"(%arg2, %9) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %11 = "stablehlo.or"(%7, %10) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %12 = "stablehlo.xor"(%5, %11) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1xui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%5, %12) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %18 = "stablehlo.subtract"(%0, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %20 = "stablehlo.shift_right_logical"(%12, %19) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %21 = "stablehlo.or"(%17, %20) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %22 = "stablehlo.xor"(%15, %21) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %23 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %24 = "stablehlo.reshape"(%23) : (tensor<1xui32>) -> tensor<ui32>
    %25 = "stablehlo.add"(%15, %22) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %26 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %27 = "stablehlo.shift_left"(%22, %26) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %28 = "stablehlo.subtract"(%0, %24) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %30 = "stablehlo.shift_right_logical"(%22, %29) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %31 = "stablehlo.or"(%27, %30) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %32 = "stablehlo.xor"(%25, %31) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %33 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %34 = "stablehlo.reshape"(%33) : (tensor<1xui32>) -> tensor<ui32>
    %35 = "stablehlo.add"(%25, %32) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %36 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %37 = "stablehlo.shift_left"(%32, %36) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %38 = "stablehlo.subtract"(%0, %34) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %40 = "stablehlo.shift_right_logical"(%32, %39) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %41 = "stablehlo.or"(%37, %40) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %42 = "stablehlo.xor"(%35, %41) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %43 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %44 = "stablehlo.add"(%35, %43) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %45 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %46 = "stablehlo.add"(%42, %45) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %47 = "stablehlo.add"(%arg0, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %48 = "stablehlo.convert"(%47) : (tensor<i32>) -> tensor<ui32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %50 = "stablehlo.add"(%46, %49) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    "func.return"(%2, %44, %50, %arg4, %arg5, %arg3, %arg7, %arg6) : (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

