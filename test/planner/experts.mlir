// Experts on the devices, and tokens in groups, one for each device. Each token goes to its place in its expert and comes back, by two
// all_to_all of 1.75 times the bytes of the tokens in total: 2 x 7/8, without the part that stays where it is. Gathered tokens, or sums
// of what each device has for each place, would be 7 times the tokens in each direction.
// RUN: shard-run %s --report=%t.json | FileCheck %s
// RUN: shard-run %s --objective bytes | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// CHECK: @main on 8 devices: ep=8
// CHECK-NOT: all_gather
// CHECK-NOT: all_reduce
// CHECK-NOT: reduce_scatter
// CHECK: all_to_all {{ *}}ep {{ *}}2
// CHECK: verified
// 7/8 of a group's places: 8 experts, 4 places, 64 numbers of 4 bytes
// JSON-COUNT-2: "bytes_per_device": 7168,
// JSON-NOT: "bytes_per_device"
shard.grid @mesh(shape = 8) {tp.axes = ["ep"]}

#gs = affine_map<(g, s, e, c) -> (g, s)>
#gsec = affine_map<(g, s, e, c) -> (g, s, e, c)>
func.func @main(%x: tensor<8x32x64xf32> {tp.sharding = [["ep"], [], []]}, %expert: tensor<8x32xi32> {tp.sharding = [["ep"], []]},
                %place: tensor<8x32xi32> {tp.sharding = [["ep"], []]}, %gate: tensor<8x32xf32> {tp.sharding = [["ep"], []]},
                %up: tensor<8x64x128xf32> {tp.sharding = [["ep"], [], []]}, %down: tensor<8x128x64xf32> {tp.sharding = [["ep"], [], []]})
    -> (tensor<8x32x64xf32> {tp.sharding = [["ep"], [], []]}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %no_mask = tensor.empty() : tensor<8x32x8x4xf32>
  %dispatch = linalg.generic {indexing_maps = [#gs, #gs, #gsec], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%expert, %place : tensor<8x32xi32>, tensor<8x32xi32>) outs(%no_mask : tensor<8x32x8x4xf32>) {
  ^bb0(%e: i32, %c: i32, %unused: f32):
    %this_e = linalg.index 2 : index
    %this_c = linalg.index 3 : index
    %e_index = arith.index_cast %e : i32 to index
    %c_index = arith.index_cast %c : i32 to index
    %is_e = arith.cmpi eq, %e_index, %this_e : index
    %is_c = arith.cmpi eq, %c_index, %this_c : index
    %is_here = arith.andi %is_e, %is_c : i1
    %m = arith.select %is_here, %one, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x32x8x4xf32>
  %combine = linalg.generic {indexing_maps = [#gsec, #gs, #gsec], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%dispatch, %gate : tensor<8x32x8x4xf32>, tensor<8x32xf32>) outs(%no_mask : tensor<8x32x8x4xf32>) {
  ^bb0(%m: f32, %p: f32, %unused: f32):
    %mp = arith.mulf %m, %p : f32
    linalg.yield %mp : f32
  } -> tensor<8x32x8x4xf32>

  %no_sent = tensor.empty() : tensor<8x8x4x64xf32>
  %sent0 = linalg.fill ins(%zero : f32) outs(%no_sent : tensor<8x8x4x64xf32>) -> tensor<8x8x4x64xf32>
  %sent = linalg.contract indexing_maps = [affine_map<(e, g, c, m, s) -> (g, s, e, c)>, affine_map<(e, g, c, m, s) -> (g, s, m)>, affine_map<(e, g, c, m, s) -> (e, g, c, m)>]
      ins(%dispatch, %x : tensor<8x32x8x4xf32>, tensor<8x32x64xf32>) outs(%sent0 : tensor<8x8x4x64xf32>) -> tensor<8x8x4x64xf32>
  %no_h = tensor.empty() : tensor<8x8x4x128xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%no_h : tensor<8x8x4x128xf32>) -> tensor<8x8x4x128xf32>
  %h = linalg.contract indexing_maps = [affine_map<(e, g, c, f, m) -> (e, g, c, m)>, affine_map<(e, g, c, f, m) -> (e, m, f)>, affine_map<(e, g, c, f, m) -> (e, g, c, f)>]
      ins(%sent, %up : tensor<8x8x4x64xf32>, tensor<8x64x128xf32>) outs(%h0 : tensor<8x8x4x128xf32>) -> tensor<8x8x4x128xf32>
  %a = math.tanh %h : tensor<8x8x4x128xf32>
  %back = linalg.contract indexing_maps = [affine_map<(e, g, c, m, f) -> (e, g, c, f)>, affine_map<(e, g, c, m, f) -> (e, f, m)>, affine_map<(e, g, c, m, f) -> (e, g, c, m)>]
      ins(%a, %down : tensor<8x8x4x128xf32>, tensor<8x128x64xf32>) outs(%sent0 : tensor<8x8x4x64xf32>) -> tensor<8x8x4x64xf32>
  %no_y = tensor.empty() : tensor<8x32x64xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%no_y : tensor<8x32x64xf32>) -> tensor<8x32x64xf32>
  %y = linalg.contract indexing_maps = [affine_map<(g, s, m, e, c) -> (g, s, e, c)>, affine_map<(g, s, m, e, c) -> (e, g, c, m)>, affine_map<(g, s, m, e, c) -> (g, s, m)>]
      ins(%combine, %back : tensor<8x32x8x4xf32>, tensor<8x8x4x64xf32>) outs(%y0 : tensor<8x32x64xf32>) -> tensor<8x32x64xf32>
  return %y : tensor<8x32x64xf32>
}
