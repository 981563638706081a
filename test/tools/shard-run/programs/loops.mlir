// Buffers that loops carry: swapped, rotated, fresh, passed through a while loop, through branches; executed.
// RUN: shard-run %s --mesh 1 --function swap | FileCheck %s
// RUN: shard-run %s --mesh 1 --function rotate | FileCheck %s
// RUN: shard-run %s --mesh 1 --function fibonacci | FileCheck %s
// RUN: shard-run %s --mesh 1 --function branches | FileCheck %s
// RUN: shard-run %s --mesh 1 --function nested | FileCheck %s
// RUN: shard-run %s --mesh 1 --function scalars | FileCheck %s
// CHECK: {{^}}verified

func.func @swap() -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xi32>, tensor<4xi32>) {
    scf.yield %y, %x : tensor<4xi32>, tensor<4xi32>
  }
  %x3 = tensor.extract %r#0[%c3] : tensor<4xi32>
  %y0 = tensor.extract %r#1[%c0] : tensor<4xi32>
  %i8 = arith.constant 8 : i32
  %i1 = arith.constant 1 : i32
  %ok0 = arith.cmpi eq, %x3, %i8 : i32
  cf.assert %ok0, "the first is the second"
  %ok1 = arith.cmpi eq, %y0, %i1 : i32
  cf.assert %ok1, "the second is the first"
  return %r#0 : tensor<4xi32>
}

func.func @rotate() -> (tensor<2xi32>, tensor<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = arith.constant dense<[1, 1]> : tensor<2xi32>
  %b = arith.constant dense<[2, 2]> : tensor<2xi32>
  %c = arith.constant dense<[3, 3]> : tensor<2xi32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a, %y = %b, %z = %c) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %s = arith.addi %x, %z : tensor<2xi32>
    scf.yield %y, %s, %x : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }
  // (1 2 3) (2 4 1) (4 3 2) (3 6 4) (6 7 3)
  %x0 = tensor.extract %r#0[%c0] : tensor<2xi32>
  %y1 = tensor.extract %r#1[%c1] : tensor<2xi32>
  %z1 = tensor.extract %r#2[%c1] : tensor<2xi32>
  %i6 = arith.constant 6 : i32
  %i7 = arith.constant 7 : i32
  %i3 = arith.constant 3 : i32
  %ok0 = arith.cmpi eq, %x0, %i6 : i32
  cf.assert %ok0, "x"
  %ok1 = arith.cmpi eq, %y1, %i7 : i32
  cf.assert %ok1, "y"
  %ok2 = arith.cmpi eq, %z1, %i3 : i32
  cf.assert %ok2, "z"
  return %r#0, %r#2 : tensor<2xi32>, tensor<2xi32>
}

func.func @fibonacci() -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %i10 = arith.constant 10 : i32
  %r:3 = scf.while (%n = %zero, %x = %zero, %y = %one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
    %k = tensor.extract %n[] : tensor<i32>
    %more = arith.cmpi slt, %k, %i10 : i32
    %t = arith.addi %x, %y : tensor<i32>
    scf.condition(%more) %n, %y, %t : tensor<i32>, tensor<i32>, tensor<i32>
  } do {
  ^bb0(%n: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>):
    %next = arith.addi %n, %one : tensor<i32>
    scf.yield %next, %x, %y : tensor<i32>, tensor<i32>, tensor<i32>
  }
  // 0 1 1 2 3 5 8 13 21 34 55 89 144: ten steps, and the one before the condition
  %x = tensor.extract %r#1[] : tensor<i32>
  %y = tensor.extract %r#2[] : tensor<i32>
  %i89 = arith.constant 89 : i32
  %i144 = arith.constant 144 : i32
  %ok0 = arith.cmpi eq, %x, %i89 : i32
  cf.assert %ok0, "x"
  %ok1 = arith.cmpi eq, %y, %i144 : i32
  cf.assert %ok1, "y"
  return %r#2 : tensor<i32>
}

func.func @branches(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  // 1, then +1 on even and *2 on odd steps: 2 4 5 10 11
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %one) -> (tensor<8xf32>) {
    %parity = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %parity, %c0 : index
    %w = scf.if %even -> (tensor<8xf32>) {
      %t = arith.addf %v, %one : tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    } else {
      %t = arith.mulf %v, %two : tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %w : tensor<8xf32>
  }
  %e = tensor.extract %r[%c5] : tensor<8xf32>
  %f11 = arith.constant 11.0 : f32
  %ok = arith.cmpf oeq, %e, %f11 : f32
  cf.assert %ok, "five steps"
  return %r : tensor<8xf32>
}

func.func @nested() -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<3xi32>
  // outer: x := (x summed with itself three times in the inner loop) + last inner y
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<3xi32>) {
    %in:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %one) -> (tensor<3xi32>, tensor<3xi32>) {
      %u = arith.addi %s, %t : tensor<3xi32>
      scf.yield %u, %s : tensor<3xi32>, tensor<3xi32>
    }
    %v = arith.addi %in#0, %in#1 : tensor<3xi32>
    scf.yield %v : tensor<3xi32>
  }
  // x=1: (1,1)(2,1)(3,2)(5,3) -> 8; x=8: (8,1)(9,8)(17,9)(26,17) -> 43; x=43: (43,1)(44,43)(87,44)(131,87) -> 218
  %e = tensor.extract %r[%c0] : tensor<3xi32>
  %i218 = arith.constant 218 : i32
  %ok = arith.cmpi eq, %e, %i218 : i32
  cf.assert %ok, "two loops"
  return %r : tensor<3xi32>
}

func.func @scalars(%x: f32, %n: index, %b: i1, %t: tensor<3xf32>) -> (f32, index, i1, tensor<3xf32>, tensor<3xf32>) {
  return %x, %n, %b, %t, %t : f32, index, i1, tensor<3xf32>, tensor<3xf32>
}
