// Calls of functions without a body. Without a rule, all devices call with whole tensors.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd{mesh=tp=4})' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN --input-file=%t

// WARN: warning: 'func.call': @ext has no body: all 4 devices call it, with whole tensors, so its effects happen 4 times, and it must return the same to all devices; to shard it, state a tp.rule on its declaration
// CHECK: func.func private @ext(tensor<8x4xf32>, f32) -> tensor<8x4xf32>
// CHECK: func.func @whole
// CHECK: %[[G:.*]] = shard.all_gather
// CHECK: %[[Y:.*]] = call @ext(%[[G]], %{{.*}}) : (tensor<8x4xf32>, f32) -> tensor<8x4xf32>
// CHECK: %[[S:.*]] = shard.all_slice %[[Y]]
// CHECK: return %[[S]]
func.func private @ext(tensor<8x4xf32>, f32) -> tensor<8x4xf32>
func.func @whole(%x: tensor<8x4xf32> {tp.sharding = [["tp"], []]}, %s: f32) -> (tensor<8x4xf32> {tp.sharding = [["tp"], []]}) {
  %y = func.call @ext(%x, %s) : (tensor<8x4xf32>, f32) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A call that returns nothing, one without tensors, and one whose result is unused stay, in a loop and in a branch too.
// WARN-NOT: warning
// WARN: warning: 'func.call': @show has no body
// WARN: warning: 'func.call': @tick has no body
// WARN: warning: 'func.call': @next has no body
// WARN-NOT: warning
// CHECK: func.func private @show(tensor<8xf32>)
// CHECK: func.func @effects
// CHECK: scf.for
// CHECK: func.call @show(%{{.*}}) : (tensor<8xf32>) -> ()
// CHECK: scf.if
// CHECK: func.call @tick() : () -> ()
// CHECK: call @next() : () -> tensor<8xf32>
func.func private @show(tensor<8xf32>)
func.func private @tick()
func.func private @next() -> tensor<8xf32>
func.func @effects(%x: tensor<8xf32> {tp.sharding = [["tp"]]}, %b: i1) -> (tensor<8xf32> {tp.sharding = [["tp"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    func.call @show(%x) : (tensor<8xf32>) -> ()
    scf.if %b {
      func.call @tick() : () -> ()
    }
  }
  %unused = func.call @next() : () -> tensor<8xf32>
  %y = math.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// With a rule on the declaration, the devices call with their shards; the declaration gets their type. The sum is partial.
// CHECK: func.func private @rows(tensor<2x4xf32>, f32) -> tensor<4xf32> attributes {tp.rule = "([i,j],())->([j]) reduction={i}"}
// CHECK: func.func @sharded
// CHECK-NOT: shard.all_gather
// CHECK: %[[R:.*]] = call @rows(%{{.*}}, %{{.*}}) : (tensor<2x4xf32>, f32) -> tensor<4xf32>
// CHECK: shard.reduce_scatter %[[R]] 
func.func private @rows(tensor<8x4xf32>, f32) -> tensor<4xf32> attributes {tp.rule = "([i,j],())->([j]) reduction={i}"}
func.func @sharded(%x: tensor<8x4xf32> {tp.sharding = [["tp"], []]}, %s: f32) -> tensor<4xf32> {
  %y = func.call @rows(%x, %s) : (tensor<8x4xf32>, f32) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A rule on a call.
// CHECK: func.func private @one(tensor<2xf32>) -> tensor<2xf32>
// CHECK: func.func @rule_of_call
// CHECK: call @one(%{{.*}}) {{.*}}: (tensor<2xf32>) -> tensor<2xf32>
func.func private @one(tensor<8xf32>) -> tensor<8xf32>
func.func @rule_of_call(%x: tensor<8xf32> {tp.sharding = [["tp"]]}) -> (tensor<8xf32> {tp.sharding = [["tp"]]}) {
  %y = func.call @one(%x) {tp.rule = "([i])->([i])"} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
