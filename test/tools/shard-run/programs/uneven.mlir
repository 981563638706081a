// Uneven shards: 7 rows on 2 devices are 4 and 3, 10 columns on 4 are buffers of 3 with 3, 3, 3 and 1. What goes in comes out, in files
// too; a sub-axis pair in reverse order permutes the pieces.
// RUN: shard-run %s --output=@%t.npy --output=@%t.sub.npy | FileCheck %s
// RUN: shard-run %s --input=@%t.npy --input=@%t.sub.npy --expected-output=@%t.npy --expected-output=@%t.sub.npy | FileCheck %s --check-prefix=SAME
// RUN: shard-run %s --launch=processes --input=@%t.npy --input=@%t.sub.npy --expected-output=@%t.npy --expected-output=@%t.sub.npy | FileCheck %s --check-prefix=SAME
// RUN: not shard-run %s --seed 3 --expected-output=@%t.npy | FileCheck %s --check-prefix=OTHER
// CHECK: done
// SAME: against expected ok: error 0
// SAME: against expected ok: error 0
// SAME: verified
// OTHER: against expected MISMATCH
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  shard.grid @mesh.sub(shape = 2x2x2) {tp.of = @mesh, tp.axes = ["dp", "tp:(1)2", "tp:(2)2"]}
  func.func @main(%x: tensor<4x3xbf16> {tp.sharding = [["dp"], ["tp"]], tp.global = tensor<7x10xbf16>},
                  %y: tensor<2xi64> {tp.sharding = [["tp:(2)2", "tp:(1)2"]], tp.global = tensor<8xi64>})
      -> (tensor<4x3xbf16> {tp.sharding = [["dp"], ["tp"]], tp.global = tensor<7x10xbf16>},
          tensor<2xi64> {tp.sharding = [["tp:(2)2", "tp:(1)2"]], tp.global = tensor<8xi64>}) {
    return %x, %y : tensor<4x3xbf16>, tensor<2xi64>
  }
}
