// A failed assertion of the program ends all ranks with its message.
// RUN: not shard-run %s 2>&1 | FileCheck %s
// RUN: not shard-run %s --launch=processes 2>&1 | FileCheck %s
// RUN: not shard-run -n 4 -- shard-run %s 2>&1 | FileCheck %s
// CHECK: shard-run: error: rank {{[0-9]+}} failed: program failed: {{.*}}only device 2 fails
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @main(%x: tensor<8xf32> {tp.sharding = [["tp"]], tp.global = tensor<32xf32>}) -> (tensor<8xf32> {tp.sharding = [[]]}) {
    %c2 = arith.constant 2 : index
    %d = shard.process_linear_index on @mesh : index
    %ok = arith.cmpi ne, %d, %c2 : index
    cf.assert %ok, "only device 2 fails"
    %r = shard.all_reduce %x on @mesh grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
