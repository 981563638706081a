// Functions in all forms: a value that is returned twice, an argument that is returned as it came and in other layouts, arguments that nobody uses,
// what no annotation reaches, scalars, callees that are shared, nested, called in loops, public, without tensors; branches without results.
// RUN: shard-run %s --function returns --mesh 2x2
// RUN: shard-run %s --function returns --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function returns --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function calls --mesh 2x2
// RUN: shard-run %s --function calls --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function calls --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function public --mesh 2x2
// RUN: shard-run %s --function public --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function public --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function branches --mesh 2x2
// RUN: shard-run %s --function branches --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function branches --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function other --mesh 2x2
// RUN: shard-run %s --function other --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function other --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function scalars --mesh 2x2
// RUN: shard-run %s --function scalars --mesh dp=1,tp=4 --strategy follow
// RUN: shard-run %s --function scalars --mesh dp=1,tp=3 --launch processes
// RUN: shard-run %s --function carried --mesh 2x2
// RUN: shard-run %s --function carried --mesh dp=1,tp=3 --strategy follow
// RUN: shard-run %s --function nothing

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @returns(%x: tensor<5x7xf32> {tp.sharding = [["dp"], ["tp"]]}, %unused: tensor<3xf32> {tp.sharding = [["tp"]]}, %s: f32, %i: index, %z: tensor<i32>)
  -> (tensor<5x7xf32> {tp.sharding = [["tp"], []]}, tensor<5x7xf32>, tensor<5x7xf32> {tp.sharding = [[], ["tp", "dp"]]}, f32, tensor<4x4xf32>, index, tensor<i32>, tensor<5x7xf32> {tp.sharding = [["dp","tp"],[]]}) {
  %t = math.tanh %x : tensor<5x7xf32>
  %c = arith.constant dense<[[1.,2.,3.,4.],[5.,6.,7.,8.],[1.,2.,3.,4.],[5.,6.,7.,8.]]> : tensor<4x4xf32>
  %isl = math.exp %c : tensor<4x4xf32>
  return %t, %t, %x, %s, %isl, %i, %z, %x : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, f32, tensor<4x4xf32>, index, tensor<i32>, tensor<5x7xf32>
}

func.func private @scal(%a: f32, %b: f32) -> f32 {
  %r = arith.addf %a, %b : f32
  return %r : f32
}
func.func private @twice(%a: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  return %a, %a : tensor<5x6xf32>, tensor<5x6xf32>
}
func.func private @inner(%a: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %s: f32) -> tensor<5x6xf32> {
  %k = func.call @scal(%s, %s) : (f32, f32) -> f32
  %sp = tensor.splat %k : tensor<5x6xf32>
  %r = arith.addf %a, %sp : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
func.func @calls(%x: tensor<5x6xf32> {tp.sharding = [[], ["tp"]]}, %s: f32, %n: index) -> (tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["tp"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<5x6xf32> {
    %b = func.call @inner(%a, %s) : (tensor<5x6xf32>, f32) -> tensor<5x6xf32>
    %p, %q = func.call @twice(%b) : (tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>)
    %m = arith.mulf %p, %q : tensor<5x6xf32>
    scf.yield %m : tensor<5x6xf32>
  }
  %z = func.call @inner(%x, %s) : (tensor<5x6xf32>, f32) -> tensor<5x6xf32>
  return %y, %z : tensor<5x6xf32>, tensor<5x6xf32>
}
func.func @other(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> tensor<8xf32> {
  %t = math.tanh %x : tensor<8xf32>
  return %t : tensor<8xf32>
}
func.func @nothing() { return }
func.func @scalars(%a: f32) -> f32 {
  %b = arith.addf %a, %a : f32
  return %b : f32
}

func.func @f(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}) -> (tensor<5x6xf32> {tp.sharding = [["tp"], []]}) {
  %r = math.tanh %x : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
func.func @public(%x: tensor<5x6xf32> {tp.sharding = [[], ["tp"]]}) -> tensor<5x6xf32> {
  %r = func.call @f(%x) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = func.call @f(%r) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return %s : tensor<5x6xf32>
}

func.func @branches(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %b: i1, %n: index) -> (tensor<5x6xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.if %b {
    %u = math.tanh %x : tensor<5x6xf32>
  }
  %w = scf.while (%i = %c0) : (index) -> index {
    %g = arith.cmpi slt, %i, %c5 : index
    scf.condition(%g) %i : index
  } do {
  ^bb0(%i: index):
    %j = arith.addi %i, %c1 : index
    scf.yield %j : index
  }
  %y = scf.for %i = %c0 to %w step %c1 iter_args(%a = %x) -> tensor<5x6xf32> {
    %odd = arith.remsi %i, %c5 : index
    %is = arith.cmpi eq, %odd, %c1 : index
    %r = scf.if %is -> tensor<5x6xf32> {
      %q = arith.mulf %a, %x : tensor<5x6xf32>
      scf.yield %q : tensor<5x6xf32>
    } else {
      %rr = scf.if %b -> tensor<5x6xf32> {
        scf.yield %a : tensor<5x6xf32>
      } else {
        %s = arith.addf %a, %x : tensor<5x6xf32>
        scf.yield %s : tensor<5x6xf32>
      }
      scf.yield %rr : tensor<5x6xf32>
    }
    scf.yield %r : tensor<5x6xf32>
  }
  return %y, %w : tensor<5x6xf32>, index
}

// Loops that yield what they carry as it came, alone and beside others, and what comes from outside.
func.func @carried(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %y: tensor<5x6xf32> {tp.sharding = [[], ["tp"]]}, %n: index)
    -> (tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [["dp"], ["tp"]]}, tensor<5x6xf32>, tensor<5x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<5x6xf32> {
    scf.yield %a : tensor<5x6xf32>
  }
  %s:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
    %c = arith.addf %a, %b : tensor<5x6xf32>
    scf.yield %a, %c : tensor<5x6xf32>, tensor<5x6xf32>
  }
  %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<5x6xf32> {
    scf.yield %y : tensor<5x6xf32>
  }
  return %r, %s#0, %s#1, %t : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>
}
