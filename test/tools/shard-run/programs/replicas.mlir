// Devices that should hold the same data are compared bit by bit.
// RUN: not shard-run %s 2>&1 | FileCheck %s
// CHECK: shard-run: error: result 0 ({{\[\[}}]]): devices 0 and 1 should hold the same data, but do not
// RUN: not shard-run %s --mesh 2 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: shard-run: error: the module is already partitioned, so --mesh cannot change its mesh
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
  func.func @main(%x: tensor<8xf32> {tp.sharding = [["tp"]], tp.global = tensor<16xf32>}) -> (tensor<8xf32> {tp.sharding = [[]]}) {
    return %x : tensor<8xf32>
  }
}
