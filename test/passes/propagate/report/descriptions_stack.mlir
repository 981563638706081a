// Name stacks of a framework say which function of the user made an op, whether it belongs to a gradient, and whether it is computed again.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow report=%t.json report-alternatives=0})' -o /dev/null
// RUN: %python -B %S/Inputs/descriptions.py %t.json | FileCheck %s

// CHECK: %arg0: params/0/wq
// CHECK-NEXT: %arg1: params/0/wk
// CHECK-NEXT: %arg2: argument 2
// The op, its scope, and the named tensors that it reads.
// CHECK: %[[#]]: input of params/0/wq, wk
// CHECK-NEXT: %[[#]]: attention: dot_general with params/0/wq
// CHECK-NEXT: %[[#]]: attention: dot_general with params/0/wk
// Several transformations stand around a scope; loops, and functions of the framework, are no scopes; einsum's are.
// CHECK-NEXT: %[[#]]: heads/score: add after params/0/wk
// CHECK-NEXT: %[[#]]: recomputed attention: tanh after params/0/wk
// Without a scope, the function in which the op stands; the call of a function is one, but for the outermost.
// CHECK-NEXT: %[[#]]: norm: mul after params/0/wk
// CHECK-NEXT: %[[#]]: silu: logistic after params/0/wk
// An op that a function of the framework left without a stack.
// CHECK-NEXT: %[[#]]: div after params/0/wk
// CHECK-NEXT: %[[#]]: gradient through attention: mul after params/0/wk
// CHECK-NEXT: %[[#]]: gradient at the output of params/0/wq
// CHECK-NEXT: %[[#]]: gradient: neg after params/0/wk
// CHECK-NEXT: %[[#]]: gradient through params/0/wq
// The gradient is known by the stack, whatever the program says of the argument; the square of it is for the state of the optimizer.
// CHECK: %[[#]]: gradient of params/0/wq
// CHECK-NEXT: %[[#]]: new argument 2
// CHECK-NEXT: %[[#]]: update of params/0/wq: mul
// CHECK-NEXT: %[[#]]: new params/0/wq
// CHECK: result 0: new params/0/wq
// CHECK-NEXT: result 1: new argument 2

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @step(%arg0: tensor<8x8xf32> {tp.name = "params/0/wq", tp.role = "param"}, %arg1: tensor<8x8xf32> {tp.name = "params/0/wk", tp.role = "param"},
                %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>) -> (tensor<8x8xf32> {tp.updates = 0 : i64}, tensor<8x8xf32> {tp.updates = 2 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = math.absf %arg3 : tensor<8x8xf32> loc("jit(step)/jvp(attention)/abs")
  %2 = linalg.matmul ins(%1, %arg0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32> loc("jit(step)/jvp(attention)/dot_general")
  %3 = linalg.matmul ins(%1, %arg1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32> loc("jit(step)/jvp(attention)/dot_general")
  %4 = arith.addf %2, %3 : tensor<8x8xf32> loc("jit(step)/vmap(jvp(heads))/while/body/closed_call/score/add")
  %5 = math.tanh %4 : tensor<8x8xf32> loc("jit(step)/checkpoint/rematted_computation/attention/tanh")
  %6 = arith.mulf %4, %5 : tensor<8x8xf32> loc("jit(step)/jvp()/mul"(callsite("norm.<locals>.<lambda>"("model.py":5:1) at "loss"("model.py":9:1))))
  %7 = math.exp %6 : tensor<8x8xf32> loc("jit(step)/jvp(jit(silu))/logistic")
  %8 = arith.divf %6, %7 : tensor<8x8xf32> loc("div")
  %9 = arith.mulf %8, %7 : tensor<8x8xf32> loc("jit(step)/transpose(jvp(attention))/mul")
  %16 = arith.mulf %9, %7 : tensor<8x8xf32> loc("jit(step)/transpose(jvp(attention))/mul")
  %10 = arith.negf %9 : tensor<8x8xf32> loc("jit(step)/transpose(jvp())/neg")
  %11 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%10, %arg0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32> loc("jit(step)/transpose(jvp(attention))/dot_general")
  %12 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %16 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32> loc("jit(step)/transpose(jvp(attention))/dot_general")
  %13 = arith.addf %arg2, %12 : tensor<8x8xf32> loc("jit(step)/add")
  %14 = arith.mulf %13, %12 : tensor<8x8xf32> loc("jit(step)/mul")
  %15 = arith.subf %arg0, %14 : tensor<8x8xf32> loc("jit(step)/sub")
  return %15, %13 : tensor<8x8xf32>, tensor<8x8xf32>
}
