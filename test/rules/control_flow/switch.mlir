// scf.index_switch: every branch is planned, and the results of all branches have one layout.
// The selected branch communicates, so all devices have to select the same one: the selector is computed from a sharded value (uneven over 4 and over 3).
// RUN: shard-run %s --function selects --mesh 2x2
// RUN: shard-run %s --function selects --mesh dp=1,tp=4 --strategy follow --seed 5 | FileCheck %s --check-prefix=FIRST
// RUN: shard-run %s --function selects --mesh dp=1,tp=4 --strategy follow --seed 1 | FileCheck %s --check-prefix=OTHER
// RUN: shard-run %s --function selects --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function loops --mesh 2x2
// RUN: shard-run %s --function loops --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function loops --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function few --mesh 2x2
// RUN: shard-run %s --function few --mesh dp=1,tp=3 --strategy follow
// RUN: shard-run %s --function elements --mesh dp=1,tp=3
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=dp=1,tp=4 strategy=follow})' | FileCheck %s

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}

// The branches yield a partial sum, a value split by columns and the argument split by rows. Each of them becomes the layout of the result, by columns.
// CHECK-LABEL: func.func @selects
// CHECK: shard.all_to_all
// CHECK: %[[R:.*]]:2 = scf.index_switch %{{.*}} -> tensor<5x2xf32>, i32
// CHECK-NEXT: case 0 {
// CHECK: %[[S:.*]] = shard.reduce_scatter
// CHECK-NEXT: scf.yield %[[S]], %{{.*}} : tensor<5x2xf32>, i32
// CHECK: case 1 {
// CHECK-NOT: shard.all
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<5x2xf32>, i32
// CHECK: default {
// CHECK-NEXT: scf.yield %{{.*}}, %{{.*}} : tensor<5x2xf32>, i32
// CHECK: %[[ALL:.*]] = shard.all_to_all
// CHECK: return %{{.*}}, %[[R]]#1
// FIRST: reduce_scatter tp 1 120 B
// FIRST: verified
// OTHER: reduce_scatter tp 0 0 B
// OTHER: verified
func.func @selects(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %w: tensor<6x6xf32> {tp.sharding = [["tp"], []]}, %k: tensor<7xi32> {tp.sharding = [["tp"]]})
    -> (tensor<5x6xf32> {tp.sharding = [["tp"], []]}, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
  %min = arith.constant dense<-100> : tensor<i32>
  %mx = linalg.reduce ins(%k : tensor<7xi32>) outs(%min : tensor<i32>) dimensions = [0]
      (%in: i32, %acc: i32) { %n = arith.addi %in, %acc : i32  linalg.yield %n : i32 }
  %m = tensor.extract %mx[] : tensor<i32>
  %mod = arith.remsi %m, %c3 : i32
  %selector = arith.index_cast %mod : i32 to index
  %e = tensor.empty() : tensor<5x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r:2 = scf.index_switch %selector -> tensor<5x6xf32>, i32
  case 0 {
    %t = math.tanh %x : tensor<5x6xf32>
    %s = shard.sharding @mesh split_axes = [[], [1]] : !shard.sharding
    %c = shard.shard %t to %s : tensor<5x6xf32>
    %p = linalg.matmul ins(%c, %w : tensor<5x6xf32>, tensor<6x6xf32>) outs(%f : tensor<5x6xf32>) -> tensor<5x6xf32>
    scf.yield %p, %c1 : tensor<5x6xf32>, i32
  }
  case 1 {
    %t = math.exp %x : tensor<5x6xf32>
    %s = shard.sharding @mesh split_axes = [[], [1]] : !shard.sharding
    %c = shard.shard %t to %s annotate_for_users : tensor<5x6xf32>
    %d = arith.addf %c, %c : tensor<5x6xf32>
    scf.yield %d, %c2 : tensor<5x6xf32>, i32
  }
  default {
    scf.yield %x, %c3 : tensor<5x6xf32>, i32
  }
  return %r#0, %r#1 : tensor<5x6xf32>, i32
}

