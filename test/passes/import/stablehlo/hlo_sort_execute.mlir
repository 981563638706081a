// Sorts on several devices give the results of one, and those of the evaluator; rows do not divide evenly.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3
// RUN: shard-run %s --mesh 4 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x2 --launch processes

module {
  // Both dimensions, with ties; the second operand is a payload.
  func.func @main(%x: tensor<7x10xf32>, %n: tensor<7x10xi8>, %long: tensor<2x300xf32>)
      -> (tensor<7x10xf32>, tensor<7x10xi8>, tensor<7x10xf32>, tensor<7x10xi8>, tensor<7x3xf32>, tensor<7x3xi32>, tensor<2x300xf32>, tensor<2x100xf32>, tensor<2x100xi32>, tensor<7x10xi8>) {
    %0:2 = "stablehlo.sort"(%x, %n) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
      %2 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) : (tensor<7x10xf32>, tensor<7x10xi8>) -> (tensor<7x10xf32>, tensor<7x10xi8>)
    // Few different keys, so that the order of the payload shows that the sort is stable.
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8>
    %1:2 = "stablehlo.sort"(%x, %n) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
      %l = "stablehlo.and"(%c, %one) : (tensor<i8>, tensor<i8>) -> tensor<i8>
      %r = "stablehlo.and"(%d, %one) : (tensor<i8>, tensor<i8>) -> tensor<i8>
      %2 = "stablehlo.compare"(%l, %r) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i8>, tensor<i8>) -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) : (tensor<7x10xf32>, tensor<7x10xi8>) -> (tensor<7x10xf32>, tensor<7x10xi8>)
    %3:2 = "chlo.top_k"(%x) <{k = 3 : i64}> : (tensor<7x10xf32>) -> (tensor<7x3xf32>, tensor<7x3xi32>)
    %4 = "stablehlo.sort"(%long) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) : (tensor<2x300xf32>) -> tensor<2x300xf32>
    // More than are selected one by one.
    %5:2 = "chlo.top_k"(%long) <{k = 100 : i64}> : (tensor<2x300xf32>) -> (tensor<2x100xf32>, tensor<2x100xi32>)
    // A comparator that uses no operand keeps the order.
    %6 = "stablehlo.sort"(%n) <{dimension = 1 : i64}> ({
    ^bb0(%c: tensor<i8>, %d: tensor<i8>):
      %2 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) : (tensor<7x10xi8>) -> tensor<7x10xi8>
    return %0#0, %0#1, %1#0, %1#1, %3#0, %3#1, %4, %5#0, %5#1, %6 : tensor<7x10xf32>, tensor<7x10xi8>, tensor<7x10xf32>, tensor<7x10xi8>, tensor<7x3xf32>, tensor<7x3xi32>, tensor<2x300xf32>, tensor<2x100xf32>, tensor<2x100xi32>, tensor<7x10xi8>
  }
}
