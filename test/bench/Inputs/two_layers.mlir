#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["tp"=2]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}], function_type = (tensor<64x128xf32>, tensor<128x256xf32>, tensor<256x128xf32>) -> tensor<64x128xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%x: tensor<64x128xf32>, %w1: tensor<128x256xf32>, %w2: tensor<256x128xf32>):
    %zero = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %e1 = "tensor.empty"() : () -> tensor<64x256xf32>
    %f1 = "linalg.fill"(%zero, %e1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: f32, %b: f32):
      "linalg.yield"(%a) : (f32) -> ()
    }) : (f32, tensor<64x256xf32>) -> tensor<64x256xf32>
    %h = "linalg.generic"(%x, %w1, %f1) <{indexing_maps = [#lhs, #rhs, #out], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = "arith.mulf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %s = "arith.addf"(%c, %p) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<64x128xf32>, tensor<128x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %e2 = "tensor.empty"() : () -> tensor<64x128xf32>
    %f2 = "linalg.fill"(%zero, %e2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: f32, %b: f32):
      "linalg.yield"(%a) : (f32) -> ()
    }) : (f32, tensor<64x128xf32>) -> tensor<64x128xf32>
    %y = "linalg.generic"(%h, %w2, %f2) <{indexing_maps = [#lhs, #rhs, #out], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = "arith.mulf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %s = "arith.addf"(%c, %p) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<64x256xf32>, tensor<256x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    "func.return"(%y) : (tensor<64x128xf32>) -> ()
  }) : () -> ()
}) : () -> ()
