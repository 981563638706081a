// What is counted is what is held: a while has one memory for what its condition and its body hand on to each other, and what becomes a result of the
// function lies in the memory of that result. Every layout is given, so the least that a plan counts is the peak of the only plan, but for changes of layout, which
// may stand in one place or another.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{memory-limit=8B})' 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{memory-limit=16383B})' 2>&1 | FileCheck %s --check-prefix=LESS

// Arguments (4096, 128 and 2048 bytes, a number), and a result (2048), in which the while carries its value. Planning also counts two rows (256),
// which the program reads where they are.
// CHECK-LABEL: func.func @while
// CHECK-SAME: peak_memory = 8324
// COUNTED: every plan counts at least 8580 here
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @while(%x: tensor<32x32xf32> {tp.sharding = [[], []]}, %n: i32, %v: tensor<2x32xf32> {tp.sharding = [[], ["x"]]}, %s: tensor<32x32xf32> {tp.sharding = [["x"], []]})
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i:2 = scf.while (%k = %zero, %c = %s) : (i32, tensor<32x32xf32>) -> (i32, tensor<32x32xf32>) {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %k, %c : i32, tensor<32x32xf32>
  } do {
  ^bb0(%k: i32, %c: tensor<32x32xf32>):
    %next = arith.addi %k, %one : i32
    %at = arith.index_cast %k : i32 to index
    %row = tensor.extract_slice %x[%at, 0] [2, 32] [1, 1] {tp.sharding = [[], []]} : tensor<32x32xf32> to tensor<2x32xf32>
    %set = tensor.insert_slice %row into %c[0, 0] [2, 32] [1, 1] {tp.sharding = [["x"], []]} : tensor<2x32xf32> into tensor<32x32xf32>
    scf.yield %next, %set : i32, tensor<32x32xf32>
  }
  return %i#1 : tensor<32x32xf32>
}

// -----

// What the loop carries is overwritten by what the function returns, and lies there from the start: an argument and a result, 2048 bytes each.
// CHECK-LABEL: func.func @for
// CHECK-SAME: peak_memory = 6144
// COUNTED: every plan counts at least 6144 here
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @for(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}) -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%c = %x) -> tensor<32x32xf32> {
    %e = math.exp %c {tp.sharding = [["x"], []]} : tensor<32x32xf32>
    scf.yield %e : tensor<32x32xf32>
  }
  %y = math.tanh %r {tp.sharding = [["x"], []]} : tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// -----

// A product that an elementwise op overwrites, and another one that is returned under another name: both are made in results. Two arguments (2048 and
// 4096 bytes), two results (2048).
// CHECK-LABEL: func.func @returned
// CHECK-SAME: peak_memory = 10240
// COUNTED: every plan counts at least 10240 here
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @returned(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %w: tensor<32x32xf32> {tp.sharding = [[], []]})
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}, tensor<1024xf32> {tp.sharding = [["x"]]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() {tp.sharding = [["x"], []]} : tensor<32x32xf32>
  %f = linalg.fill {tp.sharding = [["x"], []]} ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = linalg.matmul {tp.sharding = [["x"], []]} ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = math.tanh %p {tp.sharding = [["x"], []]} : tensor<32x32xf32>
  %q = linalg.matmul {tp.sharding = [["x"], []]} ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %v = tensor.collapse_shape %q [[0, 1]] {tp.sharding = [["x"]]} : tensor<32x32xf32> into tensor<1024xf32>
  return %y, %v : tensor<32x32xf32>, tensor<1024xf32>
}

// -----

// The layout changes behind the product: then it has memory of its own, as long as it is read. Half
// of each argument (2048 each), the product, its sum over the devices and the result (4096 each).
// CHECK-LABEL: func.func @changed
// CHECK-SAME: peak_memory = 16384
// COUNTED: every plan counts at least 12288 here
// LESS-NOT: error:
// LESS: error: 'math.tanh': memory-limit: a device may hold 16383 bytes, and no plan was found that fits (none exists by the planner's memory estimate
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @changed(%x: tensor<32x32xf32> {tp.sharding = [[], ["x"]]}, %w: tensor<32x32xf32> {tp.sharding = [["x"], []]})
    -> (tensor<32x32xf32> {tp.sharding = [[], []]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() {tp.sharding = [[], []]} : tensor<32x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = linalg.matmul {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = math.tanh %p {tp.sharding = [[], []]} : tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// -----

// A product that each iteration makes anew has buffers of the loop's own, which the op behind it does not decide about: two arguments (2048 and
// 4096 bytes), what the loop carries and the new product (2048 each), the result (2048).
// CHECK-LABEL: func.func @anew
// CHECK-SAME: peak_memory = 12288
// COUNTED: every plan counts at least 12288 here
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @anew(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %w: tensor<32x32xf32> {tp.sharding = [[], []]}) -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() {tp.sharding = [["x"], []]} : tensor<32x32xf32>
  %f = linalg.fill {tp.sharding = [["x"], []]} ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%c = %x) -> tensor<32x32xf32> {
    %p = linalg.matmul {tp.sharding = [["x"], []]} ins(%c, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %p : tensor<32x32xf32>
  }
  %y = math.tanh %r {tp.sharding = [["x"], []]} : tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