// In a loop every case runs, some twice, and one of them has a branch of its own.
func.func @loops(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %w: tensor<6x6xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<5x6xf32> {tp.sharding = [["tp"], []]}, tensor<5x6xf32> {tp.sharding = [[], ["tp"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
    %s:2 = scf.index_switch %i -> tensor<5x6xf32>, tensor<5x6xf32>
    case 1 {
      %p = linalg.matmul ins(%a, %w : tensor<5x6xf32>, tensor<6x6xf32>) outs(%f : tensor<5x6xf32>) -> tensor<5x6xf32>
      scf.yield %p, %a : tensor<5x6xf32>, tensor<5x6xf32>
    }
    case 2 {
      %v = tensor.extract %a[%c1, %i] : tensor<5x6xf32>
      %is = arith.cmpf olt, %v, %zero : f32
      %o = scf.if %is -> tensor<5x6xf32> {
        %p = linalg.matmul ins(%b, %w : tensor<5x6xf32>, tensor<6x6xf32>) outs(%f : tensor<5x6xf32>) -> tensor<5x6xf32>
        scf.yield %p : tensor<5x6xf32>
      } else {
        scf.yield %b : tensor<5x6xf32>
      }
      scf.yield %o, %b : tensor<5x6xf32>, tensor<5x6xf32>
    }
    case 4 {
      %t = math.tanh %b : tensor<5x6xf32>
      scf.yield %t, %t : tensor<5x6xf32>, tensor<5x6xf32>
    }
    default {
      %t = arith.addf %a, %x : tensor<5x6xf32>
      scf.yield %b, %t : tensor<5x6xf32>, tensor<5x6xf32>
    }
    scf.yield %s#0, %s#1 : tensor<5x6xf32>, tensor<5x6xf32>
  }
  return %r#0, %r#1 : tensor<5x6xf32>, tensor<5x6xf32>
}

// Without results, without cases, and with a result that is no tensor.
func.func @few(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %n: index) -> (tensor<5x6xf32>, f32) {
  %c1 = arith.constant 1 : index
  scf.index_switch %n
  case 2 {
    %u = math.tanh %x : tensor<5x6xf32>
    scf.yield
  }
  default {
    scf.yield
  }
  %y = scf.index_switch %n -> tensor<5x6xf32>
  default {
    %t = math.exp %x : tensor<5x6xf32>
    scf.yield %t : tensor<5x6xf32>
  }
  %z = scf.index_switch %n -> f32
  case 3 {
    %v = tensor.extract %x[%c1, %c1] : tensor<5x6xf32>
    scf.yield %v : f32
  }
  default {
    %v = tensor.extract %y[%c1, %c1] : tensor<5x6xf32>
    scf.yield %v : f32
  }
  return %y, %z : tensor<5x6xf32>, f32
}

// In the body of an op; a sum over an uneven dimension masks the padding.
func.func @elements(%x: tensor<7xi32> {tp.sharding = [["tp"]]}) -> (tensor<7xi32>, tensor<i32>) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant dense<0> : tensor<i32>
  %e = tensor.empty() : tensor<7xi32>
  %y = linalg.map ins(%x : tensor<7xi32>) outs(%e : tensor<7xi32>) (%v: i32, %o: i32) {
    %mod = arith.remsi %v, %c3 : i32
    %i = arith.index_cast %mod : i32 to index
    %r = scf.index_switch %i -> i32
    case 1 {
      %q = arith.muli %v, %v : i32
      scf.yield %q : i32
    }
    case -1 {
      scf.yield %c2 : i32
    }
    default {
      scf.yield %v : i32
    }
    linalg.yield %r : i32
  }
  %s = linalg.reduce ins(%x : tensor<7xi32>) outs(%zero : tensor<i32>) dimensions = [0] (%v: i32, %acc: i32) {
    %mod = arith.remsi %v, %c3 : i32
    %i = arith.index_cast %mod : i32 to index
    %r = scf.index_switch %i -> i32
    case 1 {
      scf.yield %c2 : i32
    }
    default {
      %q = arith.divsi %c3, %c2 : i32
      scf.yield %q : i32
    }
    %n = arith.addi %r, %acc : i32
    linalg.yield %n : i32
  }
  return %y, %s : tensor<7xi32>, tensor<i32>
}
