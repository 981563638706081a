// A number has the same function in the vectors of a loop, in what is left behind them, and by itself: 261 numbers in one loop, and each of them alone.
// RUN: sed -e s/FUNCTION/exp/ %s > %t.exp.mlir && shard-run %t.exp.mlir --mesh 1 --no-verify
// RUN: sed -e s/FUNCTION/log/ %s > %t.log.mlir && shard-run %t.log.mlir --mesh 1 --no-verify
// RUN: sed -e s/FUNCTION/tanh/ %s > %t.tanh.mlir && shard-run %t.tanh.mlir --mesh 1 --no-verify
// RUN: sed -e s/FUNCTION/erf/ %s > %t.erf.mlir && shard-run %t.erf.mlir --mesh 1 --no-verify
// RUN: sed -e s/FUNCTION/log1p/ %s > %t.log1p.mlir && shard-run %t.log1p.mlir --mesh 1 --no-verify
// RUN: sed -e s/FUNCTION/expm1/ %s > %t.expm1.mlir && shard-run %t.expm1.mlir --mesh 1 --no-verify
// The places are compared: the next one differs.
// RUN: sed -e s/FUNCTION/exp/ -e 's/constant 0 : index/constant 1 : index/' %s > %t.not.mlir && not shard-run %t.not.mlir --mesh 1 --no-verify 2>&1 | FileCheck %s
// CHECK: differs by its place
#id = affine_map<(i) -> (i)>
func.func @main() -> tensor<261xf32> {
  %shift = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %n = arith.constant 260 : index
  %e = tensor.empty() : tensor<261xf32>
  %numbers = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<261xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %step = arith.constant 0.0137 : f32
    %x = arith.mulf %f, %step : f32
    linalg.yield %x : f32
  } -> tensor<261xf32>
  %all = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%numbers : tensor<261xf32>) outs(%e : tensor<261xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = math.FUNCTION %x : f32
    linalg.yield %y : f32
  } -> tensor<261xf32>
  scf.for %i = %zero to %n step %one {
    %x = tensor.extract %numbers[%i] : tensor<261xf32>
    %y = math.FUNCTION %x : f32
    %at = arith.addi %i, %shift : index
    %z = tensor.extract %all[%at] : tensor<261xf32>
    %a = arith.bitcast %y : f32 to i32
    %b = arith.bitcast %z : f32 to i32
    %same = arith.cmpi eq, %a, %b : i32
    cf.assert %same, "a number's function differs by its place"
  }
  return %all : tensor<261xf32>
}
