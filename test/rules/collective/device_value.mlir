// Integers computed from device indices vary along the axes along which their values do, and along no other.
// RUN: split-file %s %t
// RUN: shard-run %t/expected.mlir --mesh 1 --output @%t/0.npy
// RUN: shard-run %t/column.mlir --no-verify --expected-output @%t/0.npy | FileCheck %s --check-prefix=RUNS
// RUN: not shard-opt %t/row.mlir --pass-pipeline='builtin.module(tp-spmd)' 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: not shard-opt %t/undefined.mlir --pass-pipeline='builtin.module(tp-spmd)' 2>&1 | FileCheck %s --check-prefix=UNDEFINED
// RUN: not shard-opt %t/carried.mlir --pass-pipeline='builtin.module(tp-spmd)' 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUNS: verified

// The index of a device is 4 * row + column. Device `column` has the value column + 1 in element `column`.
//--- column.mlir
shard.grid @mesh(shape = 2x4) {tp.axes = ["x", "y"]}
func.func @main() -> tensor<4xi64> {
  %c4 = arith.constant dense<4> : tensor<1xi64>
  %c1 = arith.constant dense<1> : tensor<1xi64>
  %i = shard.process_linear_index on @mesh : index
  %n = arith.index_cast %i : index to i32
  %t = tensor.from_elements %n : tensor<1xi32>
  %w = arith.extui %t : tensor<1xi32> to tensor<1xi64>
  %column = arith.remsi %w, %c4 : tensor<1xi64>
  %row = arith.divui %w, %c4 : tensor<1xi64>
  %double = arith.subi %w, %column : tensor<1xi64>
  %again = arith.divsi %double, %c4 : tensor<1xi64>
  %zero = arith.subi %row, %again : tensor<1xi64>
  %next = arith.addi %column, %c1 : tensor<1xi64>
  %value = arith.addi %next, %zero : tensor<1xi64>
  %all = shard.all_gather %value on @mesh grid_axes = [1] gather_axis = 0 : tensor<1xi64> -> tensor<4xi64>
  return %all : tensor<4xi64>
}

//--- expected.mlir
func.func @main() -> tensor<4xi64> {
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// The row varies along x, and nothing makes it equal there.
//--- row.mlir
shard.grid @mesh(shape = 2x4) {tp.axes = ["x", "y"]}
func.func @main() -> tensor<4xi64> {
  %c4 = arith.constant 4 : index
  %i = shard.process_linear_index on @mesh : index
  %row = arith.divui %i, %c4 : index
  %n = arith.index_cast %row : index to i64
  %t = tensor.from_elements %n : tensor<1xi64>
  // ROW: 'func.return': result 0 may differ between devices along axis "x"
  %all = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 0 : tensor<1xi64> -> tensor<4xi64>
  return %all : tensor<4xi64>
}

// A division by 0 has no value: it counts as varying along all axes.
//--- undefined.mlir
shard.grid @mesh(shape = 2x4) {tp.axes = ["x", "y"]}
func.func @main() -> tensor<1xi64> {
  %c4 = arith.constant 4 : index
  %i, %j = shard.process_multi_index on @mesh axes = [0, 1] : index, index
  %rest = arith.remui %c4, %j : index
  %n = arith.index_cast %rest : index to i64
  %t = tensor.from_elements %n : tensor<1xi64>
  // UNDEFINED: 'func.return': result 0 may differ between devices along axis "y"
  return %t : tensor<1xi64>
}

// A loop adds up columns: the sum is not computed from indices and constants alone, and varies along y.
//--- carried.mlir
shard.grid @mesh(shape = 2x4) {tp.axes = ["x", "y"]}
func.func @main() -> tensor<2xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %i = shard.process_linear_index on @mesh : index
  %column = arith.remui %i, %c4 : index
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %c0) -> index {
    %next = arith.addi %s, %column : index
    scf.yield %next : index
  }
  %n = arith.index_cast %sum : index to i64
  %t = tensor.from_elements %n : tensor<1xi64>
  // CARRIED: 'func.return': result 0 may differ between devices along axis "y"
  %all = shard.all_gather %t on @mesh grid_axes = [0] gather_axis = 0 : tensor<1xi64> -> tensor<2xi64>
  return %all : tensor<2xi64>
}
