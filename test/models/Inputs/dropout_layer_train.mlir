"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [["tp"], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [["tp"], [], []]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], ["tp"]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], [], []]}, {tp.sharding = [[], []]}, {tp.sharding = [[], []]}, {tp.sharding = [[], [], []]}], function_type = (tensor<4096xf32>, tensor<4096xf32>, tensor<11008x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x8x128xbf16>, tensor<32x128x4096xbf16>, tensor<4096x32x128xbf16>, tensor<4096x11008xbf16>, tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>, tensor<1x2048xi1>, tensor<2x2xui32>, tensor<1x2048x4096xbf16>) -> (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<11008x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x8x128xbf16>, tensor<32x128x4096xbf16>, tensor<4096x32x128xbf16>, tensor<4096x11008xbf16>, tensor<4096x8x128xbf16>), res_attrs = [{tp.sharding = [[], [], []]}, {tp.sharding = [[], [], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [["tp"], []]}, {tp.sharding = [[]]}, {tp.sharding = [[]]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [["tp"], [], []]}, {tp.sharding = [[], ["tp"], []]}, {tp.sharding = [[], ["tp"]]}, {tp.sharding = [[], ["tp"], []]}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg76: tensor<4096xf32>, %arg77: tensor<4096xf32>, %arg78: tensor<11008x4096xbf16>, %arg79: tensor<4096xf32>, %arg80: tensor<4096xf32>, %arg81: tensor<4096x8x128xbf16>, %arg82: tensor<32x128x4096xbf16>, %arg83: tensor<4096x32x128xbf16>, %arg84: tensor<4096x11008xbf16>, %arg85: tensor<4096x8x128xbf16>, %arg86: tensor<1x2048x4096xbf16>, %arg87: tensor<1x2048xi1>, %arg88: tensor<2x2xui32>, %arg89: tensor<1x2048x4096xbf16>):
    %256 = "stablehlo.constant"() <{value = dense<9.994500e-04> : tensor<bf16>}> : () -> tensor<bf16>
    %257 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %258 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %259 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %260 = "stablehlo.constant"() <{value = dense<7.968750e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %261 = "stablehlo.constant"() <{value = dense<4.467770e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %262 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %263 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %264 = "stablehlo.constant"() <{value = dense<8.984370e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %265 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %266 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %267 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %268 = "stablehlo.constant"() <{value = dense<-3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %269 = "stablehlo.constant"() <{value = dense<8.837890e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %270 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %271 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %272 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %273 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %274 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %275 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %276 = "stablehlo.slice"(%arg88) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %277 = "stablehlo.reshape"(%276) : (tensor<1x2xui32>) -> tensor<2xui32>
    %278 = "stablehlo.slice"(%arg88) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %279 = "stablehlo.reshape"(%278) : (tensor<1x2xui32>) -> tensor<2xui32>
    %280 = "stablehlo.convert"(%arg86) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %281 = "stablehlo.reduce"(%280, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg144: tensor<f32>, %arg145: tensor<f32>):
      %621 = "stablehlo.add"(%arg144, %arg145) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%621) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %282 = "stablehlo.broadcast_in_dim"(%281) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %283 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %284 = "stablehlo.divide"(%282, %283) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %285 = "stablehlo.broadcast_in_dim"(%284) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %286 = "stablehlo.subtract"(%280, %285) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %287 = "stablehlo.multiply"(%286, %286) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %288 = "stablehlo.broadcast_in_dim"(%273) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %289 = "stablehlo.multiply"(%288, %286) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %290 = "stablehlo.reduce"(%287, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg142: tensor<f32>, %arg143: tensor<f32>):
      %620 = "stablehlo.add"(%arg142, %arg143) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%620) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %291 = "stablehlo.broadcast_in_dim"(%290) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %292 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %293 = "stablehlo.divide"(%291, %292) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %294 = "stablehlo.broadcast_in_dim"(%284) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %295 = "stablehlo.subtract"(%280, %294) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %296 = "stablehlo.broadcast_in_dim"(%272) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %297 = "stablehlo.add"(%293, %296) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %298 = "stablehlo.rsqrt"(%297) : (tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %299 = "stablehlo.divide"(%298, %297) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %300 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %301 = "stablehlo.multiply"(%300, %299) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %302 = "stablehlo.broadcast_in_dim"(%298) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %303 = "stablehlo.multiply"(%295, %302) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %304 = "stablehlo.broadcast_in_dim"(%arg79) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %305 = "stablehlo.broadcast_in_dim"(%304) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %306 = "stablehlo.multiply"(%303, %305) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %307 = "stablehlo.broadcast_in_dim"(%arg76) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %308 = "stablehlo.broadcast_in_dim"(%307) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %309 = "stablehlo.add"(%306, %308) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %310 = "stablehlo.convert"(%309) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %311 = "stablehlo.dot_general"(%arg83, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x32x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<32x128x1x2048xbf16>
    %312 = "stablehlo.transpose"(%311) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<32x128x1x2048xbf16>) -> tensor<1x32x2048x128xbf16>
    %313 = "stablehlo.dot_general"(%arg81, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x1x2048xbf16>
    %314 = "stablehlo.transpose"(%313) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<8x128x1x2048xbf16>) -> tensor<1x8x2048x128xbf16>
    %315 = "stablehlo.dot_general"(%arg85, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<4096x8x128xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x1x2048xbf16>
    %316 = "stablehlo.transpose"(%315) <{permutation = array<i64: 2, 0, 3, 1>}> : (tensor<8x128x1x2048xbf16>) -> tensor<1x8x2048x128xbf16>
    %317 = "stablehlo.broadcast_in_dim"(%314) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<1x8x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %318 = "stablehlo.reshape"(%317) : (tensor<1x8x4x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %319 = "stablehlo.broadcast_in_dim"(%316) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<1x8x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %320 = "stablehlo.reshape"(%319) : (tensor<1x8x4x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %321 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2048x2048xi1>
    %322 = "func.call"(%321) <{callee = @tril}> : (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    %323 = "stablehlo.broadcast_in_dim"(%322) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<2048x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %324 = "stablehlo.broadcast_in_dim"(%arg87) <{broadcast_dimensions = array<i64: 0, 3>}> : (tensor<1x2048xi1>) -> tensor<1x1x1x2048xi1>
    %325 = "stablehlo.broadcast_in_dim"(%324) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %326 = "stablehlo.and"(%323, %325) : (tensor<1x1x2048x2048xi1>, tensor<1x1x2048x2048xi1>) -> tensor<1x1x2048x2048xi1>
    %327 = "stablehlo.dot_general"(%312, %318) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<1x32x2048x128xbf16>, tensor<1x32x2048x128xbf16>) -> tensor<1x32x2048x2048xbf16>
    %328 = "stablehlo.broadcast_in_dim"(%269) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %329 = "stablehlo.multiply"(%327, %328) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %330 = "stablehlo.convert"(%329) : (tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xf32>
    %331:2 = "func.call"(%326, %330, %268) <{callee = @_where}> : (tensor<1x1x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<f32>) -> (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xi1>)
    %332 = "stablehlo.reduce"(%331#0, %267) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg140: tensor<f32>, %arg141: tensor<f32>):
      %619 = "stablehlo.maximum"(%arg140, %arg141) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%619) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048xf32>
    %333 = "stablehlo.broadcast_in_dim"(%267) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048xf32>
    %334 = "stablehlo.maximum"(%333, %332) : (tensor<1x32x2048xf32>, tensor<1x32x2048xf32>) -> tensor<1x32x2048xf32>
    %335 = "stablehlo.broadcast_in_dim"(%334) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x1xf32>
    %336 = "stablehlo.broadcast_in_dim"(%335) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %337 = "stablehlo.subtract"(%331#0, %336) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %338 = "stablehlo.exponential"(%337) : (tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %339 = "stablehlo.reduce"(%338, %275) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg138: tensor<f32>, %arg139: tensor<f32>):
      %618 = "stablehlo.add"(%arg138, %arg139) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%618) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048xf32>
    %340 = "stablehlo.broadcast_in_dim"(%339) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x1xf32>
    %341 = "stablehlo.broadcast_in_dim"(%340) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %342 = "stablehlo.divide"(%338, %341) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %343 = "stablehlo.multiply"(%340, %340) : (tensor<1x32x2048x1xf32>, tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x1xf32>
    %344 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x1xf32>
    %345 = "stablehlo.divide"(%344, %343) : (tensor<1x32x2048x1xf32>, tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x1xf32>
    %346 = "stablehlo.convert"(%342) : (tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xbf16>
    %347 = "func.call"(%277, %265) <{callee = @_bernoulli}> : (tensor<2xui32>, tensor<f32>) -> tensor<1x32x2048x2048xi1>
    %348 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %349 = "stablehlo.divide"(%346, %348) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %350 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %351 = "stablehlo.select"(%347, %349, %350) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %352 = "stablehlo.dot_general"(%320, %351) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<1x32x2048x128xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x128x2048xbf16>
    %353 = "stablehlo.transpose"(%352) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x32x128x2048xbf16>) -> tensor<1x2048x32x128xbf16>
    %354 = "stablehlo.dot_general"(%353, %arg82) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3, 2], rhs_contracting_dimensions = [1, 0]>}> : (tensor<1x2048x32x128xbf16>, tensor<32x128x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %355 = "stablehlo.add"(%arg86, %354) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %356 = "stablehlo.convert"(%355) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %357 = "stablehlo.reduce"(%356, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg136: tensor<f32>, %arg137: tensor<f32>):
      %617 = "stablehlo.add"(%arg136, %arg137) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%617) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %358 = "stablehlo.broadcast_in_dim"(%357) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %359 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %360 = "stablehlo.divide"(%358, %359) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %361 = "stablehlo.broadcast_in_dim"(%360) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %362 = "stablehlo.subtract"(%356, %361) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %363 = "stablehlo.multiply"(%362, %362) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %364 = "stablehlo.broadcast_in_dim"(%273) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %365 = "stablehlo.multiply"(%364, %362) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %366 = "stablehlo.reduce"(%363, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg134: tensor<f32>, %arg135: tensor<f32>):
      %616 = "stablehlo.add"(%arg134, %arg135) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%616) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %367 = "stablehlo.broadcast_in_dim"(%366) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %368 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %369 = "stablehlo.divide"(%367, %368) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %370 = "stablehlo.broadcast_in_dim"(%360) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %371 = "stablehlo.subtract"(%356, %370) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %372 = "stablehlo.broadcast_in_dim"(%272) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %373 = "stablehlo.add"(%369, %372) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %374 = "stablehlo.rsqrt"(%373) : (tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %375 = "stablehlo.divide"(%374, %373) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %376 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %377 = "stablehlo.multiply"(%376, %375) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %378 = "stablehlo.broadcast_in_dim"(%374) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %379 = "stablehlo.multiply"(%371, %378) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %380 = "stablehlo.broadcast_in_dim"(%arg80) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %381 = "stablehlo.broadcast_in_dim"(%380) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %382 = "stablehlo.multiply"(%379, %381) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %383 = "stablehlo.broadcast_in_dim"(%arg77) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4096xf32>) -> tensor<1x1x4096xf32>
    %384 = "stablehlo.broadcast_in_dim"(%383) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %385 = "stablehlo.add"(%382, %384) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %386 = "stablehlo.convert"(%385) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %387 = "stablehlo.dot_general"(%386, %arg84) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x2048x4096xbf16>, tensor<4096x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %388 = "stablehlo.multiply"(%387, %387) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %389 = "stablehlo.multiply"(%388, %387) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %390 = "stablehlo.multiply"(%387, %387) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %391 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %392 = "stablehlo.multiply"(%391, %390) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %393 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %394 = "stablehlo.multiply"(%393, %389) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %395 = "stablehlo.add"(%387, %394) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %396 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %397 = "stablehlo.multiply"(%396, %395) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %398 = "stablehlo.tanh"(%397) : (tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %399 = "stablehlo.broadcast_in_dim"(%259) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %400 = "stablehlo.subtract"(%399, %398) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %401 = "stablehlo.broadcast_in_dim"(%259) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %402 = "stablehlo.add"(%401, %398) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %403 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %404 = "stablehlo.multiply"(%403, %402) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %405 = "stablehlo.multiply"(%387, %404) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %406 = "stablehlo.dot_general"(%405, %arg78) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x2048x11008xbf16>, tensor<11008x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %407 = "func.call"(%279, %265) <{callee = @_bernoulli_0}> : (tensor<2xui32>, tensor<f32>) -> tensor<1x2048x4096xi1>
    %408 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %409 = "stablehlo.divide"(%406, %408) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %410 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %411 = "stablehlo.select"(%407, %409, %410) : (tensor<1x2048x4096xi1>, tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %412 = "stablehlo.add"(%355, %411) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %413 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %414 = "stablehlo.select"(%407, %arg89, %413) : (tensor<1x2048x4096xi1>, tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %415 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x4096xbf16>
    %416 = "stablehlo.divide"(%414, %415) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %417 = "stablehlo.dot_general"(%416, %405) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<1x2048x4096xbf16>, tensor<1x2048x11008xbf16>) -> tensor<4096x11008xbf16>
    %418 = "stablehlo.transpose"(%417) <{permutation = array<i64: 1, 0>}> : (tensor<4096x11008xbf16>) -> tensor<11008x4096xbf16>
    %419 = "stablehlo.dot_general"(%416, %arg78) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x2048x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<1x2048x11008xbf16>
    %420 = "stablehlo.multiply"(%387, %419) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %421 = "stablehlo.multiply"(%419, %404) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %422 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %423 = "stablehlo.multiply"(%422, %420) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %424 = "stablehlo.multiply"(%423, %400) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %425 = "stablehlo.multiply"(%424, %398) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %426 = "stablehlo.add"(%424, %425) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %427 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %428 = "stablehlo.multiply"(%427, %426) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %429 = "stablehlo.add"(%421, %428) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %430 = "stablehlo.broadcast_in_dim"(%261) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x2048x11008xbf16>
    %431 = "stablehlo.multiply"(%430, %428) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %432 = "stablehlo.multiply"(%431, %392) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %433 = "stablehlo.add"(%429, %432) : (tensor<1x2048x11008xbf16>, tensor<1x2048x11008xbf16>) -> tensor<1x2048x11008xbf16>
    %434 = "stablehlo.dot_general"(%433, %386) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<1x2048x11008xbf16>, tensor<1x2048x4096xbf16>) -> tensor<11008x4096xbf16>
    %435 = "stablehlo.transpose"(%434) <{permutation = array<i64: 1, 0>}> : (tensor<11008x4096xbf16>) -> tensor<4096x11008xbf16>
    %436 = "stablehlo.dot_general"(%433, %arg84) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x2048x11008xbf16>, tensor<4096x11008xbf16>) -> tensor<1x2048x4096xbf16>
    %437 = "stablehlo.convert"(%436) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %438 = "stablehlo.reduce"(%437, %275) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg132: tensor<f32>, %arg133: tensor<f32>):
      %615 = "stablehlo.add"(%arg132, %arg133) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%615) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x4096xf32>
    %439 = "stablehlo.reshape"(%438) : (tensor<1x4096xf32>) -> tensor<1x1x4096xf32>
    %440 = "stablehlo.reduce"(%439, %275) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg130: tensor<f32>, %arg131: tensor<f32>):
      %614 = "stablehlo.add"(%arg130, %arg131) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%614) : (tensor<f32>) -> ()
    }) : (tensor<1x1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %441 = "stablehlo.multiply"(%379, %437) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %442 = "stablehlo.reduce"(%441, %275) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg128: tensor<f32>, %arg129: tensor<f32>):
      %613 = "stablehlo.add"(%arg128, %arg129) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%613) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x4096xf32>
    %443 = "stablehlo.reshape"(%442) : (tensor<1x4096xf32>) -> tensor<1x1x4096xf32>
    %444 = "stablehlo.broadcast_in_dim"(%380) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %445 = "stablehlo.multiply"(%437, %444) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %446 = "stablehlo.reduce"(%443, %275) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg126: tensor<f32>, %arg127: tensor<f32>):
      %612 = "stablehlo.add"(%arg126, %arg127) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%612) : (tensor<f32>) -> ()
    }) : (tensor<1x1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %447 = "stablehlo.multiply"(%371, %445) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %448 = "stablehlo.reduce"(%447, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg124: tensor<f32>, %arg125: tensor<f32>):
      %611 = "stablehlo.add"(%arg124, %arg125) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%611) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %449 = "stablehlo.reshape"(%448) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %450 = "stablehlo.broadcast_in_dim"(%374) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %451 = "stablehlo.multiply"(%445, %450) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %452 = "stablehlo.multiply"(%449, %377) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %453 = "stablehlo.negate"(%451) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %454 = "stablehlo.reduce"(%453, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg122: tensor<f32>, %arg123: tensor<f32>):
      %610 = "stablehlo.add"(%arg122, %arg123) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%610) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %455 = "stablehlo.reshape"(%454) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %456 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %457 = "stablehlo.divide"(%452, %456) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %458 = "stablehlo.reduce"(%457, %275) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg120: tensor<f32>, %arg121: tensor<f32>):
      %609 = "stablehlo.add"(%arg120, %arg121) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%609) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x1xf32>, tensor<f32>) -> tensor<2048xf32>
    %459 = "stablehlo.broadcast_in_dim"(%458) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2048xf32>) -> tensor<1x2048xf32>
    %460 = "stablehlo.broadcast_in_dim"(%459) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x4096xf32>
    %461 = "stablehlo.multiply"(%460, %365) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %462 = "stablehlo.negate"(%461) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %463 = "stablehlo.reduce"(%462, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg118: tensor<f32>, %arg119: tensor<f32>):
      %608 = "stablehlo.add"(%arg118, %arg119) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%608) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %464 = "stablehlo.reshape"(%463) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %465 = "stablehlo.add"(%451, %461) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %466 = "stablehlo.add"(%455, %464) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %467 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %468 = "stablehlo.divide"(%466, %467) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %469 = "stablehlo.reduce"(%468, %275) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg116: tensor<f32>, %arg117: tensor<f32>):
      %607 = "stablehlo.add"(%arg116, %arg117) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%607) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x1xf32>, tensor<f32>) -> tensor<2048xf32>
    %470 = "stablehlo.broadcast_in_dim"(%469) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2048xf32>) -> tensor<1x2048xf32>
    %471 = "stablehlo.broadcast_in_dim"(%470) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x4096xf32>
    %472 = "stablehlo.add"(%465, %471) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %473 = "stablehlo.convert"(%472) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %474 = "stablehlo.add"(%arg89, %473) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %475 = "stablehlo.dot_general"(%474, %353) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<1x2048x4096xbf16>, tensor<1x2048x32x128xbf16>) -> tensor<4096x32x128xbf16>
    %476 = "stablehlo.transpose"(%475) <{permutation = array<i64: 1, 2, 0>}> : (tensor<4096x32x128xbf16>) -> tensor<32x128x4096xbf16>
    %477 = "stablehlo.dot_general"(%474, %arg82) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<1x2048x4096xbf16>, tensor<32x128x4096xbf16>) -> tensor<1x2048x32x128xbf16>
    %478 = "stablehlo.transpose"(%477) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x2048x32x128xbf16>) -> tensor<1x32x128x2048xbf16>
    %479 = "stablehlo.dot_general"(%478, %320) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<1x32x128x2048xbf16>, tensor<1x32x2048x128xbf16>) -> tensor<1x32x2048x2048xbf16>
    %480 = "stablehlo.dot_general"(%478, %351) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<1x32x128x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x128x2048xbf16>
    %481 = "stablehlo.transpose"(%480) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x32x128x2048xbf16>) -> tensor<1x32x2048x128xbf16>
    %482 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %483 = "stablehlo.select"(%347, %479, %482) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %484 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %485 = "stablehlo.divide"(%483, %484) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %486 = "stablehlo.convert"(%485) : (tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xf32>
    %487 = "stablehlo.broadcast_in_dim"(%345) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %488 = "stablehlo.multiply"(%486, %487) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %489 = "stablehlo.multiply"(%488, %338) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %490 = "stablehlo.reduce"(%489, %275) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg114: tensor<f32>, %arg115: tensor<f32>):
      %606 = "stablehlo.add"(%arg114, %arg115) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%606) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x2048xf32>, tensor<f32>) -> tensor<1x32x2048xf32>
    %491 = "stablehlo.reshape"(%490) : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x1xf32>
    %492 = "stablehlo.negate"(%491) : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x1xf32>
    %493 = "stablehlo.broadcast_in_dim"(%340) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x32x2048x1xf32>) -> tensor<1x32x2048x2048xf32>
    %494 = "stablehlo.divide"(%486, %493) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %495 = "stablehlo.reduce"(%492, %275) <{dimensions = array<i64: 0, 3>}> ({
    ^bb0(%arg112: tensor<f32>, %arg113: tensor<f32>):
      %605 = "stablehlo.add"(%arg112, %arg113) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%605) : (tensor<f32>) -> ()
    }) : (tensor<1x32x2048x1xf32>, tensor<f32>) -> tensor<32x2048xf32>
    %496 = "stablehlo.broadcast_in_dim"(%495) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<32x2048xf32>) -> tensor<1x32x2048xf32>
    %497 = "stablehlo.broadcast_in_dim"(%496) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x32x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %498 = "stablehlo.add"(%494, %497) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %499 = "stablehlo.multiply"(%498, %338) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %500 = "func.call"(%331#1, %499) <{callee = @_where_4}> : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %501 = "stablehlo.convert"(%500) : (tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xbf16>
    %502 = "stablehlo.broadcast_in_dim"(%269) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x32x2048x2048xbf16>
    %503 = "stablehlo.multiply"(%501, %502) : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x2048xbf16>) -> tensor<1x32x2048x2048xbf16>
    %504 = "stablehlo.dot_general"(%503, %312) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %505 = "stablehlo.dot_general"(%503, %318) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<1x32x2048x2048xbf16>, tensor<1x32x2048x128xbf16>) -> tensor<1x32x2048x128xbf16>
    %506 = "stablehlo.reshape"(%481) : (tensor<1x32x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %507 = "stablehlo.reduce"(%506, %263) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg110: tensor<bf16>, %arg111: tensor<bf16>):
      %604 = "stablehlo.add"(%arg110, %arg111) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%604) : (tensor<bf16>) -> ()
    }) : (tensor<1x8x4x2048x128xbf16>, tensor<bf16>) -> tensor<8x2048x128xbf16>
    %508 = "stablehlo.broadcast_in_dim"(%507) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x2048x128xbf16>) -> tensor<1x8x2048x128xbf16>
    %509 = "stablehlo.reshape"(%504) : (tensor<1x32x2048x128xbf16>) -> tensor<1x8x4x2048x128xbf16>
    %510 = "stablehlo.reduce"(%509, %263) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg108: tensor<bf16>, %arg109: tensor<bf16>):
      %603 = "stablehlo.add"(%arg108, %arg109) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%603) : (tensor<bf16>) -> ()
    }) : (tensor<1x8x4x2048x128xbf16>, tensor<bf16>) -> tensor<8x2048x128xbf16>
    %511 = "stablehlo.broadcast_in_dim"(%510) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x2048x128xbf16>) -> tensor<1x8x2048x128xbf16>
    %512 = "stablehlo.transpose"(%508) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<1x8x2048x128xbf16>) -> tensor<8x128x1x2048xbf16>
    %513 = "stablehlo.dot_general"(%512, %arg85) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<8x128x1x2048xbf16>, tensor<4096x8x128xbf16>) -> tensor<1x2048x4096xbf16>
    %514 = "stablehlo.dot_general"(%512, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<8x128x1x2048xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x4096xbf16>
    %515 = "stablehlo.transpose"(%514) <{permutation = array<i64: 2, 0, 1>}> : (tensor<8x128x4096xbf16>) -> tensor<4096x8x128xbf16>
    %516 = "stablehlo.transpose"(%511) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<1x8x2048x128xbf16>) -> tensor<8x128x1x2048xbf16>
    %517 = "stablehlo.dot_general"(%516, %arg81) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<8x128x1x2048xbf16>, tensor<4096x8x128xbf16>) -> tensor<1x2048x4096xbf16>
    %518 = "stablehlo.add"(%513, %517) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %519 = "stablehlo.dot_general"(%516, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<8x128x1x2048xbf16>, tensor<1x2048x4096xbf16>) -> tensor<8x128x4096xbf16>
    %520 = "stablehlo.transpose"(%519) <{permutation = array<i64: 2, 0, 1>}> : (tensor<8x128x4096xbf16>) -> tensor<4096x8x128xbf16>
    %521 = "stablehlo.transpose"(%505) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<1x32x2048x128xbf16>) -> tensor<32x128x1x2048xbf16>
    %522 = "stablehlo.dot_general"(%521, %arg83) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [1, 2]>}> : (tensor<32x128x1x2048xbf16>, tensor<4096x32x128xbf16>) -> tensor<1x2048x4096xbf16>
    %523 = "stablehlo.add"(%518, %522) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %524 = "stablehlo.dot_general"(%521, %310) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [0, 1]>}> : (tensor<32x128x1x2048xbf16>, tensor<1x2048x4096xbf16>) -> tensor<32x128x4096xbf16>
    %525 = "stablehlo.transpose"(%524) <{permutation = array<i64: 2, 0, 1>}> : (tensor<32x128x4096xbf16>) -> tensor<4096x32x128xbf16>
    %526 = "stablehlo.convert"(%523) : (tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xf32>
    %527 = "stablehlo.reduce"(%526, %275) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg106: tensor<f32>, %arg107: tensor<f32>):
      %602 = "stablehlo.add"(%arg106, %arg107) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%602) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x4096xf32>
    %528 = "stablehlo.reshape"(%527) : (tensor<1x4096xf32>) -> tensor<1x1x4096xf32>
    %529 = "stablehlo.reduce"(%528, %275) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg104: tensor<f32>, %arg105: tensor<f32>):
      %601 = "stablehlo.add"(%arg104, %arg105) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%601) : (tensor<f32>) -> ()
    }) : (tensor<1x1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %530 = "stablehlo.multiply"(%303, %526) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %531 = "stablehlo.reduce"(%530, %275) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg102: tensor<f32>, %arg103: tensor<f32>):
      %600 = "stablehlo.add"(%arg102, %arg103) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%600) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x4096xf32>
    %532 = "stablehlo.reshape"(%531) : (tensor<1x4096xf32>) -> tensor<1x1x4096xf32>
    %533 = "stablehlo.broadcast_in_dim"(%304) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x4096xf32>) -> tensor<1x2048x4096xf32>
    %534 = "stablehlo.multiply"(%526, %533) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %535 = "stablehlo.reduce"(%532, %275) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg100: tensor<f32>, %arg101: tensor<f32>):
      %599 = "stablehlo.add"(%arg100, %arg101) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%599) : (tensor<f32>) -> ()
    }) : (tensor<1x1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %536 = "stablehlo.multiply"(%295, %534) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %537 = "stablehlo.reduce"(%536, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg98: tensor<f32>, %arg99: tensor<f32>):
      %598 = "stablehlo.add"(%arg98, %arg99) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%598) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %538 = "stablehlo.reshape"(%537) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %539 = "stablehlo.broadcast_in_dim"(%298) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2048x1xf32>) -> tensor<1x2048x4096xf32>
    %540 = "stablehlo.multiply"(%534, %539) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %541 = "stablehlo.multiply"(%538, %301) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %542 = "stablehlo.negate"(%540) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %543 = "stablehlo.reduce"(%542, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg96: tensor<f32>, %arg97: tensor<f32>):
      %597 = "stablehlo.add"(%arg96, %arg97) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%597) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %544 = "stablehlo.reshape"(%543) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %545 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %546 = "stablehlo.divide"(%541, %545) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %547 = "stablehlo.reduce"(%546, %275) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg94: tensor<f32>, %arg95: tensor<f32>):
      %596 = "stablehlo.add"(%arg94, %arg95) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%596) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x1xf32>, tensor<f32>) -> tensor<2048xf32>
    %548 = "stablehlo.broadcast_in_dim"(%547) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2048xf32>) -> tensor<1x2048xf32>
    %549 = "stablehlo.broadcast_in_dim"(%548) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x4096xf32>
    %550 = "stablehlo.multiply"(%549, %289) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %551 = "stablehlo.negate"(%550) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %552 = "stablehlo.reduce"(%551, %275) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg92: tensor<f32>, %arg93: tensor<f32>):
      %595 = "stablehlo.add"(%arg92, %arg93) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%595) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x4096xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %553 = "stablehlo.reshape"(%552) : (tensor<1x2048xf32>) -> tensor<1x2048x1xf32>
    %554 = "stablehlo.add"(%540, %550) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %555 = "stablehlo.add"(%544, %553) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %556 = "stablehlo.broadcast_in_dim"(%274) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x1xf32>
    %557 = "stablehlo.divide"(%555, %556) : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>) -> tensor<1x2048x1xf32>
    %558 = "stablehlo.reduce"(%557, %275) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%arg90: tensor<f32>, %arg91: tensor<f32>):
      %594 = "stablehlo.add"(%arg90, %arg91) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%594) : (tensor<f32>) -> ()
    }) : (tensor<1x2048x1xf32>, tensor<f32>) -> tensor<2048xf32>
    %559 = "stablehlo.broadcast_in_dim"(%558) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2048xf32>) -> tensor<1x2048xf32>
    %560 = "stablehlo.broadcast_in_dim"(%559) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2048xf32>) -> tensor<1x2048x4096xf32>
    %561 = "stablehlo.add"(%554, %560) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %562 = "stablehlo.convert"(%561) : (tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xbf16>
    %563 = "stablehlo.add"(%474, %562) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>) -> tensor<1x2048x4096xbf16>
    %564 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4096xf32>
    %565 = "stablehlo.multiply"(%564, %529) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %566 = "stablehlo.subtract"(%arg76, %565) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %567 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4096xf32>
    %568 = "stablehlo.multiply"(%567, %440) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %569 = "stablehlo.subtract"(%arg77, %568) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %570 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<11008x4096xbf16>
    %571 = "stablehlo.multiply"(%570, %418) : (tensor<11008x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<11008x4096xbf16>
    %572 = "stablehlo.subtract"(%arg78, %571) : (tensor<11008x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<11008x4096xbf16>
    %573 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4096xf32>
    %574 = "stablehlo.multiply"(%573, %535) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %575 = "stablehlo.subtract"(%arg79, %574) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %576 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4096xf32>
    %577 = "stablehlo.multiply"(%576, %446) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %578 = "stablehlo.subtract"(%arg80, %577) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %579 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4096x8x128xbf16>
    %580 = "stablehlo.multiply"(%579, %520) : (tensor<4096x8x128xbf16>, tensor<4096x8x128xbf16>) -> tensor<4096x8x128xbf16>
    %581 = "stablehlo.subtract"(%arg81, %580) : (tensor<4096x8x128xbf16>, tensor<4096x8x128xbf16>) -> tensor<4096x8x128xbf16>
    %582 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<32x128x4096xbf16>
    %583 = "stablehlo.multiply"(%582, %476) : (tensor<32x128x4096xbf16>, tensor<32x128x4096xbf16>) -> tensor<32x128x4096xbf16>
    %584 = "stablehlo.subtract"(%arg82, %583) : (tensor<32x128x4096xbf16>, tensor<32x128x4096xbf16>) -> tensor<32x128x4096xbf16>
    %585 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4096x32x128xbf16>
    %586 = "stablehlo.multiply"(%585, %525) : (tensor<4096x32x128xbf16>, tensor<4096x32x128xbf16>) -> tensor<4096x32x128xbf16>
    %587 = "stablehlo.subtract"(%arg83, %586) : (tensor<4096x32x128xbf16>, tensor<4096x32x128xbf16>) -> tensor<4096x32x128xbf16>
    %588 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4096x11008xbf16>
    %589 = "stablehlo.multiply"(%588, %435) : (tensor<4096x11008xbf16>, tensor<4096x11008xbf16>) -> tensor<4096x11008xbf16>
    %590 = "stablehlo.subtract"(%arg84, %589) : (tensor<4096x11008xbf16>, tensor<4096x11008xbf16>) -> tensor<4096x11008xbf16>
    %591 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4096x8x128xbf16>
    %592 = "stablehlo.multiply"(%591, %515) : (tensor<4096x8x128xbf16>, tensor<4096x8x128xbf16>) -> tensor<4096x8x128xbf16>
    %593 = "stablehlo.subtract"(%arg85, %592) : (tensor<4096x8x128xbf16>, tensor<4096x8x128xbf16>) -> tensor<4096x8x128xbf16>
    "func.return"(%412, %563, %566, %569, %572, %575, %578, %581, %584, %587, %590, %593) : (tensor<1x2048x4096xbf16>, tensor<1x2048x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<11008x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x8x128xbf16>, tensor<32x128x4096xbf16>, tensor<4096x32x128xbf16>, tensor<4096x11008xbf16>, tensor<4096x8x128xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>, sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg75: tensor<2048x2048xi1>):
    %247 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %248 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %249 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2048x2048xi32>
    %250 = "stablehlo.broadcast_in_dim"(%248) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2048x2048xi32>
    %251 = "stablehlo.add"(%249, %250) : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
    %252 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2048x2048xi32>
    %253 = "stablehlo.compare"(%251, %252) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi1>
    %254 = "stablehlo.broadcast_in_dim"(%247) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2048x2048xi1>
    %255 = "stablehlo.select"(%253, %arg75, %254) : (tensor<2048x2048xi1>, tensor<2048x2048xi1>, tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    "func.return"(%255) : (tensor<2048x2048xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x1x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<f32>) -> (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xi1>), sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg72: tensor<1x1x2048x2048xi1>, %arg73: tensor<1x32x2048x2048xf32>, %arg74: tensor<f32>):
    %244 = "stablehlo.broadcast_in_dim"(%arg72) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x2048x2048xi1>) -> tensor<1x32x2048x2048xi1>
    %245 = "stablehlo.broadcast_in_dim"(%arg74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %246 = "stablehlo.select"(%244, %arg73, %245) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    "func.return"(%246, %244) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<1x32x2048x2048xi1>, sym_name = "_bernoulli", sym_visibility = "private"}> ({
  ^bb0(%arg70: tensor<2xui32>, %arg71: tensor<f32>):
    %239 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %241 = "func.call"(%arg70, %239, %240) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %242 = "stablehlo.broadcast_in_dim"(%arg71) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %243 = "stablehlo.compare"(%241, %242) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xi1>
    "func.return"(%243) : (tensor<1x32x2048x2048xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x32x2048x2048xf32>, sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg67: tensor<2xui32>, %arg68: tensor<f32>, %arg69: tensor<f32>):
    %188 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %189 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %190 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %191 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %192 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %193 = "stablehlo.constant"() <{value = dense<2048> : tensor<ui64>}> : () -> tensor<ui64>
    %194 = "stablehlo.constant"() <{value = dense<4194304> : tensor<ui64>}> : () -> tensor<ui64>
    %195 = "stablehlo.constant"() <{value = dense<134217728> : tensor<ui64>}> : () -> tensor<ui64>
    %196 = "stablehlo.convert"(%arg68) : (tensor<f32>) -> tensor<f32>
    %197 = "stablehlo.convert"(%arg69) : (tensor<f32>) -> tensor<f32>
    %198 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %199 = "stablehlo.broadcast_in_dim"(%197) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %200 = "stablehlo.slice"(%arg67) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %201 = "stablehlo.reshape"(%200) : (tensor<1xui32>) -> tensor<ui32>
    %202 = "stablehlo.slice"(%arg67) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %203 = "stablehlo.reshape"(%202) : (tensor<1xui32>) -> tensor<ui32>
    %204 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %205 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %206 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %207 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> tensor<1x32x2048x2048xui64>
    %208 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %209 = "stablehlo.multiply"(%208, %204) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %210 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %211 = "stablehlo.multiply"(%210, %205) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %212 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %213 = "stablehlo.multiply"(%212, %206) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %214 = "stablehlo.broadcast_in_dim"(%192) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %215 = "stablehlo.multiply"(%214, %207) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %216 = "stablehlo.add"(%209, %211) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %217 = "stablehlo.add"(%216, %213) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %218 = "stablehlo.add"(%217, %215) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %219 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x32x2048x2048xui64>
    %220 = "stablehlo.shift_right_logical"(%218, %219) : (tensor<1x32x2048x2048xui64>, tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui64>
    %221 = "stablehlo.convert"(%218) : (tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui32>
    %222 = "stablehlo.convert"(%220) : (tensor<1x32x2048x2048xui64>) -> tensor<1x32x2048x2048xui32>
    %223:2 = "func.call"(%201, %203, %222, %221) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>)
    %224 = "stablehlo.xor"(%223#0, %223#1) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %225 = "stablehlo.broadcast_in_dim"(%190) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %226 = "stablehlo.shift_right_logical"(%224, %225) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %227 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %228 = "stablehlo.or"(%226, %227) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %229 = "stablehlo.bitcast_convert"(%228) : (tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xf32>
    %230 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %231 = "stablehlo.subtract"(%229, %230) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %232 = "stablehlo.subtract"(%199, %198) : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %234 = "stablehlo.multiply"(%231, %233) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %235 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %236 = "stablehlo.add"(%234, %235) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    %237 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xf32>) -> tensor<1x32x2048x2048xf32>
    %238 = "stablehlo.maximum"(%237, %236) : (tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    "func.return"(%238) : (tensor<1x32x2048x2048xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg45: tensor<ui32>, %arg46: tensor<ui32>, %arg47: tensor<1x32x2048x2048xui32>, %arg48: tensor<1x32x2048x2048xui32>):
    %172 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %173 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %174 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %175 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %176 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %177 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %178 = "stablehlo.xor"(%arg45, %arg46) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %179 = "stablehlo.xor"(%178, %175) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %180 = "stablehlo.broadcast_in_dim"(%arg45) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %181 = "stablehlo.add"(%arg47, %180) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %182 = "stablehlo.broadcast_in_dim"(%arg46) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %183 = "stablehlo.add"(%arg48, %182) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %184:9 = "stablehlo.while"(%174, %174, %181, %183, %arg46, %179, %arg45, %176, %177) ({
    ^bb0(%arg58: tensor<i32>, %arg59: tensor<i32>, %arg60: tensor<1x32x2048x2048xui32>, %arg61: tensor<1x32x2048x2048xui32>, %arg62: tensor<ui32>, %arg63: tensor<ui32>, %arg64: tensor<ui32>, %arg65: tensor<4xui32>, %arg66: tensor<4xui32>):
      %187 = "stablehlo.compare"(%arg58, %173) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%187) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg49: tensor<i32>, %arg50: tensor<i32>, %arg51: tensor<1x32x2048x2048xui32>, %arg52: tensor<1x32x2048x2048xui32>, %arg53: tensor<ui32>, %arg54: tensor<ui32>, %arg55: tensor<ui32>, %arg56: tensor<4xui32>, %arg57: tensor<4xui32>):
      %185:8 = "func.call"(%arg50, %arg51, %arg52, %arg53, %arg54, %arg55, %arg56, %arg57) <{callee = @closed_call}> : (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %186 = "stablehlo.add"(%arg49, %172) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%186, %185#0, %185#1, %185#2, %185#3, %185#4, %185#5, %185#6, %185#7) : (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%184#2, %184#3) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg37: tensor<i32>, %arg38: tensor<1x32x2048x2048xui32>, %arg39: tensor<1x32x2048x2048xui32>, %arg40: tensor<ui32>, %arg41: tensor<ui32>, %arg42: tensor<ui32>, %arg43: tensor<4xui32>, %arg44: tensor<4xui32>):
    %121 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %122 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %123 = "stablehlo.add"(%arg37, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %124 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %125 = "stablehlo.reshape"(%124) : (tensor<1xui32>) -> tensor<ui32>
    %126 = "stablehlo.add"(%arg38, %arg39) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %127 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %128 = "stablehlo.shift_left"(%arg39, %127) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %129 = "stablehlo.subtract"(%121, %125) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %131 = "stablehlo.shift_right_logical"(%arg39, %130) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %132 = "stablehlo.or"(%128, %131) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %133 = "stablehlo.xor"(%126, %132) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %134 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %135 = "stablehlo.reshape"(%134) : (tensor<1xui32>) -> tensor<ui32>
    %136 = "stablehlo.add"(%126, %133) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %137 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %138 = "stablehlo.shift_left"(%133, %137) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %139 = "stablehlo.subtract"(%121, %135) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %141 = "stablehlo.shift_right_logical"(%133, %140) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %142 = "stablehlo.or"(%138, %141) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %143 = "stablehlo.xor"(%136, %142) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %144 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %145 = "stablehlo.reshape"(%144) : (tensor<1xui32>) -> tensor<ui32>
    %146 = "stablehlo.add"(%136, %143) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %147 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %148 = "stablehlo.shift_left"(%143, %147) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %149 = "stablehlo.subtract"(%121, %145) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %151 = "stablehlo.shift_right_logical"(%143, %150) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %152 = "stablehlo.or"(%148, %151) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %153 = "stablehlo.xor"(%146, %152) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %154 = "stablehlo.slice"(%arg43) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %155 = "stablehlo.reshape"(%154) : (tensor<1xui32>) -> tensor<ui32>
    %156 = "stablehlo.add"(%146, %153) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %157 = "stablehlo.broadcast_in_dim"(%155) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %159 = "stablehlo.subtract"(%121, %155) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %161 = "stablehlo.shift_right_logical"(%153, %160) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %162 = "stablehlo.or"(%158, %161) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %163 = "stablehlo.xor"(%156, %162) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %164 = "stablehlo.broadcast_in_dim"(%arg40) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %165 = "stablehlo.add"(%156, %164) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %166 = "stablehlo.broadcast_in_dim"(%arg41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %167 = "stablehlo.add"(%163, %166) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    %168 = "stablehlo.add"(%arg37, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %169 = "stablehlo.convert"(%168) : (tensor<i32>) -> tensor<ui32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x32x2048x2048xui32>
    %171 = "stablehlo.add"(%167, %170) : (tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>) -> tensor<1x32x2048x2048xui32>
    "func.return"(%123, %165, %171, %arg41, %arg42, %arg40, %arg44, %arg43) : (tensor<i32>, tensor<1x32x2048x2048xui32>, tensor<1x32x2048x2048xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>) -> tensor<1x2048x4096xi1>, sym_name = "_bernoulli_0", sym_visibility = "private"}> ({
  ^bb0(%arg35: tensor<2xui32>, %arg36: tensor<f32>):
    %116 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118 = "func.call"(%arg35, %116, %117) <{callee = @_uniform_1}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x2048x4096xf32>
    %119 = "stablehlo.broadcast_in_dim"(%arg36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %120 = "stablehlo.compare"(%118, %119) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xi1>
    "func.return"(%120) : (tensor<1x2048x4096xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x2048x4096xf32>, sym_name = "_uniform_1", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<2xui32>, %arg33: tensor<f32>, %arg34: tensor<f32>):
    %70 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %72 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %73 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %74 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %75 = "stablehlo.constant"() <{value = dense<4096> : tensor<ui64>}> : () -> tensor<ui64>
    %76 = "stablehlo.constant"() <{value = dense<8388608> : tensor<ui64>}> : () -> tensor<ui64>
    %77 = "stablehlo.convert"(%arg33) : (tensor<f32>) -> tensor<f32>
    %78 = "stablehlo.convert"(%arg34) : (tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %80 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1xf32>
    %81 = "stablehlo.slice"(%arg32) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %82 = "stablehlo.reshape"(%81) : (tensor<1xui32>) -> tensor<ui32>
    %83 = "stablehlo.slice"(%arg32) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %84 = "stablehlo.reshape"(%83) : (tensor<1xui32>) -> tensor<ui32>
    %85 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1x2048x4096xui64>
    %86 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x2048x4096xui64>
    %87 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<1x2048x4096xui64>
    %88 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %89 = "stablehlo.multiply"(%88, %85) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %90 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %91 = "stablehlo.multiply"(%90, %86) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %92 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %93 = "stablehlo.multiply"(%92, %87) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %94 = "stablehlo.add"(%89, %91) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %95 = "stablehlo.add"(%94, %93) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %96 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<1x2048x4096xui64>
    %97 = "stablehlo.shift_right_logical"(%95, %96) : (tensor<1x2048x4096xui64>, tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui64>
    %98 = "stablehlo.convert"(%95) : (tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui32>
    %99 = "stablehlo.convert"(%97) : (tensor<1x2048x4096xui64>) -> tensor<1x2048x4096xui32>
    %100:2 = "func.call"(%82, %84, %99, %98) <{callee = @threefry2x32_2}> : (tensor<ui32>, tensor<ui32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>)
    %101 = "stablehlo.xor"(%100#0, %100#1) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %102 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %103 = "stablehlo.shift_right_logical"(%101, %102) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %104 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %105 = "stablehlo.or"(%103, %104) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %106 = "stablehlo.bitcast_convert"(%105) : (tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xf32>
    %107 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2048x4096xf32>
    %108 = "stablehlo.subtract"(%106, %107) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %109 = "stablehlo.subtract"(%80, %79) : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %111 = "stablehlo.multiply"(%108, %110) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %112 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %113 = "stablehlo.add"(%111, %112) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    %114 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xf32>) -> tensor<1x2048x4096xf32>
    %115 = "stablehlo.maximum"(%114, %113) : (tensor<1x2048x4096xf32>, tensor<1x2048x4096xf32>) -> tensor<1x2048x4096xf32>
    "func.return"(%115) : (tensor<1x2048x4096xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>), sym_name = "threefry2x32_2", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<ui32>, %arg11: tensor<ui32>, %arg12: tensor<1x2048x4096xui32>, %arg13: tensor<1x2048x4096xui32>):
    %54 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %55 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %56 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %57 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %58 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %59 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %60 = "stablehlo.xor"(%arg10, %arg11) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %61 = "stablehlo.xor"(%60, %57) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %63 = "stablehlo.add"(%arg12, %62) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %64 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %65 = "stablehlo.add"(%arg13, %64) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %66:9 = "stablehlo.while"(%56, %56, %63, %65, %arg11, %61, %arg10, %58, %59) ({
    ^bb0(%arg23: tensor<i32>, %arg24: tensor<i32>, %arg25: tensor<1x2048x4096xui32>, %arg26: tensor<1x2048x4096xui32>, %arg27: tensor<ui32>, %arg28: tensor<ui32>, %arg29: tensor<ui32>, %arg30: tensor<4xui32>, %arg31: tensor<4xui32>):
      %69 = "stablehlo.compare"(%arg23, %55) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%69) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<1x2048x4096xui32>, %arg17: tensor<1x2048x4096xui32>, %arg18: tensor<ui32>, %arg19: tensor<ui32>, %arg20: tensor<ui32>, %arg21: tensor<4xui32>, %arg22: tensor<4xui32>):
      %67:8 = "func.call"(%arg15, %arg16, %arg17, %arg18, %arg19, %arg20, %arg21, %arg22) <{callee = @closed_call_3}> : (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %68 = "stablehlo.add"(%arg14, %54) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%68, %67#0, %67#1, %67#2, %67#3, %67#4, %67#5, %67#6, %67#7) : (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%66#2, %66#3) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<1x2048x4096xui32>, %arg4: tensor<1x2048x4096xui32>, %arg5: tensor<ui32>, %arg6: tensor<ui32>, %arg7: tensor<ui32>, %arg8: tensor<4xui32>, %arg9: tensor<4xui32>):
    %3 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.add"(%arg2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xui32>) -> tensor<ui32>
    %8 = "stablehlo.add"(%arg3, %arg4) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %9 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %10 = "stablehlo.shift_left"(%arg4, %9) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %11 = "stablehlo.subtract"(%3, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %13 = "stablehlo.shift_right_logical"(%arg4, %12) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %14 = "stablehlo.or"(%10, %13) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %15 = "stablehlo.xor"(%8, %14) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %16 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %17 = "stablehlo.reshape"(%16) : (tensor<1xui32>) -> tensor<ui32>
    %18 = "stablehlo.add"(%8, %15) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %19 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %20 = "stablehlo.shift_left"(%15, %19) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %21 = "stablehlo.subtract"(%3, %17) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %23 = "stablehlo.shift_right_logical"(%15, %22) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %24 = "stablehlo.or"(%20, %23) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %25 = "stablehlo.xor"(%18, %24) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %26 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %27 = "stablehlo.reshape"(%26) : (tensor<1xui32>) -> tensor<ui32>
    %28 = "stablehlo.add"(%18, %25) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %29 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %30 = "stablehlo.shift_left"(%25, %29) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %31 = "stablehlo.subtract"(%3, %27) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %33 = "stablehlo.shift_right_logical"(%25, %32) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %34 = "stablehlo.or"(%30, %33) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %35 = "stablehlo.xor"(%28, %34) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %36 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %37 = "stablehlo.reshape"(%36) : (tensor<1xui32>) -> tensor<ui32>
    %38 = "stablehlo.add"(%28, %35) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %39 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %40 = "stablehlo.shift_left"(%35, %39) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %41 = "stablehlo.subtract"(%3, %37) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %43 = "stablehlo.shift_right_logical"(%35, %42) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %44 = "stablehlo.or"(%40, %43) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %45 = "stablehlo.xor"(%38, %44) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %47 = "stablehlo.add"(%38, %46) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    %50 = "stablehlo.add"(%arg2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %51 = "stablehlo.convert"(%50) : (tensor<i32>) -> tensor<ui32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1x2048x4096xui32>
    %53 = "stablehlo.add"(%49, %52) : (tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>) -> tensor<1x2048x4096xui32>
    "func.return"(%5, %47, %53, %arg6, %arg7, %arg5, %arg9, %arg8) : (tensor<i32>, tensor<1x2048x4096xui32>, tensor<1x2048x4096xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>, sym_name = "_where_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x32x2048x2048xi1>, %arg1: tensor<1x32x2048x2048xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x32x2048x2048xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<1x32x2048x2048xi1>, tensor<1x32x2048x2048xf32>, tensor<1x32x2048x2048xf32>) -> tensor<1x32x2048x2048xf32>
    "func.return"(%2) : (tensor<1x32x2048x2048xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

