// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/random | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/random | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_drawn"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2xui32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<8xi32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg173: tensor<2xui32>, %arg174: tensor<8x16xf32>):
    %595 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %596 = "func.call"(%arg173, %595) <{callee = @_bernoulli}> : (tensor<2xui32>, tensor<f32>) -> tensor<8x16xi1>
    %597 = "stablehlo.convert"(%596) : (tensor<8x16xi1>) -> tensor<8x16xf32>
    %598 = "stablehlo.multiply"(%arg174, %597) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %599 = "func.call"(%arg173) <{callee = @_normal}> : (tensor<2xui32>) -> tensor<8x4xf32>
    %600 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %601 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %602 = "func.call"(%arg173, %600, %601) <{callee = @_uniform_3}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>
    %603 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %604 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %605 = "func.call"(%arg173, %603, %604) <{callee = @_randint}> : (tensor<2xui32>, tensor<i32>, tensor<i32>) -> tensor<8xi32>
    "func.return"(%598, %599, %602, %605) : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<8xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2xui32>, tensor<f32>) -> tensor<8x16xi1>, res_attrs = [{}], sym_name = "_bernoulli", sym_visibility = "private"}> ({
  ^bb0(%arg171: tensor<2xui32>, %arg172: tensor<f32>):
    %590 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %591 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %592 = "func.call"(%arg171, %590, %591) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x16xf32>
    %593 = "stablehlo.broadcast_in_dim"(%arg172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %594 = "stablehlo.compare"(%592, %593) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    "func.return"(%594) : (tensor<8x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x16xf32>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg168: tensor<2xui32>, %arg169: tensor<f32>, %arg170: tensor<f32>):
    %549 = "stablehlo.convert"(%arg169) : (tensor<f32>) -> tensor<f32>
    %550 = "stablehlo.convert"(%arg170) : (tensor<f32>) -> tensor<f32>
    %551 = "stablehlo.broadcast_in_dim"(%549) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %552 = "stablehlo.broadcast_in_dim"(%550) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %553 = "stablehlo.slice"(%arg168) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %554 = "stablehlo.reshape"(%553) : (tensor<1xui32>) -> tensor<ui32>
    %555 = "stablehlo.slice"(%arg168) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %556 = "stablehlo.reshape"(%555) : (tensor<1xui32>) -> tensor<ui32>
    %557 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x16xui64>
    %558 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x16xui64>
    %559 = "stablehlo.constant"() <{value = dense<16> : tensor<ui64>}> : () -> tensor<ui64>
    %560 = "stablehlo.broadcast_in_dim"(%559) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x16xui64>
    %561 = "stablehlo.multiply"(%560, %557) : (tensor<8x16xui64>, tensor<8x16xui64>) -> tensor<8x16xui64>
    %562 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %563 = "stablehlo.broadcast_in_dim"(%562) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x16xui64>
    %564 = "stablehlo.multiply"(%563, %558) : (tensor<8x16xui64>, tensor<8x16xui64>) -> tensor<8x16xui64>
    %565 = "stablehlo.add"(%561, %564) : (tensor<8x16xui64>, tensor<8x16xui64>) -> tensor<8x16xui64>
    %566 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %567 = "stablehlo.broadcast_in_dim"(%566) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x16xui64>
    %568 = "stablehlo.shift_right_logical"(%565, %567) : (tensor<8x16xui64>, tensor<8x16xui64>) -> tensor<8x16xui64>
    %569 = "stablehlo.convert"(%565) : (tensor<8x16xui64>) -> tensor<8x16xui32>
    %570 = "stablehlo.convert"(%568) : (tensor<8x16xui64>) -> tensor<8x16xui32>
    %571:2 = "func.call"(%554, %556, %570, %569) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<8x16xui32>, tensor<8x16xui32>) -> (tensor<8x16xui32>, tensor<8x16xui32>)
    %572 = "stablehlo.xor"(%571#0, %571#1) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %573 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %574 = "stablehlo.broadcast_in_dim"(%573) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %575 = "stablehlo.shift_right_logical"(%572, %574) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %576 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %577 = "stablehlo.broadcast_in_dim"(%576) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %578 = "stablehlo.or"(%575, %577) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %579 = "stablehlo.bitcast_convert"(%578) : (tensor<8x16xui32>) -> tensor<8x16xf32>
    %580 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %581 = "stablehlo.broadcast_in_dim"(%580) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %582 = "stablehlo.subtract"(%579, %581) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %583 = "stablehlo.subtract"(%552, %551) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %584 = "stablehlo.broadcast_in_dim"(%583) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x16xf32>
    %585 = "stablehlo.multiply"(%582, %584) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %586 = "stablehlo.broadcast_in_dim"(%551) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x16xf32>
    %587 = "stablehlo.add"(%585, %586) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %588 = "stablehlo.broadcast_in_dim"(%551) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x16xf32>
    %589 = "stablehlo.maximum"(%588, %587) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%589) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<8x16xui32>, tensor<8x16xui32>) -> (tensor<8x16xui32>, tensor<8x16xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg146: tensor<ui32>, %arg147: tensor<ui32>, %arg148: tensor<8x16xui32>, %arg149: tensor<8x16xui32>):
    %532 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %533 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %534 = "stablehlo.xor"(%arg146, %arg147) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %535 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %536 = "stablehlo.xor"(%534, %535) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %537 = "stablehlo.broadcast_in_dim"(%arg146) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %538 = "stablehlo.add"(%arg148, %537) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %539 = "stablehlo.broadcast_in_dim"(%arg147) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %540 = "stablehlo.add"(%arg149, %539) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %541 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %542 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %543:9 = "stablehlo.while"(%542, %541, %538, %540, %arg147, %536, %arg146, %532, %533) ({
    ^bb0(%arg159: tensor<i32>, %arg160: tensor<i32>, %arg161: tensor<8x16xui32>, %arg162: tensor<8x16xui32>, %arg163: tensor<ui32>, %arg164: tensor<ui32>, %arg165: tensor<ui32>, %arg166: tensor<4xui32>, %arg167: tensor<4xui32>):
      %547 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %548 = "stablehlo.compare"(%arg159, %547) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%548) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg150: tensor<i32>, %arg151: tensor<i32>, %arg152: tensor<8x16xui32>, %arg153: tensor<8x16xui32>, %arg154: tensor<ui32>, %arg155: tensor<ui32>, %arg156: tensor<ui32>, %arg157: tensor<4xui32>, %arg158: tensor<4xui32>):
      %544:8 = "func.call"(%arg151, %arg152, %arg153, %arg154, %arg155, %arg156, %arg157, %arg158) <{callee = @closed_call}> : (tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %545 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %546 = "stablehlo.add"(%arg150, %545) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%546, %544#0, %544#1, %544#2, %544#3, %544#4, %544#5, %544#6, %544#7) : (tensor<i32>, tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%543#2, %543#3) : (tensor<8x16xui32>, tensor<8x16xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg138: tensor<i32>, %arg139: tensor<8x16xui32>, %arg140: tensor<8x16xui32>, %arg141: tensor<ui32>, %arg142: tensor<ui32>, %arg143: tensor<ui32>, %arg144: tensor<4xui32>, %arg145: tensor<4xui32>):
    %477 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %478 = "stablehlo.add"(%arg138, %477) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %479 = "stablehlo.slice"(%arg144) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %480 = "stablehlo.reshape"(%479) : (tensor<1xui32>) -> tensor<ui32>
    %481 = "stablehlo.add"(%arg139, %arg140) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %482 = "stablehlo.broadcast_in_dim"(%480) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %483 = "stablehlo.shift_left"(%arg140, %482) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %484 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %485 = "stablehlo.subtract"(%484, %480) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %486 = "stablehlo.broadcast_in_dim"(%485) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %487 = "stablehlo.shift_right_logical"(%arg140, %486) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %488 = "stablehlo.or"(%483, %487) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %489 = "stablehlo.xor"(%481, %488) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %490 = "stablehlo.slice"(%arg144) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %491 = "stablehlo.reshape"(%490) : (tensor<1xui32>) -> tensor<ui32>
    %492 = "stablehlo.add"(%481, %489) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %493 = "stablehlo.broadcast_in_dim"(%491) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %494 = "stablehlo.shift_left"(%489, %493) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %495 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %496 = "stablehlo.subtract"(%495, %491) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %497 = "stablehlo.broadcast_in_dim"(%496) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %498 = "stablehlo.shift_right_logical"(%489, %497) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %499 = "stablehlo.or"(%494, %498) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %500 = "stablehlo.xor"(%492, %499) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %501 = "stablehlo.slice"(%arg144) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %502 = "stablehlo.reshape"(%501) : (tensor<1xui32>) -> tensor<ui32>
    %503 = "stablehlo.add"(%492, %500) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %504 = "stablehlo.broadcast_in_dim"(%502) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %505 = "stablehlo.shift_left"(%500, %504) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %506 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %507 = "stablehlo.subtract"(%506, %502) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %508 = "stablehlo.broadcast_in_dim"(%507) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %509 = "stablehlo.shift_right_logical"(%500, %508) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %510 = "stablehlo.or"(%505, %509) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %511 = "stablehlo.xor"(%503, %510) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %512 = "stablehlo.slice"(%arg144) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %513 = "stablehlo.reshape"(%512) : (tensor<1xui32>) -> tensor<ui32>
    %514 = "stablehlo.add"(%503, %511) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %515 = "stablehlo.broadcast_in_dim"(%513) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %516 = "stablehlo.shift_left"(%511, %515) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %517 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %518 = "stablehlo.subtract"(%517, %513) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %519 = "stablehlo.broadcast_in_dim"(%518) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %520 = "stablehlo.shift_right_logical"(%511, %519) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %521 = "stablehlo.or"(%516, %520) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %522 = "stablehlo.xor"(%514, %521) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %523 = "stablehlo.broadcast_in_dim"(%arg141) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %524 = "stablehlo.add"(%514, %523) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %525 = "stablehlo.broadcast_in_dim"(%arg142) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %526 = "stablehlo.add"(%522, %525) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %527 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %528 = "stablehlo.add"(%arg138, %527) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %529 = "stablehlo.convert"(%528) : (tensor<i32>) -> tensor<ui32>
    %530 = "stablehlo.broadcast_in_dim"(%529) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %531 = "stablehlo.add"(%526, %530) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    "func.return"(%478, %524, %531, %arg142, %arg143, %arg141, %arg145, %arg144) : (tensor<i32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg137: tensor<2xui32>):
    %476 = "func.call"(%arg137) <{callee = @_normal_real}> : (tensor<2xui32>) -> tensor<8x4xf32>
    "func.return"(%476) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg136: tensor<2xui32>):
    %469 = "stablehlo.constant"() <{value = dense<-0.99999994> : tensor<f32>}> : () -> tensor<f32>
    %470 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %471 = "func.call"(%arg136, %469, %470) <{callee = @_uniform_0}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
    %472 = "chlo.erf_inv"(%471) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %473 = "stablehlo.constant"() <{value = dense<1.41421354> : tensor<f32>}> : () -> tensor<f32>
    %474 = "stablehlo.broadcast_in_dim"(%473) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %475 = "stablehlo.multiply"(%474, %472) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%475) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>, res_attrs = [{}], sym_name = "_uniform_0", sym_visibility = "private"}> ({
  ^bb0(%arg133: tensor<2xui32>, %arg134: tensor<f32>, %arg135: tensor<f32>):
    %430 = "stablehlo.broadcast_in_dim"(%arg134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %431 = "stablehlo.broadcast_in_dim"(%arg135) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %432 = "stablehlo.slice"(%arg133) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %433 = "stablehlo.reshape"(%432) : (tensor<1xui32>) -> tensor<ui32>
    %434 = "stablehlo.slice"(%arg133) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %435 = "stablehlo.reshape"(%434) : (tensor<1xui32>) -> tensor<ui32>
    %436 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x4xui64>
    %437 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x4xui64>
    %438 = "stablehlo.constant"() <{value = dense<4> : tensor<ui64>}> : () -> tensor<ui64>
    %439 = "stablehlo.broadcast_in_dim"(%438) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x4xui64>
    %440 = "stablehlo.multiply"(%439, %436) : (tensor<8x4xui64>, tensor<8x4xui64>) -> tensor<8x4xui64>
    %441 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %442 = "stablehlo.broadcast_in_dim"(%441) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x4xui64>
    %443 = "stablehlo.multiply"(%442, %437) : (tensor<8x4xui64>, tensor<8x4xui64>) -> tensor<8x4xui64>
    %444 = "stablehlo.add"(%440, %443) : (tensor<8x4xui64>, tensor<8x4xui64>) -> tensor<8x4xui64>
    %445 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %446 = "stablehlo.broadcast_in_dim"(%445) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x4xui64>
    %447 = "stablehlo.shift_right_logical"(%444, %446) : (tensor<8x4xui64>, tensor<8x4xui64>) -> tensor<8x4xui64>
    %448 = "stablehlo.convert"(%444) : (tensor<8x4xui64>) -> tensor<8x4xui32>
    %449 = "stablehlo.convert"(%447) : (tensor<8x4xui64>) -> tensor<8x4xui32>
    %450:2 = "func.call"(%433, %435, %449, %448) <{callee = @threefry2x32_1}> : (tensor<ui32>, tensor<ui32>, tensor<8x4xui32>, tensor<8x4xui32>) -> (tensor<8x4xui32>, tensor<8x4xui32>)
    %451 = "stablehlo.xor"(%450#0, %450#1) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %452 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %453 = "stablehlo.broadcast_in_dim"(%452) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %454 = "stablehlo.shift_right_logical"(%451, %453) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %455 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %456 = "stablehlo.broadcast_in_dim"(%455) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %457 = "stablehlo.or"(%454, %456) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %458 = "stablehlo.bitcast_convert"(%457) : (tensor<8x4xui32>) -> tensor<8x4xf32>
    %459 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %460 = "stablehlo.broadcast_in_dim"(%459) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %461 = "stablehlo.subtract"(%458, %460) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %462 = "stablehlo.subtract"(%431, %430) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %463 = "stablehlo.broadcast_in_dim"(%462) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %464 = "stablehlo.multiply"(%461, %463) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %465 = "stablehlo.broadcast_in_dim"(%430) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %466 = "stablehlo.add"(%464, %465) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %467 = "stablehlo.broadcast_in_dim"(%430) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x4xf32>
    %468 = "stablehlo.maximum"(%467, %466) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%468) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<8x4xui32>, tensor<8x4xui32>) -> (tensor<8x4xui32>, tensor<8x4xui32>), sym_name = "threefry2x32_1", sym_visibility = "private"}> ({
  ^bb0(%arg111: tensor<ui32>, %arg112: tensor<ui32>, %arg113: tensor<8x4xui32>, %arg114: tensor<8x4xui32>):
    %413 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %414 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %415 = "stablehlo.xor"(%arg111, %arg112) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %416 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %417 = "stablehlo.xor"(%415, %416) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %418 = "stablehlo.broadcast_in_dim"(%arg111) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %419 = "stablehlo.add"(%arg113, %418) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %420 = "stablehlo.broadcast_in_dim"(%arg112) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %421 = "stablehlo.add"(%arg114, %420) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %422 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %423 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %424:9 = "stablehlo.while"(%423, %422, %419, %421, %arg112, %417, %arg111, %413, %414) ({
    ^bb0(%arg124: tensor<i32>, %arg125: tensor<i32>, %arg126: tensor<8x4xui32>, %arg127: tensor<8x4xui32>, %arg128: tensor<ui32>, %arg129: tensor<ui32>, %arg130: tensor<ui32>, %arg131: tensor<4xui32>, %arg132: tensor<4xui32>):
      %428 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %429 = "stablehlo.compare"(%arg124, %428) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%429) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg115: tensor<i32>, %arg116: tensor<i32>, %arg117: tensor<8x4xui32>, %arg118: tensor<8x4xui32>, %arg119: tensor<ui32>, %arg120: tensor<ui32>, %arg121: tensor<ui32>, %arg122: tensor<4xui32>, %arg123: tensor<4xui32>):
      %425:8 = "func.call"(%arg116, %arg117, %arg118, %arg119, %arg120, %arg121, %arg122, %arg123) <{callee = @closed_call_2}> : (tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %426 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %427 = "stablehlo.add"(%arg115, %426) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%427, %425#0, %425#1, %425#2, %425#3, %425#4, %425#5, %425#6, %425#7) : (tensor<i32>, tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%424#2, %424#3) : (tensor<8x4xui32>, tensor<8x4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_2", sym_visibility = "private"}> ({
  ^bb0(%arg103: tensor<i32>, %arg104: tensor<8x4xui32>, %arg105: tensor<8x4xui32>, %arg106: tensor<ui32>, %arg107: tensor<ui32>, %arg108: tensor<ui32>, %arg109: tensor<4xui32>, %arg110: tensor<4xui32>):
    %358 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %359 = "stablehlo.add"(%arg103, %358) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %360 = "stablehlo.slice"(%arg109) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %361 = "stablehlo.reshape"(%360) : (tensor<1xui32>) -> tensor<ui32>
    %362 = "stablehlo.add"(%arg104, %arg105) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %363 = "stablehlo.broadcast_in_dim"(%361) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %364 = "stablehlo.shift_left"(%arg105, %363) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %365 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %366 = "stablehlo.subtract"(%365, %361) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %367 = "stablehlo.broadcast_in_dim"(%366) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %368 = "stablehlo.shift_right_logical"(%arg105, %367) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %369 = "stablehlo.or"(%364, %368) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %370 = "stablehlo.xor"(%362, %369) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %371 = "stablehlo.slice"(%arg109) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %372 = "stablehlo.reshape"(%371) : (tensor<1xui32>) -> tensor<ui32>
    %373 = "stablehlo.add"(%362, %370) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %374 = "stablehlo.broadcast_in_dim"(%372) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %375 = "stablehlo.shift_left"(%370, %374) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %376 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %377 = "stablehlo.subtract"(%376, %372) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %378 = "stablehlo.broadcast_in_dim"(%377) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %379 = "stablehlo.shift_right_logical"(%370, %378) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %380 = "stablehlo.or"(%375, %379) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %381 = "stablehlo.xor"(%373, %380) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %382 = "stablehlo.slice"(%arg109) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %383 = "stablehlo.reshape"(%382) : (tensor<1xui32>) -> tensor<ui32>
    %384 = "stablehlo.add"(%373, %381) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %385 = "stablehlo.broadcast_in_dim"(%383) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %386 = "stablehlo.shift_left"(%381, %385) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %387 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %388 = "stablehlo.subtract"(%387, %383) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %389 = "stablehlo.broadcast_in_dim"(%388) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %390 = "stablehlo.shift_right_logical"(%381, %389) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %391 = "stablehlo.or"(%386, %390) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %392 = "stablehlo.xor"(%384, %391) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %393 = "stablehlo.slice"(%arg109) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %394 = "stablehlo.reshape"(%393) : (tensor<1xui32>) -> tensor<ui32>
    %395 = "stablehlo.add"(%384, %392) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %396 = "stablehlo.broadcast_in_dim"(%394) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %397 = "stablehlo.shift_left"(%392, %396) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %398 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %399 = "stablehlo.subtract"(%398, %394) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %400 = "stablehlo.broadcast_in_dim"(%399) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %401 = "stablehlo.shift_right_logical"(%392, %400) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %402 = "stablehlo.or"(%397, %401) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %403 = "stablehlo.xor"(%395, %402) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %404 = "stablehlo.broadcast_in_dim"(%arg106) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %405 = "stablehlo.add"(%395, %404) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %406 = "stablehlo.broadcast_in_dim"(%arg107) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %407 = "stablehlo.add"(%403, %406) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    %408 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %409 = "stablehlo.add"(%arg103, %408) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %410 = "stablehlo.convert"(%409) : (tensor<i32>) -> tensor<ui32>
    %411 = "stablehlo.broadcast_in_dim"(%410) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x4xui32>
    %412 = "stablehlo.add"(%407, %411) : (tensor<8x4xui32>, tensor<8x4xui32>) -> tensor<8x4xui32>
    "func.return"(%359, %405, %412, %arg107, %arg108, %arg106, %arg110, %arg109) : (tensor<i32>, tensor<8x4xui32>, tensor<8x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>, res_attrs = [{}], sym_name = "_uniform_3", sym_visibility = "private"}> ({
  ^bb0(%arg100: tensor<2xui32>, %arg101: tensor<f32>, %arg102: tensor<f32>):
    %317 = "stablehlo.convert"(%arg101) : (tensor<f32>) -> tensor<f32>
    %318 = "stablehlo.convert"(%arg102) : (tensor<f32>) -> tensor<f32>
    %319 = "stablehlo.broadcast_in_dim"(%317) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %320 = "stablehlo.broadcast_in_dim"(%318) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %321 = "stablehlo.slice"(%arg100) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %322 = "stablehlo.reshape"(%321) : (tensor<1xui32>) -> tensor<ui32>
    %323 = "stablehlo.slice"(%arg100) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %324 = "stablehlo.reshape"(%323) : (tensor<1xui32>) -> tensor<ui32>
    %325 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x4xui64>
    %326 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xui64>
    %327 = "stablehlo.constant"() <{value = dense<4> : tensor<ui64>}> : () -> tensor<ui64>
    %328 = "stablehlo.broadcast_in_dim"(%327) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x4xui64>
    %329 = "stablehlo.multiply"(%328, %325) : (tensor<4x4xui64>, tensor<4x4xui64>) -> tensor<4x4xui64>
    %330 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %331 = "stablehlo.broadcast_in_dim"(%330) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x4xui64>
    %332 = "stablehlo.multiply"(%331, %326) : (tensor<4x4xui64>, tensor<4x4xui64>) -> tensor<4x4xui64>
    %333 = "stablehlo.add"(%329, %332) : (tensor<4x4xui64>, tensor<4x4xui64>) -> tensor<4x4xui64>
    %334 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %335 = "stablehlo.broadcast_in_dim"(%334) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x4xui64>
    %336 = "stablehlo.shift_right_logical"(%333, %335) : (tensor<4x4xui64>, tensor<4x4xui64>) -> tensor<4x4xui64>
    %337 = "stablehlo.convert"(%333) : (tensor<4x4xui64>) -> tensor<4x4xui32>
    %338 = "stablehlo.convert"(%336) : (tensor<4x4xui64>) -> tensor<4x4xui32>
    %339:2 = "func.call"(%322, %324, %338, %337) <{callee = @threefry2x32_4}> : (tensor<ui32>, tensor<ui32>, tensor<4x4xui32>, tensor<4x4xui32>) -> (tensor<4x4xui32>, tensor<4x4xui32>)
    %340 = "stablehlo.xor"(%339#0, %339#1) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %341 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %342 = "stablehlo.broadcast_in_dim"(%341) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %343 = "stablehlo.shift_right_logical"(%340, %342) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %344 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %345 = "stablehlo.broadcast_in_dim"(%344) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %346 = "stablehlo.or"(%343, %345) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %347 = "stablehlo.bitcast_convert"(%346) : (tensor<4x4xui32>) -> tensor<4x4xf32>
    %348 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %349 = "stablehlo.broadcast_in_dim"(%348) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %350 = "stablehlo.subtract"(%347, %349) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %351 = "stablehlo.subtract"(%320, %319) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %352 = "stablehlo.broadcast_in_dim"(%351) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<4x4xf32>
    %353 = "stablehlo.multiply"(%350, %352) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %354 = "stablehlo.broadcast_in_dim"(%319) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<4x4xf32>
    %355 = "stablehlo.add"(%353, %354) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %356 = "stablehlo.broadcast_in_dim"(%319) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<4x4xf32>
    %357 = "stablehlo.maximum"(%356, %355) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%357) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<4x4xui32>, tensor<4x4xui32>) -> (tensor<4x4xui32>, tensor<4x4xui32>), sym_name = "threefry2x32_4", sym_visibility = "private"}> ({
  ^bb0(%arg78: tensor<ui32>, %arg79: tensor<ui32>, %arg80: tensor<4x4xui32>, %arg81: tensor<4x4xui32>):
    %300 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %301 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %302 = "stablehlo.xor"(%arg78, %arg79) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %303 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %304 = "stablehlo.xor"(%302, %303) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %305 = "stablehlo.broadcast_in_dim"(%arg78) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %306 = "stablehlo.add"(%arg80, %305) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %307 = "stablehlo.broadcast_in_dim"(%arg79) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %308 = "stablehlo.add"(%arg81, %307) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %309 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %310 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %311:9 = "stablehlo.while"(%310, %309, %306, %308, %arg79, %304, %arg78, %300, %301) ({
    ^bb0(%arg91: tensor<i32>, %arg92: tensor<i32>, %arg93: tensor<4x4xui32>, %arg94: tensor<4x4xui32>, %arg95: tensor<ui32>, %arg96: tensor<ui32>, %arg97: tensor<ui32>, %arg98: tensor<4xui32>, %arg99: tensor<4xui32>):
      %315 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %316 = "stablehlo.compare"(%arg91, %315) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%316) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg82: tensor<i32>, %arg83: tensor<i32>, %arg84: tensor<4x4xui32>, %arg85: tensor<4x4xui32>, %arg86: tensor<ui32>, %arg87: tensor<ui32>, %arg88: tensor<ui32>, %arg89: tensor<4xui32>, %arg90: tensor<4xui32>):
      %312:8 = "func.call"(%arg83, %arg84, %arg85, %arg86, %arg87, %arg88, %arg89, %arg90) <{callee = @closed_call_5}> : (tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %313 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %314 = "stablehlo.add"(%arg82, %313) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%314, %312#0, %312#1, %312#2, %312#3, %312#4, %312#5, %312#6, %312#7) : (tensor<i32>, tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%311#2, %311#3) : (tensor<4x4xui32>, tensor<4x4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_5", sym_visibility = "private"}> ({
  ^bb0(%arg70: tensor<i32>, %arg71: tensor<4x4xui32>, %arg72: tensor<4x4xui32>, %arg73: tensor<ui32>, %arg74: tensor<ui32>, %arg75: tensor<ui32>, %arg76: tensor<4xui32>, %arg77: tensor<4xui32>):
    %245 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %246 = "stablehlo.add"(%arg70, %245) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %247 = "stablehlo.slice"(%arg76) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %248 = "stablehlo.reshape"(%247) : (tensor<1xui32>) -> tensor<ui32>
    %249 = "stablehlo.add"(%arg71, %arg72) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %250 = "stablehlo.broadcast_in_dim"(%248) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %251 = "stablehlo.shift_left"(%arg72, %250) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %252 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %253 = "stablehlo.subtract"(%252, %248) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %254 = "stablehlo.broadcast_in_dim"(%253) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %255 = "stablehlo.shift_right_logical"(%arg72, %254) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %256 = "stablehlo.or"(%251, %255) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %257 = "stablehlo.xor"(%249, %256) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %258 = "stablehlo.slice"(%arg76) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %259 = "stablehlo.reshape"(%258) : (tensor<1xui32>) -> tensor<ui32>
    %260 = "stablehlo.add"(%249, %257) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %261 = "stablehlo.broadcast_in_dim"(%259) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %262 = "stablehlo.shift_left"(%257, %261) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %263 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %264 = "stablehlo.subtract"(%263, %259) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %265 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %266 = "stablehlo.shift_right_logical"(%257, %265) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %267 = "stablehlo.or"(%262, %266) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %268 = "stablehlo.xor"(%260, %267) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %269 = "stablehlo.slice"(%arg76) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %270 = "stablehlo.reshape"(%269) : (tensor<1xui32>) -> tensor<ui32>
    %271 = "stablehlo.add"(%260, %268) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %272 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %273 = "stablehlo.shift_left"(%268, %272) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %274 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %275 = "stablehlo.subtract"(%274, %270) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %276 = "stablehlo.broadcast_in_dim"(%275) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %277 = "stablehlo.shift_right_logical"(%268, %276) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %278 = "stablehlo.or"(%273, %277) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %279 = "stablehlo.xor"(%271, %278) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %280 = "stablehlo.slice"(%arg76) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %281 = "stablehlo.reshape"(%280) : (tensor<1xui32>) -> tensor<ui32>
    %282 = "stablehlo.add"(%271, %279) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %283 = "stablehlo.broadcast_in_dim"(%281) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %284 = "stablehlo.shift_left"(%279, %283) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %285 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %286 = "stablehlo.subtract"(%285, %281) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %287 = "stablehlo.broadcast_in_dim"(%286) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %288 = "stablehlo.shift_right_logical"(%279, %287) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %289 = "stablehlo.or"(%284, %288) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %290 = "stablehlo.xor"(%282, %289) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %291 = "stablehlo.broadcast_in_dim"(%arg73) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %292 = "stablehlo.add"(%282, %291) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %293 = "stablehlo.broadcast_in_dim"(%arg74) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %294 = "stablehlo.add"(%290, %293) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    %295 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %296 = "stablehlo.add"(%arg70, %295) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %297 = "stablehlo.convert"(%296) : (tensor<i32>) -> tensor<ui32>
    %298 = "stablehlo.broadcast_in_dim"(%297) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x4xui32>
    %299 = "stablehlo.add"(%294, %298) : (tensor<4x4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
    "func.return"(%246, %292, %299, %arg74, %arg75, %arg73, %arg77, %arg76) : (tensor<i32>, tensor<4x4xui32>, tensor<4x4xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<i32>, tensor<i32>) -> tensor<8xi32>, res_attrs = [{}], sym_name = "_randint", sym_visibility = "private"}> ({
  ^bb0(%arg67: tensor<2xui32>, %arg68: tensor<i32>, %arg69: tensor<i32>):
    %165 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %166 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %167 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %168 = "func.call"(%165, %166, %167) <{callee = @clip}> : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %169 = "stablehlo.compare"(%arg69, %168) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %170 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %171 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %172 = "func.call"(%arg68, %170, %171) <{callee = @clip_6}> : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %173 = "stablehlo.convert"(%172) : (tensor<i32>) -> tensor<i32>
    %174 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %175 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %176 = "func.call"(%arg69, %174, %175) <{callee = @clip_6}> : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %177 = "stablehlo.convert"(%176) : (tensor<i32>) -> tensor<i32>
    %178 = "stablehlo.broadcast_in_dim"(%173) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %179 = "stablehlo.broadcast_in_dim"(%177) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %180 = "func.call"(%arg67) <{callee = @_threefry_split}> : (tensor<2xui32>) -> tensor<2x2xui32>
    %181 = "stablehlo.slice"(%180) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %182 = "stablehlo.reshape"(%181) : (tensor<1x2xui32>) -> tensor<2xui32>
    %183 = "stablehlo.slice"(%180) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %184 = "stablehlo.reshape"(%183) : (tensor<1x2xui32>) -> tensor<2xui32>
    %185 = "stablehlo.slice"(%182) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %186 = "stablehlo.reshape"(%185) : (tensor<1xui32>) -> tensor<ui32>
    %187 = "stablehlo.slice"(%182) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %188 = "stablehlo.reshape"(%187) : (tensor<1xui32>) -> tensor<ui32>
    %189 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xui64>
    %190 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %191 = "stablehlo.broadcast_in_dim"(%190) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8xui64>
    %192 = "stablehlo.multiply"(%191, %189) : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
    %193 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %194 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8xui64>
    %195 = "stablehlo.shift_right_logical"(%192, %194) : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
    %196 = "stablehlo.convert"(%192) : (tensor<8xui64>) -> tensor<8xui32>
    %197 = "stablehlo.convert"(%195) : (tensor<8xui64>) -> tensor<8xui32>
    %198:2 = "func.call"(%186, %188, %197, %196) <{callee = @threefry2x32_9}> : (tensor<ui32>, tensor<ui32>, tensor<8xui32>, tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>)
    %199 = "stablehlo.xor"(%198#0, %198#1) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %200 = "stablehlo.slice"(%184) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %201 = "stablehlo.reshape"(%200) : (tensor<1xui32>) -> tensor<ui32>
    %202 = "stablehlo.slice"(%184) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %203 = "stablehlo.reshape"(%202) : (tensor<1xui32>) -> tensor<ui32>
    %204 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xui64>
    %205 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %206 = "stablehlo.broadcast_in_dim"(%205) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8xui64>
    %207 = "stablehlo.multiply"(%206, %204) : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
    %208 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8xui64>
    %210 = "stablehlo.shift_right_logical"(%207, %209) : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
    %211 = "stablehlo.convert"(%207) : (tensor<8xui64>) -> tensor<8xui32>
    %212 = "stablehlo.convert"(%210) : (tensor<8xui64>) -> tensor<8xui32>
    %213:2 = "func.call"(%201, %203, %212, %211) <{callee = @threefry2x32_9}> : (tensor<ui32>, tensor<ui32>, tensor<8xui32>, tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>)
    %214 = "stablehlo.xor"(%213#0, %213#1) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %215 = "stablehlo.subtract"(%179, %178) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %216 = "stablehlo.convert"(%215) : (tensor<1xi32>) -> tensor<1xui32>
    %217 = "stablehlo.compare"(%179, %178) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %218 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %219 = "stablehlo.broadcast_in_dim"(%218) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %220 = "stablehlo.select"(%217, %219, %216) : (tensor<1xi1>, tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %221 = "stablehlo.compare"(%179, %178) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %222 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
    %223 = "stablehlo.and"(%222, %221) : (tensor<1xi1>, tensor<1xi1>) -> tensor<1xi1>
    %224 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %225 = "stablehlo.broadcast_in_dim"(%224) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %226 = "stablehlo.add"(%220, %225) : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %227 = "stablehlo.select"(%223, %226, %220) : (tensor<1xi1>, tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %228 = "stablehlo.constant"() <{value = dense<65536> : tensor<ui32>}> : () -> tensor<ui32>
    %229 = "stablehlo.broadcast_in_dim"(%228) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %230 = "stablehlo.remainder"(%229, %227) : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %231 = "stablehlo.multiply"(%230, %230) : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %232 = "stablehlo.remainder"(%231, %227) : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
    %233 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xui32>) -> tensor<8xui32>
    %234 = "stablehlo.remainder"(%199, %233) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %235 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xui32>) -> tensor<8xui32>
    %236 = "stablehlo.multiply"(%234, %235) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %237 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xui32>) -> tensor<8xui32>
    %238 = "stablehlo.remainder"(%214, %237) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %239 = "stablehlo.add"(%236, %238) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %240 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xui32>) -> tensor<8xui32>
    %241 = "stablehlo.remainder"(%239, %240) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %242 = "stablehlo.convert"(%241) : (tensor<8xui32>) -> tensor<8xi32>
    %243 = "stablehlo.broadcast_in_dim"(%178) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi32>) -> tensor<8xi32>
    %244 = "stablehlo.add"(%243, %242) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    "func.return"(%244) : (tensor<8xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg64: tensor<i32>, %arg65: tensor<i32>, %arg66: tensor<i32>):
    %163 = "stablehlo.maximum"(%arg65, %arg64) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %164 = "stablehlo.minimum"(%arg66, %163) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%164) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "clip_6", sym_visibility = "private"}> ({
  ^bb0(%arg61: tensor<i32>, %arg62: tensor<i32>, %arg63: tensor<i32>):
    %161 = "stablehlo.maximum"(%arg62, %arg61) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %162 = "stablehlo.minimum"(%arg63, %161) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%162) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<2x2xui32>, res_attrs = [{}], sym_name = "_threefry_split", sym_visibility = "private"}> ({
  ^bb0(%arg60: tensor<2xui32>):
    %144 = "stablehlo.slice"(%arg60) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %145 = "stablehlo.reshape"(%144) : (tensor<1xui32>) -> tensor<ui32>
    %146 = "stablehlo.slice"(%arg60) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %147 = "stablehlo.reshape"(%146) : (tensor<1xui32>) -> tensor<ui32>
    %148 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %149 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %151 = "stablehlo.multiply"(%150, %148) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %152 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %154 = "stablehlo.shift_right_logical"(%151, %153) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %155 = "stablehlo.convert"(%151) : (tensor<2xui64>) -> tensor<2xui32>
    %156 = "stablehlo.convert"(%154) : (tensor<2xui64>) -> tensor<2xui32>
    %157:2 = "func.call"(%145, %147, %156, %155) <{callee = @threefry2x32_7}> : (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
    %158 = "stablehlo.broadcast_in_dim"(%157#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %159 = "stablehlo.broadcast_in_dim"(%157#1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %160 = "stablehlo.concatenate"(%158, %159) <{dimension = 1 : i64}> : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x2xui32>
    "func.return"(%160) : (tensor<2x2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>), sym_name = "threefry2x32_7", sym_visibility = "private"}> ({
  ^bb0(%arg38: tensor<ui32>, %arg39: tensor<ui32>, %arg40: tensor<2xui32>, %arg41: tensor<2xui32>):
    %127 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %128 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %129 = "stablehlo.xor"(%arg38, %arg39) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %131 = "stablehlo.xor"(%129, %130) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %132 = "stablehlo.broadcast_in_dim"(%arg38) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %133 = "stablehlo.add"(%arg40, %132) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %134 = "stablehlo.broadcast_in_dim"(%arg39) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %135 = "stablehlo.add"(%arg41, %134) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %136 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %137 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %138:9 = "stablehlo.while"(%137, %136, %133, %135, %arg39, %131, %arg38, %127, %128) ({
    ^bb0(%arg51: tensor<i32>, %arg52: tensor<i32>, %arg53: tensor<2xui32>, %arg54: tensor<2xui32>, %arg55: tensor<ui32>, %arg56: tensor<ui32>, %arg57: tensor<ui32>, %arg58: tensor<4xui32>, %arg59: tensor<4xui32>):
      %142 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %143 = "stablehlo.compare"(%arg51, %142) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%143) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg42: tensor<i32>, %arg43: tensor<i32>, %arg44: tensor<2xui32>, %arg45: tensor<2xui32>, %arg46: tensor<ui32>, %arg47: tensor<ui32>, %arg48: tensor<ui32>, %arg49: tensor<4xui32>, %arg50: tensor<4xui32>):
      %139:8 = "func.call"(%arg43, %arg44, %arg45, %arg46, %arg47, %arg48, %arg49, %arg50) <{callee = @closed_call_8}> : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %140 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %141 = "stablehlo.add"(%arg42, %140) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%141, %139#0, %139#1, %139#2, %139#3, %139#4, %139#5, %139#6, %139#7) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%138#2, %138#3) : (tensor<2xui32>, tensor<2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_8", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<i32>, %arg31: tensor<2xui32>, %arg32: tensor<2xui32>, %arg33: tensor<ui32>, %arg34: tensor<ui32>, %arg35: tensor<ui32>, %arg36: tensor<4xui32>, %arg37: tensor<4xui32>):
    %72 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %73 = "stablehlo.add"(%arg30, %72) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %74 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %75 = "stablehlo.reshape"(%74) : (tensor<1xui32>) -> tensor<ui32>
    %76 = "stablehlo.add"(%arg31, %arg32) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %77 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %78 = "stablehlo.shift_left"(%arg32, %77) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %79 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %80 = "stablehlo.subtract"(%79, %75) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %82 = "stablehlo.shift_right_logical"(%arg32, %81) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %83 = "stablehlo.or"(%78, %82) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %84 = "stablehlo.xor"(%76, %83) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %85 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %86 = "stablehlo.reshape"(%85) : (tensor<1xui32>) -> tensor<ui32>
    %87 = "stablehlo.add"(%76, %84) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %88 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %89 = "stablehlo.shift_left"(%84, %88) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %90 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %91 = "stablehlo.subtract"(%90, %86) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %93 = "stablehlo.shift_right_logical"(%84, %92) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %94 = "stablehlo.or"(%89, %93) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %95 = "stablehlo.xor"(%87, %94) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %96 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %97 = "stablehlo.reshape"(%96) : (tensor<1xui32>) -> tensor<ui32>
    %98 = "stablehlo.add"(%87, %95) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %99 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %100 = "stablehlo.shift_left"(%95, %99) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %101 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %102 = "stablehlo.subtract"(%101, %97) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %104 = "stablehlo.shift_right_logical"(%95, %103) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %105 = "stablehlo.or"(%100, %104) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %106 = "stablehlo.xor"(%98, %105) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %107 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %108 = "stablehlo.reshape"(%107) : (tensor<1xui32>) -> tensor<ui32>
    %109 = "stablehlo.add"(%98, %106) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %110 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %111 = "stablehlo.shift_left"(%106, %110) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %112 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %113 = "stablehlo.subtract"(%112, %108) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %115 = "stablehlo.shift_right_logical"(%106, %114) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %116 = "stablehlo.or"(%111, %115) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %117 = "stablehlo.xor"(%109, %116) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %118 = "stablehlo.broadcast_in_dim"(%arg33) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %119 = "stablehlo.add"(%109, %118) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %120 = "stablehlo.broadcast_in_dim"(%arg34) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %121 = "stablehlo.add"(%117, %120) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %122 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %123 = "stablehlo.add"(%arg30, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %124 = "stablehlo.convert"(%123) : (tensor<i32>) -> tensor<ui32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %126 = "stablehlo.add"(%121, %125) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    "func.return"(%73, %119, %126, %arg34, %arg35, %arg33, %arg37, %arg36) : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<8xui32>, tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>), sym_name = "threefry2x32_9", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<ui32>, %arg9: tensor<ui32>, %arg10: tensor<8xui32>, %arg11: tensor<8xui32>):
    %55 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %56 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %57 = "stablehlo.xor"(%arg8, %arg9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %58 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %59 = "stablehlo.xor"(%57, %58) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %60 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %61 = "stablehlo.add"(%arg10, %60) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %63 = "stablehlo.add"(%arg11, %62) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %64 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %65 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %66:9 = "stablehlo.while"(%65, %64, %61, %63, %arg9, %59, %arg8, %55, %56) ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>, %arg23: tensor<8xui32>, %arg24: tensor<8xui32>, %arg25: tensor<ui32>, %arg26: tensor<ui32>, %arg27: tensor<ui32>, %arg28: tensor<4xui32>, %arg29: tensor<4xui32>):
      %70 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %71 = "stablehlo.compare"(%arg21, %70) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%71) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<8xui32>, %arg15: tensor<8xui32>, %arg16: tensor<ui32>, %arg17: tensor<ui32>, %arg18: tensor<ui32>, %arg19: tensor<4xui32>, %arg20: tensor<4xui32>):
      %67:8 = "func.call"(%arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20) <{callee = @closed_call_10}> : (tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %68 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %69 = "stablehlo.add"(%arg12, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%69, %67#0, %67#1, %67#2, %67#3, %67#4, %67#5, %67#6, %67#7) : (tensor<i32>, tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%66#2, %66#3) : (tensor<8xui32>, tensor<8xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_10", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<8xui32>, %arg2: tensor<8xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.add"(%arg1, %arg2) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %6 = "stablehlo.shift_left"(%arg2, %5) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %7 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %8 = "stablehlo.subtract"(%7, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %10 = "stablehlo.shift_right_logical"(%arg2, %9) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %11 = "stablehlo.or"(%6, %10) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %12 = "stablehlo.xor"(%4, %11) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1xui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%4, %12) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %18 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %19 = "stablehlo.subtract"(%18, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %21 = "stablehlo.shift_right_logical"(%12, %20) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %22 = "stablehlo.or"(%17, %21) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %23 = "stablehlo.xor"(%15, %22) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %24 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1xui32>) -> tensor<ui32>
    %26 = "stablehlo.add"(%15, %23) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %27 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %28 = "stablehlo.shift_left"(%23, %27) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %29 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %30 = "stablehlo.subtract"(%29, %25) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %32 = "stablehlo.shift_right_logical"(%23, %31) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %33 = "stablehlo.or"(%28, %32) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %34 = "stablehlo.xor"(%26, %33) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %35 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1xui32>) -> tensor<ui32>
    %37 = "stablehlo.add"(%26, %34) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %38 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %39 = "stablehlo.shift_left"(%34, %38) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %40 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %41 = "stablehlo.subtract"(%40, %36) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %43 = "stablehlo.shift_right_logical"(%34, %42) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %44 = "stablehlo.or"(%39, %43) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %45 = "stablehlo.xor"(%37, %44) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %47 = "stablehlo.add"(%37, %46) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %50 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %51 = "stablehlo.add"(%arg0, %50) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %52 = "stablehlo.convert"(%51) : (tensor<i32>) -> tensor<ui32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8xui32>
    %54 = "stablehlo.add"(%49, %53) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    "func.return"(%1, %47, %54, %arg4, %arg5, %arg3, %arg7, %arg6) : (tensor<i32>, tensor<8xui32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

