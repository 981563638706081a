// An infinite row of one group does not reach the sums of another.
// RUN: shard-run %s --mesh 1 --output=@%t.npy && %python -c "import sys; from struct import unpack; data = open(sys.argv[1], 'rb').read(); print(unpack('<2f', data[-8:]))" %t.npy | FileCheck %s
// CHECK: (6.0, inf)
func.func @main() -> tensor<2x1x1xf32> {
  %x = arith.constant dense<[[3.0], [0x7F800000]]> : tensor<2x1xf32>
  %y = arith.constant dense<[[2.0], [0x7F800000]]> : tensor<2x1xf32>
  %sizes = arith.constant dense<1> : tensor<2xi32>
  %sum = "chlo.ragged_dot"(%x, %y, %sizes) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2xi32>) -> tensor<2x1x1xf32>
  return %sum : tensor<2x1x1xf32>
}
