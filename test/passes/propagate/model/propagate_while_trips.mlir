// How often an scf.while runs that counts: the report says it of what communicates in the loop. Where it is not known, 8 is assumed.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o /dev/null
// RUN: FileCheck %s --input-file=%t.json

#scalar = affine_map<() -> ()>
module {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}

  // CHECK: "function": "counted"
  // CHECK: "collectives": [
  // CHECK: "kind": "reduce_scatter"
  // CHECK: "count": 5,
  // CHECK-NEXT: "count_is_known": true

  func.func @counted(%x: tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x64xf32> {tp.sharding = [["tp"], []]})
      -> (tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %minus = arith.constant -1 : i32
    %bound = arith.constant 7 : i32
    %low = arith.constant dense<2> : tensor<i32>
    %r:2 = scf.while (%i = %low, %y = %x) : (tensor<i32>, tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<i32>) {
      %e = tensor.empty() : tensor<i1>
      %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %less = arith.cmpi slt, %in, %bound : i32
        linalg.yield %less : i1
      } -> tensor<i1>
      %go = tensor.extract %c[] : tensor<i1>
      scf.condition(%go) %y, %i : tensor<8x64xf32>, tensor<i32>
    } do {
    ^bb0(%y: tensor<8x64xf32>, %i: tensor<i32>):
      %empty = tensor.empty() : tensor<8x64xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
      %p = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<8x64xf32>) -> tensor<8x64xf32>
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %n1 = arith.addi %in, %one : i32
        linalg.yield %n1 : i32
      } -> tensor<i32>
      scf.yield %next, %p : tensor<i32>, tensor<8x64xf32>
    }
    return %r#0 : tensor<8x64xf32>
  }

  // CHECK: "function": "inclusive"
  // CHECK: "collectives": [
  // CHECK: "kind": "reduce_scatter"
  // CHECK: "count": 6,
  // CHECK-NEXT: "count_is_known": true

  func.func @inclusive(%x: tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x64xf32> {tp.sharding = [["tp"], []]})
      -> (tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %minus = arith.constant -1 : i32
    %bound = arith.constant 7 : i32
    %low = arith.constant dense<2> : tensor<i32>
    %r:2 = scf.while (%i = %low, %y = %x) : (tensor<i32>, tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<i32>) {
      %e = tensor.empty() : tensor<i1>
      %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %less = arith.cmpi sle, %in, %bound : i32
        linalg.yield %less : i1
      } -> tensor<i1>
      %go = tensor.extract %c[] : tensor<i1>
      scf.condition(%go) %y, %i : tensor<8x64xf32>, tensor<i32>
    } do {
    ^bb0(%y: tensor<8x64xf32>, %i: tensor<i32>):
      %empty = tensor.empty() : tensor<8x64xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
      %p = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<8x64xf32>) -> tensor<8x64xf32>
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %n1 = arith.addi %one, %in : i32
        linalg.yield %n1 : i32
      } -> tensor<i32>
      scf.yield %next, %p : tensor<i32>, tensor<8x64xf32>
    }
    return %r#0 : tensor<8x64xf32>
  }

  // It counts away from the bound.
  // CHECK: "function": "downwards"
  // CHECK: "collectives": [
  // CHECK: "kind": "reduce_scatter"
  // CHECK: "count": 8,
  // CHECK-NEXT: "count_is_known": false

  func.func @downwards(%x: tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x64xf32> {tp.sharding = [["tp"], []]})
      -> (tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %minus = arith.constant -1 : i32
    %bound = arith.constant 7 : i32
    %low = arith.constant dense<2> : tensor<i32>
    %r:2 = scf.while (%i = %low, %y = %x) : (tensor<i32>, tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<i32>) {
      %e = tensor.empty() : tensor<i1>
      %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %less = arith.cmpi slt, %in, %bound : i32
        linalg.yield %less : i1
      } -> tensor<i1>
      %go = tensor.extract %c[] : tensor<i1>
      scf.condition(%go) %y, %i : tensor<8x64xf32>, tensor<i32>
    } do {
    ^bb0(%y: tensor<8x64xf32>, %i: tensor<i32>):
      %empty = tensor.empty() : tensor<8x64xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
      %p = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<8x64xf32>) -> tensor<8x64xf32>
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %n1 = arith.addi %in, %minus : i32
        linalg.yield %n1 : i32
      } -> tensor<i32>
      scf.yield %next, %p : tensor<i32>, tensor<8x64xf32>
    }
    return %r#0 : tensor<8x64xf32>
  }

  // CHECK: "function": "doubling"
  // CHECK: "collectives": [
  // CHECK: "kind": "reduce_scatter"
  // CHECK: "count": 8,
  // CHECK-NEXT: "count_is_known": false

  func.func @doubling(%x: tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x64xf32> {tp.sharding = [["tp"], []]})
      -> (tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %minus = arith.constant -1 : i32
    %bound = arith.constant 7 : i32
    %low = arith.constant dense<2> : tensor<i32>
    %r:2 = scf.while (%i = %low, %y = %x) : (tensor<i32>, tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<i32>) {
      %e = tensor.empty() : tensor<i1>
      %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %less = arith.cmpi slt, %in, %bound : i32
        linalg.yield %less : i1
      } -> tensor<i1>
      %go = tensor.extract %c[] : tensor<i1>
      scf.condition(%go) %y, %i : tensor<8x64xf32>, tensor<i32>
    } do {
    ^bb0(%y: tensor<8x64xf32>, %i: tensor<i32>):
      %empty = tensor.empty() : tensor<8x64xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
      %p = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<8x64xf32>) -> tensor<8x64xf32>
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %n1 = arith.addi %in, %in : i32
        linalg.yield %n1 : i32
      } -> tensor<i32>
      scf.yield %next, %p : tensor<i32>, tensor<8x64xf32>
    }
    return %r#0 : tensor<8x64xf32>
  }

  // CHECK: "function": "up_to"
  // CHECK: "collectives": [
  // CHECK: "kind": "reduce_scatter"
  // CHECK: "count": 8,
  // CHECK-NEXT: "count_is_known": false

  func.func @up_to(%x: tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<64x64xf32> {tp.sharding = [["tp"], []]}, %n: i32)
      -> (tensor<8x64xf32> {tp.sharding = [[], ["tp"]]}) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %minus = arith.constant -1 : i32
    %bound = arith.constant 7 : i32
    %low = arith.constant dense<2> : tensor<i32>
    %r:2 = scf.while (%i = %low, %y = %x) : (tensor<i32>, tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<i32>) {
      %e = tensor.empty() : tensor<i1>
      %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %less = arith.cmpi slt, %in, %n : i32
        linalg.yield %less : i1
      } -> tensor<i1>
      %go = tensor.extract %c[] : tensor<i1>
      scf.condition(%go) %y, %i : tensor<8x64xf32>, tensor<i32>
    } do {
    ^bb0(%y: tensor<8x64xf32>, %i: tensor<i32>):
      %empty = tensor.empty() : tensor<8x64xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
      %p = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<8x64xf32>) -> tensor<8x64xf32>
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %n1 = arith.addi %in, %one : i32
        linalg.yield %n1 : i32
      } -> tensor<i32>
      scf.yield %next, %p : tensor<i32>, tensor<8x64xf32>
    }
    return %r#0 : tensor<8x64xf32>
  }
}
