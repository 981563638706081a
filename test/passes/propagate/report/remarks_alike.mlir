// What is the same of several tensors is said once: of weights of equal layers, and of values by their places.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=0 strategy=follow})' -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{remark-bytes=0 strategy=follow})' -o /dev/null 2>&1 | grep -c remark: | FileCheck %s --check-prefix=COUNT

// CHECK: model.py:1:1: remark: 'linalg.matmul': a weight, argument 1 (l0), is gathered over dp for operand 1: 3.0 KiB are sent per device to reshard it from {{\[\["dp"\], \[\]\] to \[\[\], \[\]\]}}; the same holds for 2 more, the next is argument 2 (l1)
// CHECK: model.py:4:1: remark: 'math.exp': result 0 is replicated on all 4 devices, 20 B on each: its producer cannot split it; the same holds for 1 more, the next is at model.py:5
// After 32 remarks there is a number.
// CHECK: remark: 'func.func': 3 more remarks about large tensors; increase remark-bytes to leave out the smaller tensors
// COUNT: {{^}}35{{$}}

shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @layers(%x: tensor<64x32xf32> {tp.name = "x", tp.sharding = [["dp"], []]},
                  %u: tensor<32x32xf32> {tp.name = "l0", tp.role = "param", tp.sharding = [["dp"], []]},
                  %v: tensor<32x32xf32> {tp.name = "l1", tp.role = "param", tp.sharding = [["dp"], []]},
                  %w: tensor<32x32xf32> {tp.name = "l2", tp.role = "param", tp.sharding = [["dp"], []]},
                  %b: tensor<64x32xf32> {tp.sharding = [["dp"], []]}, %s: tensor<5xf32> {tp.sharding = [[]]})
    -> (tensor<64x32xf32> {tp.sharding = [["dp"], []]}, tensor<5xf32> {tp.sharding = [[]]}) {
  %1 = linalg.matmul ins(%x, %u : tensor<64x32xf32>, tensor<32x32xf32>) outs(%b : tensor<64x32xf32>) -> tensor<64x32xf32> loc("model.py":1:1)
  %2 = linalg.matmul ins(%1, %v : tensor<64x32xf32>, tensor<32x32xf32>) outs(%b : tensor<64x32xf32>) -> tensor<64x32xf32> loc("model.py":2:1)
  %3 = linalg.matmul ins(%2, %w : tensor<64x32xf32>, tensor<32x32xf32>) outs(%b : tensor<64x32xf32>) -> tensor<64x32xf32> loc("model.py":3:1)
  %4 = math.exp %s : tensor<5xf32> loc("model.py":4:1)
  %5 = math.exp %4 : tensor<5xf32> loc("model.py":5:1)
  return %3, %5 : tensor<64x32xf32>, tensor<5xf32>
}

// Thirty-five tensors, each of another size.
func.func @many(%a0: tensor<5xf32> {tp.sharding = [[]]}, %a1: tensor<6xf32> {tp.sharding = [[]]}, %a2: tensor<7xf32> {tp.sharding = [[]]}, %a3: tensor<8xf32> {tp.sharding = [[]]}, %a4: tensor<9xf32> {tp.sharding = [[]]}, %a5: tensor<10xf32> {tp.sharding = [[]]}, %a6: tensor<11xf32> {tp.sharding = [[]]}, %a7: tensor<12xf32> {tp.sharding = [[]]}, %a8: tensor<13xf32> {tp.sharding = [[]]}, %a9: tensor<14xf32> {tp.sharding = [[]]}, %a10: tensor<15xf32> {tp.sharding = [[]]}, %a11: tensor<16xf32> {tp.sharding = [[]]}, %a12: tensor<17xf32> {tp.sharding = [[]]}, %a13: tensor<18xf32> {tp.sharding = [[]]}, %a14: tensor<19xf32> {tp.sharding = [[]]}, %a15: tensor<20xf32> {tp.sharding = [[]]}, %a16: tensor<21xf32> {tp.sharding = [[]]}, %a17: tensor<22xf32> {tp.sharding = [[]]}, %a18: tensor<23xf32> {tp.sharding = [[]]}, %a19: tensor<24xf32> {tp.sharding = [[]]}, %a20: tensor<25xf32> {tp.sharding = [[]]}, %a21: tensor<26xf32> {tp.sharding = [[]]}, %a22: tensor<27xf32> {tp.sharding = [[]]}, %a23: tensor<28xf32> {tp.sharding = [[]]}, %a24: tensor<29xf32> {tp.sharding = [[]]}, %a25: tensor<30xf32> {tp.sharding = [[]]}, %a26: tensor<31xf32> {tp.sharding = [[]]}, %a27: tensor<32xf32> {tp.sharding = [[]]}, %a28: tensor<33xf32> {tp.sharding = [[]]}, %a29: tensor<34xf32> {tp.sharding = [[]]}, %a30: tensor<35xf32> {tp.sharding = [[]]}, %a31: tensor<36xf32> {tp.sharding = [[]]}, %a32: tensor<37xf32> {tp.sharding = [[]]}, %a33: tensor<38xf32> {tp.sharding = [[]]}, %a34: tensor<39xf32> {tp.sharding = [[]]}) {
  %r0 = math.exp %a0 : tensor<5xf32>
  %r1 = math.exp %a1 : tensor<6xf32>
  %r2 = math.exp %a2 : tensor<7xf32>
  %r3 = math.exp %a3 : tensor<8xf32>
  %r4 = math.exp %a4 : tensor<9xf32>
  %r5 = math.exp %a5 : tensor<10xf32>
  %r6 = math.exp %a6 : tensor<11xf32>
  %r7 = math.exp %a7 : tensor<12xf32>
  %r8 = math.exp %a8 : tensor<13xf32>
  %r9 = math.exp %a9 : tensor<14xf32>
  %r10 = math.exp %a10 : tensor<15xf32>
  %r11 = math.exp %a11 : tensor<16xf32>
  %r12 = math.exp %a12 : tensor<17xf32>
  %r13 = math.exp %a13 : tensor<18xf32>
  %r14 = math.exp %a14 : tensor<19xf32>
  %r15 = math.exp %a15 : tensor<20xf32>
  %r16 = math.exp %a16 : tensor<21xf32>
  %r17 = math.exp %a17 : tensor<22xf32>
  %r18 = math.exp %a18 : tensor<23xf32>
  %r19 = math.exp %a19 : tensor<24xf32>
  %r20 = math.exp %a20 : tensor<25xf32>
  %r21 = math.exp %a21 : tensor<26xf32>
  %r22 = math.exp %a22 : tensor<27xf32>
  %r23 = math.exp %a23 : tensor<28xf32>
  %r24 = math.exp %a24 : tensor<29xf32>
  %r25 = math.exp %a25 : tensor<30xf32>
  %r26 = math.exp %a26 : tensor<31xf32>
  %r27 = math.exp %a27 : tensor<32xf32>
  %r28 = math.exp %a28 : tensor<33xf32>
  %r29 = math.exp %a29 : tensor<34xf32>
  %r30 = math.exp %a30 : tensor<35xf32>
  %r31 = math.exp %a31 : tensor<36xf32>
  %r32 = math.exp %a32 : tensor<37xf32>
  %r33 = math.exp %a33 : tensor<38xf32>
  %r34 = math.exp %a34 : tensor<39xf32>
  return
}
