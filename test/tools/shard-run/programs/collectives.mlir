// Every collective, executed on 8 ranks: the program itself asserts what each device has to get.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-run %s --launch=processes --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// CHECK: @main on 8 devices: dp=2,tp=4
// CHECK-DAG: all_reduce {{ *}}tp {{ *}}2
// CHECK-DAG: all_reduce {{ *}}dp,tp {{ *}}1
// CHECK-DAG: all_gather {{ *}}tp {{ *}}1
// CHECK-DAG: all_gather {{ *}}tp,dp {{ *}}1
// CHECK-DAG: reduce_scatter {{ *}}tp {{ *}}1
// CHECK-DAG: all_to_all {{ *}}tp {{ *}}1
// CHECK-DAG: broadcast {{ *}}tp {{ *}}2
// CHECK-DAG: permute {{ *}}tp {{ *}}2
// CHECK-DAG: permute {{ *}}dp,tp {{ *}}1
// CHECK: done
// JSON: "flops_unsharded": null
// JSON: "collectives": [
// JSON: "kind": "all_reduce",
// JSON-NEXT: "axes": "tp",
// JSON-NEXT: "tensor": "tensor<2xi64>",
// JSON-NEXT: "reduction": "sum",
// JSON-NEXT: "group": 4,
// JSON-NEXT: "count": 1,
// JSON-NEXT: "bytes_per_device": 48,
// JSON-NEXT: "modelled_seconds": {{[0-9.e-]+}},
// JSON-NEXT: "measured_seconds": {{[0-9.e-]+}},
// JSON-NEXT: "location": "{{.*}}collectives.mlir:{{[0-9]+}}:12"
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
  func.func private @tp.permute0(tensor<2xi64>) -> tensor<2xi64>

  // Device d = 4 * dp + tp holds [10 d, 10 d + 1].
  func.func @main(%seed: tensor<4xf32> {tp.sharding = [[]]})
      -> (tensor<2xi64> {tp.sharding = [["dp", "tp"]], tp.global = tensor<16xi64>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c2 = arith.constant 2 : index
    %i0 = arith.constant 0 : i64
    %i1 = arith.constant 1 : i64
    %i4 = arith.constant 4 : i64
    %i10 = arith.constant 10 : i64
    %dp_index, %tp_index = shard.process_multi_index on @mesh : index, index
    %d_index = shard.process_linear_index on @mesh : index
    %dp = arith.index_cast %dp_index : index to i64
    %tp = arith.index_cast %tp_index : index to i64
    %d = arith.index_cast %d_index : index to i64
    %dp4 = arith.muli %dp, %i4 : i64
    %d_again = arith.addi %dp4, %tp : i64
    %ok0 = arith.cmpi eq, %d, %d_again : i64
    cf.assert %ok0, "the linear number of a device is row-major"
    %d10 = arith.muli %d, %i10 : i64
    %d11 = arith.addi %d10, %i1 : i64
    %x = tensor.from_elements %d10, %d11 : tensor<2xi64>

    // Sum over tp: 4 * 40 dp + 10 (0 + 1 + 2 + 3).
    %sum = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<2xi64> -> tensor<2xi64>
    %sum0 = tensor.extract %sum[%c0] : tensor<2xi64>
    %i160 = arith.constant 160 : i64
    %i60 = arith.constant 60 : i64
    %dp160 = arith.muli %dp, %i160 : i64
    %want_sum = arith.addi %dp160, %i60 : i64
    %ok1 = arith.cmpi eq, %sum0, %want_sum : i64
    cf.assert %ok1, "all_reduce sum over tp"

    // Maximum over all: device 7. Minimum over tp by tp.combiner.
    %max = shard.all_reduce %x on @mesh grid_axes = [0, 1] reduction = max : tensor<2xi64> -> tensor<2xi64>
    %max1 = tensor.extract %max[%c1] : tensor<2xi64>
    %i71 = arith.constant 71 : i64
    %ok2 = arith.cmpi eq, %max1, %i71 : i64
    cf.assert %ok2, "all_reduce max over all"
    %min = shard.all_reduce %x on @mesh grid_axes = [1] reduction = sum {tp.combiner = "minui"} : tensor<2xi64> -> tensor<2xi64>
    %min0 = tensor.extract %min[%c0] : tensor<2xi64>
    %i40 = arith.constant 40 : i64
    %want_min = arith.muli %dp, %i40 : i64
    %ok3 = arith.cmpi eq, %min0, %want_min : i64
    cf.assert %ok3, "tp.combiner decides the reduction"

    // Gather over tp, and over (tp, dp) with tp major: piece k comes from tp = k / 2, dp = k % 2.
    %gather = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 0 : tensor<2xi64> -> tensor<8xi64>
    %gather7 = tensor.extract %gather[%c7] : tensor<8xi64>
    %i31 = arith.constant 31 : i64
    %want_gather = arith.addi %want_min, %i31 : i64
    %ok4 = arith.cmpi eq, %gather7, %want_gather : i64
    cf.assert %ok4, "all_gather over tp"
    %all = shard.all_gather %x on @mesh grid_axes = [1, 0] gather_axis = 0 : tensor<2xi64> -> tensor<16xi64>
    %all2 = tensor.extract %all[%c2] : tensor<16xi64>
    %ok5 = arith.cmpi eq, %all2, %i40 : i64
    cf.assert %ok5, "all_gather counts its axes major to minor"

    // A slice takes the piece of this device back.
    %slice = shard.all_slice %all on @mesh grid_axes = [1, 0] slice_axis = 0 : tensor<16xi64> -> tensor<2xi64>
    %slice1 = tensor.extract %slice[%c1] : tensor<2xi64>
    %ok6 = arith.cmpi eq, %slice1, %d11 : i64
    cf.assert %ok6, "all_slice is the inverse of all_gather"

    // Reduce-scatter of the gathered: 4 times the own piece.
    %scattered = shard.reduce_scatter %gather on @mesh grid_axes = [1] scatter_axis = 0 : tensor<8xi64> -> tensor<2xi64>
    %scattered1 = tensor.extract %scattered[%c1] : tensor<2xi64>
    %want_scattered = arith.muli %d11, %i4 : i64
    %ok7 = arith.cmpi eq, %scattered1, %want_scattered : i64
    cf.assert %ok7, "reduce_scatter over tp"

    // All-to-all of [4, 2]: row r goes to tp = r, the rows that arrive lie side by side.
    %square = tensor.expand_shape %gather [[0, 1]] output_shape [4, 2] : tensor<8xi64> into tensor<4x2xi64>
    %turned = shard.all_to_all %square on @mesh grid_axes = [1] split_axis = 0 concat_axis = 1 : tensor<4x2xi64> -> tensor<1x8xi64>
    %turned7 = tensor.extract %turned[%c0, %c7] : tensor<1x8xi64>
    %ok8 = arith.cmpi eq, %turned7, %d11 : i64
    cf.assert %ok8, "all_to_all over tp"

    // From tp = 2; a scatter is a broadcast and a slice.
    %two = shard.broadcast %x on @mesh grid_axes = [1] root = [2] : (tensor<2xi64>) -> tensor<2xi64>
    %two0 = tensor.extract %two[%c0] : tensor<2xi64>
    %i20 = arith.constant 20 : i64
    %want_two = arith.addi %want_min, %i20 : i64
    %ok9 = arith.cmpi eq, %two0, %want_two : i64
    cf.assert %ok9, "broadcast from tp = 2"
    %dealt = shard.scatter %gather on @mesh grid_axes = [1] scatter_axis = 0 root = [3] : (tensor<8xi64>) -> tensor<2xi64>
    %dealt0 = tensor.extract %dealt[%c0] : tensor<2xi64>
    %ok10 = arith.cmpi eq, %dealt0, %d10 : i64
    cf.assert %ok10, "scatter from tp = 3"

    // Shifts along tp: around, and with zeros at the edge.
    %i3 = arith.constant 3 : i64
    %ring = shard.shift %x on @mesh grid_axes = [1] shift_axis = 1 offset = 1 rotate : tensor<2xi64> -> tensor<2xi64>
    %ring0 = tensor.extract %ring[%c0] : tensor<2xi64>
    %before = arith.addi %tp, %i3 : i64
    %before_mod = arith.remui %before, %i4 : i64
    %before10 = arith.muli %before_mod, %i10 : i64
    %want_ring = arith.addi %want_min, %before10 : i64
    %ok11 = arith.cmpi eq, %ring0, %want_ring : i64
    cf.assert %ok11, "shift around tp"
    %edge = shard.shift %x on @mesh grid_axes = [1] shift_axis = 1 offset = 1 : tensor<2xi64> -> tensor<2xi64>
    %edge1 = tensor.extract %edge[%c1] : tensor<2xi64>
    %at_edge = arith.cmpi eq, %tp, %i0 : i64
    %d_before = arith.subi %d11, %i10 : i64
    %want_edge = arith.select %at_edge, %i0, %d_before : i64
    %ok12 = arith.cmpi eq, %edge1, %want_edge : i64
    cf.assert %ok12, "shift fills with zeros"

    // 0 -> 5 -> 0; all others get zeros.
    %swapped = func.call @tp.permute0(%x) {tp.pairs = [[0, 5], [5, 0]]} : (tensor<2xi64>) -> tensor<2xi64>
    %swapped1 = tensor.extract %swapped[%c1] : tensor<2xi64>
    %i5 = arith.constant 5 : i64
    %i51 = arith.constant 51 : i64
    %is0 = arith.cmpi eq, %d, %i0 : i64
    %is5 = arith.cmpi eq, %d, %i5 : i64
    %other = arith.select %is5, %i1, %i0 : i64
    %want_swapped = arith.select %is0, %i51, %other : i64
    %ok13 = arith.cmpi eq, %swapped1, %want_swapped : i64
    cf.assert %ok13, "permute"
    return %x : tensor<2xi64>
  }
}
