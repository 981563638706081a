// Exchanges between more than two dimensions, executed: one to two and back, in other orders of axes, with other axes on the dimensions before; the
// runtime counts one all_to_all over both axes.
// RUN: shard-run %s --mesh x=4,y=2 --objective bytes | FileCheck %s
// RUN: shard-run %s --mesh x=2,y=2 --objective bytes --launch processes | FileCheck %s --check-prefix=SQUARE
// RUN: shard-run %s --mesh x=2,y=3 --objective bytes
// RUN: shard-run %s --mesh x=2,y=2,z=2 --objective bytes
// CHECK: all_to_all {{ *}}x,y {{ *}}2
// CHECK: all_to_all {{ *}}y,x {{ *}}2
// CHECK: verified
// SQUARE: all_to_all {{ *}}x,y {{ *}}2
// SQUARE: verified
shard.grid @mesh(shape = 4x2x1) {tp.axes = ["x", "y", "z"]}
func.func @main(%a: tensor<2x24x8x12x3xf32> {tp.sharding = [["z"], ["x", "y"], [], [], []]},
                %b: tensor<2x24x8x12x3xbf16> {tp.sharding = [[], ["z"], ["x"], ["y"], []]},
                %c: tensor<8x12x48xi32> {tp.sharding = [["x"], ["y"], ["z"]]}, %d: tensor<4x48x24xf64> {tp.sharding = [[], ["y", "x"], ["z"]]})
    -> (tensor<2x24x8x12x3xf32> {tp.sharding = [["z"], [], ["x"], ["y"], []]},
        tensor<2x24x8x12x3xbf16> {tp.sharding = [[], ["z", "x", "y"], [], [], []]},
        tensor<8x12x48xi32> {tp.sharding = [[], [], ["z", "y", "x"]]}, tensor<4x48x24xf64> {tp.sharding = [["x"], [], ["z", "y"]]}) {
  return %a, %b, %c, %d : tensor<2x24x8x12x3xf32>, tensor<2x24x8x12x3xbf16>, tensor<8x12x48xi32>, tensor<4x48x24xf64>
}
