// Conditions and bounds that come from values which are sharded, partial, or behind whose valid part stands padding (5 over 4 devices, over 3):
// all devices have to come to the same decision, as communication stands in the branches and loops.
// RUN: shard-run %s --function partial --mesh 2x2
// RUN: shard-run %s --function partial --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function partial --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function padding --mesh 2x2
// RUN: shard-run %s --function padding --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function padding --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function elements --mesh 2x2
// RUN: shard-run %s --function elements --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function elements --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function flags --mesh 2x2
// RUN: shard-run %s --function flags --mesh dp=1,tp=4 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
// A while loop carries a sum over a split dimension, which decides when it ends; its body communicates.
func.func @partial(%x: tensor<8x8xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<8x8xf32> {tp.sharding = [["tp"], []]}) -> (tensor<8x8xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %z0 = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %limit = arith.constant 6.5 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r:2 = scf.while (%a = %x, %s = %z0) : (tensor<8x8xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<f32>) {
    %v = tensor.extract %s[] : tensor<f32>
    %g = arith.cmpf olt, %v, %limit : f32
    scf.condition(%g) %a, %s : tensor<8x8xf32>, tensor<f32>
  } do {
  ^bb0(%a: tensor<8x8xf32>, %s: tensor<f32>):
    %p = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = math.tanh %p : tensor<8x8xf32>
    %sq = arith.mulf %t, %t : tensor<8x8xf32>
    %eighth = arith.constant dense<0.015625> : tensor<8x8xf32>
    %m = arith.mulf %sq, %eighth : tensor<8x8xf32>
    %sum = linalg.reduce ins(%m : tensor<8x8xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
      (%in: f32, %acc: f32) { %n = arith.addf %in, %acc : f32  linalg.yield %n : f32 }
    %sum1 = arith.addf %sum, %one : tensor<f32>
    scf.yield %t, %sum1 : tensor<8x8xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<f32>
}

// The bound is the maximum of an uneven tensor; conditions are elements of it, the last one too.
func.func @padding(%x: tensor<5xi32> {tp.sharding = [["tp"]]}, %y: tensor<5x3xf32> {tp.sharding = [["tp"], []]}) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %min = arith.constant dense<-100> : tensor<i32>
  %mx = linalg.reduce ins(%x : tensor<5xi32>) outs(%min : tensor<i32>) dimensions = [0]
      (%in: i32, %acc: i32) { %n = arith.maxsi %in, %acc : i32  linalg.yield %n : i32 }
  %m = tensor.extract %mx[] : tensor<i32>
  %c3 = arith.constant 3 : i32
  %mm = arith.remsi %m, %c3 : i32
  %k = arith.index_cast %mm : i32 to index
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %y) -> tensor<5x3xf32> {
    %v = tensor.extract %x[%i] : tensor<5xi32>
    %big = arith.cmpi sgt, %v, %c3 : i32
    %q = scf.if %big -> tensor<5x3xf32> {
      %s = arith.addf %a, %y : tensor<5x3xf32>
      scf.yield %s : tensor<5x3xf32>
    } else {
      %s = arith.mulf %a, %y : tensor<5x3xf32>
      scf.yield %s : tensor<5x3xf32>
    }
    scf.yield %q : tensor<5x3xf32>
  }
  %last = tensor.extract %x[%k] : tensor<5xi32>
  %lb = arith.cmpi sgt, %last, %c3 : i32
  %z = scf.if %lb -> tensor<5x3xf32> {
    scf.yield %r : tensor<5x3xf32>
  } else {
    %n = arith.negf %r : tensor<5x3xf32>
    scf.yield %n : tensor<5x3xf32>
  }
  return %r, %z, %mx : tensor<5x3xf32>, tensor<5x3xf32>, tensor<i32>
}

// Conditions are elements of what a loop carries, read in the loop and inside of a branch.
func.func @elements(%x: tensor<6x6xf32> {tp.sharding = [["dp"], ["tp"]]}, %w: tensor<6x6xf32> {tp.sharding = [["tp"], []]}, %b: tensor<3xi1> {tp.sharding = [["tp"]]}) -> tensor<6x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<6x6xf32> {
    %v = tensor.extract %a[%c5, %c5] : tensor<6x6xf32>
    %g = arith.cmpf olt, %v, %zero : f32
    %q = scf.if %g -> tensor<6x6xf32> {
      %p = linalg.matmul ins(%a, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%f : tensor<6x6xf32>) -> tensor<6x6xf32>
      %fl = tensor.extract %b[%c2] : tensor<3xi1>
      %o = scf.if %fl -> tensor<6x6xf32> {
        %s = math.tanh %p : tensor<6x6xf32>
        scf.yield %s : tensor<6x6xf32>
      } else {
        scf.yield %p : tensor<6x6xf32>
      }
      scf.yield %o : tensor<6x6xf32>
    } else {
      %p = linalg.matmul ins(%w, %a : tensor<6x6xf32>, tensor<6x6xf32>) outs(%f : tensor<6x6xf32>) -> tensor<6x6xf32>
      scf.yield %p : tensor<6x6xf32>
    }
    scf.yield %q : tensor<6x6xf32>
  }
  return %r : tensor<6x6xf32>
}

// A loop ends by a flag that it carries; a counter that it carries is the place of an element that decides about a branch.
func.func @flags(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %lim: tensor<i32>, %flags: tensor<7xi1> {tp.sharding = [["tp"]]}) -> (tensor<5x6xf32>, tensor<i32>, tensor<i1>) {
  %c1 = arith.constant dense<1> : tensor<i32>
  %c0 = arith.constant dense<0> : tensor<i32>
  %t = arith.constant dense<true> : tensor<i1>
  %five = arith.constant dense<5> : tensor<i32>
  %r:3 = scf.while (%a = %x, %k = %c0, %go = %t) : (tensor<5x6xf32>, tensor<i32>, tensor<i1>) -> (tensor<5x6xf32>, tensor<i32>, tensor<i1>) {
    %g = tensor.extract %go[] : tensor<i1>
    scf.condition(%g) %a, %k, %go : tensor<5x6xf32>, tensor<i32>, tensor<i1>
  } do {
  ^bb0(%a: tensor<5x6xf32>, %k: tensor<i32>, %go: tensor<i1>):
    %k1 = arith.addi %k, %c1 : tensor<i32>
    %i = tensor.extract %k1[] : tensor<i32>
    %idx = arith.index_cast %i : i32 to index
    %lt = arith.cmpi slt, %k1, %five : tensor<i32>
    %fl = tensor.extract %flags[%idx] : tensor<7xi1>
    %l = tensor.extract %lt[] : tensor<i1>
    %b = arith.addf %a, %x : tensor<5x6xf32>
    %sel = scf.if %fl -> tensor<5x6xf32> {
      %m = arith.mulf %b, %b : tensor<5x6xf32>
      scf.yield %m : tensor<5x6xf32>
    } else {
      scf.yield %b : tensor<5x6xf32>
    }
    scf.yield %sel, %k1, %lt : tensor<5x6xf32>, tensor<i32>, tensor<i1>
  }
  return %r#0, %r#1, %r#2 : tensor<5x6xf32>, tensor<i32>, tensor<i1>
}
