// The plan as constraints in the original program: on what ops compute, not on constants and broadcasts; partial sums have the layout
// that they are reduced to. The program's own mesh is used if it has one, and locations stay.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-constrain{strategy=follow})' --mlir-print-op-generic | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-keep-original,tp-plan{strategy=follow},tp-export-constraints)' --mlir-print-op-generic | FileCheck %s
// RUN: sed '/^  "sdy.mesh"/d; s/sdy.sharding = #sdy.sharding<@mesh, .{[^}]*}, {[^}]*}.>//g' %s > %t.mlir
// RUN: shard-opt %t.mlir --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-constrain{mesh=x=2})' --mlir-print-op-generic | FileCheck %s --check-prefix=OTHER
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-constrain{strategy=follow})' --mlir-print-op-generic --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK: "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=4]>, sym_name = "mesh"}>
// CHECK-NOT: "sdy.mesh"
// CHECK: arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}]
// CHECK: ^bb0(%[[X:.*]]: tensor<8x16xf32>, %[[A:.*]]: tensor<16x32xf32>, %[[B:.*]]: tensor<32x16xf32>):
// CHECK-NEXT: %[[H:.*]] = "stablehlo.dot_general"(%[[X]], %[[A]])
// CHECK-NEXT: %[[HC:.*]] = "sdy.sharding_constraint"(%[[H]]) {sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}
// CHECK-NEXT: %[[C:.*]] = "stablehlo.constant"
// CHECK-NEXT: %[[Z:.*]] = "stablehlo.broadcast_in_dim"(%[[C]])
// CHECK-NEXT: %[[M:.*]] = "stablehlo.maximum"(%[[HC]], %[[Z]])
// CHECK-NEXT: %[[MC:.*]] = "sdy.sharding_constraint"(%[[M]]) {sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}
// CHECK-NEXT: %[[Y:.*]] = "stablehlo.dot_general"(%[[MC]], %[[B]])
// CHECK-NEXT: %[[YC:.*]] = "sdy.sharding_constraint"(%[[Y]]) {sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}
// CHECK-NEXT: "func.return"(%[[YC]])
// CHECK: mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32
// CHECK-NOT: tp.

// OTHER: "sdy.mesh"() {mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}
// OTHER: "sdy.sharding_constraint"{{.*}}@mesh, [{"x"}, {}]

// LOC-NOT: tp.op:
// LOC: "stablehlo.maximum"({{.*}}loc(#[[AT:.*]])
// LOC-NOT: tp.op:
// LOC: #[[AT]] = loc("relu.py":7:3)
"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=4]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}],
      function_type = (tensor<8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<8x16xf32>, %a: tensor<16x32xf32>, %b: tensor<32x16xf32>):
    %h = "stablehlo.dot_general"(%x, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %z = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x32xf32>
    %m = "stablehlo.maximum"(%h, %z) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32> loc("relu.py":7:3)
    %y = "stablehlo.dot_general"(%m, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    "func.return"(%y) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
