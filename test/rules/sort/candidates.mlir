// The first elements of long rows: in any order, in the wrong order, in the right order, and with equal elements, of which the first come
// first. Along dimension 0, the rows are not contiguous.
// RUN: shard-run %s --mesh x=1 | FileCheck %s
// RUN: shard-run %s --mesh x=2 | FileCheck %s
// RUN: shard-run %s --mesh x=3 --strategy follow --launch processes | FileCheck %s

// CHECK-COUNT-7: against the evaluator ok
// CHECK: verified
func.func @main(%x: tensor<300x4xi32>) -> (tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<1x4xi32>, tensor<75x4xi32>, tensor<75x4xi32>) {
  %e = tensor.empty() : tensor<300x4xi32>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<300x4xi32>) {
  ^bb0(%o: i32):
    %p = linalg.index 0 : index
    %q = arith.index_cast %p : index to i32
    linalg.yield %q : i32
  } -> tensor<300x4xi32>
  %mask = arith.constant dense<7> : tensor<300x4xi32>
  %few = arith.andi %x, %mask : tensor<300x4xi32>
  %spread = arith.constant dense<1103515245> : tensor<300x4xi32>
  %spread_out = arith.muli %i, %spread : tensor<300x4xi32>
  %mixed = arith.addi %spread_out, %x : tensor<300x4xi32>
  %zero = arith.constant dense<0> : tensor<300x4xi32>
  %back = arith.subi %zero, %i : tensor<300x4xi32>
  %any = call @tp.sort(%mixed) {tp.sort = {dim = 0, less = @larger}} : (tensor<300x4xi32>) -> tensor<11x4xi32>
  %wrong = call @tp.sort(%i) {tp.sort = {dim = 0, less = @larger}} : (tensor<300x4xi32>) -> tensor<11x4xi32>
  %right = call @tp.sort(%back) {tp.sort = {dim = 0, less = @larger}} : (tensor<300x4xi32>) -> tensor<11x4xi32>
  %equal:2 = call @tp.sort2(%few, %i) {tp.sort = {dim = 0, less = @larger2}} : (tensor<300x4xi32>, tensor<300x4xi32>) -> (tensor<11x4xi32>, tensor<11x4xi32>)
  %one = call @tp.sort1(%mixed) {tp.sort = {dim = 0, less = @larger}} : (tensor<300x4xi32>) -> tensor<1x4xi32>
  %quarter:2 = call @tp.sort75(%few, %i) {tp.sort = {dim = 0, less = @larger2}} : (tensor<300x4xi32>, tensor<300x4xi32>) -> (tensor<75x4xi32>, tensor<75x4xi32>)
  return %any, %wrong, %right, %equal#1, %one, %quarter#0, %quarter#1 : tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<1x4xi32>, tensor<75x4xi32>, tensor<75x4xi32>
}
func.func private @tp.sort(tensor<300x4xi32>) -> tensor<11x4xi32>
func.func private @tp.sort1(tensor<300x4xi32>) -> tensor<1x4xi32>
func.func private @tp.sort2(tensor<300x4xi32>, tensor<300x4xi32>) -> (tensor<11x4xi32>, tensor<11x4xi32>)
func.func private @tp.sort75(tensor<300x4xi32>, tensor<300x4xi32>) -> (tensor<75x4xi32>, tensor<75x4xi32>)
func.func private @larger(%a: i32, %b: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
func.func private @larger2(%a: i32, %b: i32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
