// Conversions of floats to integers and comparisons by totalOrder are exported as the one op that they were, although the import spells them out; other selects stay.
// RUN: shard-opt %s --allow-unregistered-dialect --mlir-print-op-generic --pass-pipeline='builtin.module(tp-import-stablehlo,tp-export-stablehlo)' -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: shard-run %t.mlir --mesh x=2 --function converted
// RUN: shard-run %t.mlir --mesh x=2 --function ordered

// CHECK: sym_name = "converted"
// CHECK-NOT: stablehlo.select
// CHECK: "stablehlo.convert"(%{{.*}}) : (tensor<8xf32>) -> tensor<8xi8>
// CHECK-NOT: stablehlo.select
// CHECK: "stablehlo.convert"(%{{.*}}) : (tensor<8xf32>) -> tensor<8xui8>
// CHECK-NOT: stablehlo.select
// CHECK: %[[WIDE:.*]] = "stablehlo.convert"(%{{.*}}) : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK: "stablehlo.convert"(%[[WIDE]]) : (tensor<8xf32>) -> tensor<8xi64>
// CHECK-NOT: stablehlo.select
// CHECK: func.return
func.func @converted(%a: tensor<8xf32>, %b: tensor<8xbf16>) -> (tensor<8xi8>, tensor<8xui8>, tensor<8xi64>) {
  %0 = "stablehlo.convert"(%a) : (tensor<8xf32>) -> tensor<8xi8>
  %1 = "stablehlo.convert"(%a) : (tensor<8xf32>) -> tensor<8xui8>
  %2 = "stablehlo.convert"(%b) : (tensor<8xbf16>) -> tensor<8xi64>
  return %0, %1, %2 : tensor<8xi8>, tensor<8xui8>, tensor<8xi64>
}

// CHECK: sym_name = "ordered"
// CHECK-NOT: stablehlo.xor
// CHECK: "stablehlo.compare"({{.*}} TOTALORDER>{{.*}} LT>
// CHECK: "stablehlo.compare"({{.*}} TOTALORDER>{{.*}} EQ>
// CHECK: func.return
func.func @ordered(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xi1>, tensor<8xi1>) {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %0, %1 : tensor<8xi1>, tensor<8xi1>
}

// A result for large numbers that a conversion would not give; 1 for NaN; selects that are no part of a conversion.
// CHECK: sym_name = "clamped"
// CHECK-COUNT-3: "stablehlo.select"
// CHECK: sym_name = "nan_is_one"
// CHECK-COUNT-3: "stablehlo.select"
// CHECK: sym_name = "shifted"
// CHECK-NOT: TOTALORDER
func.func @clamped(%a: tensor<8xf32>) -> tensor<8xi8> {
  %most = arith.constant dense<126> : tensor<8xi8>
  %least = arith.constant dense<-128> : tensor<8xi8>
  %zero = arith.constant dense<0> : tensor<8xi8>
  %high = arith.constant dense<128.0> : tensor<8xf32>
  %low = arith.constant dense<-128.0> : tensor<8xf32>
  %0 = arith.fptosi %a : tensor<8xf32> to tensor<8xi8>
  %1 = arith.cmpf oge, %a, %high : tensor<8xf32>
  %2 = arith.select %1, %most, %0 : tensor<8xi1>, tensor<8xi8>
  %3 = arith.cmpf ole, %a, %low : tensor<8xf32>
  %4 = arith.select %3, %least, %2 : tensor<8xi1>, tensor<8xi8>
  %5 = arith.cmpf uno, %a, %a : tensor<8xf32>
  %6 = arith.select %5, %zero, %4 : tensor<8xi1>, tensor<8xi8>
  return %6 : tensor<8xi8>
}
func.func @nan_is_one(%a: tensor<8xf32>) -> tensor<8xi8> {
  %most = arith.constant dense<127> : tensor<8xi8>
  %least = arith.constant dense<-128> : tensor<8xi8>
  %one = arith.constant dense<1> : tensor<8xi8>
  %high = arith.constant dense<128.0> : tensor<8xf32>
  %low = arith.constant dense<-128.0> : tensor<8xf32>
  %0 = arith.fptosi %a : tensor<8xf32> to tensor<8xi8>
  %1 = arith.cmpf oge, %a, %high : tensor<8xf32>
  %2 = arith.select %1, %most, %0 : tensor<8xi1>, tensor<8xi8>
  %3 = arith.cmpf ole, %a, %low : tensor<8xf32>
  %4 = arith.select %3, %least, %2 : tensor<8xi1>, tensor<8xi8>
  %5 = arith.cmpf uno, %a, %a : tensor<8xf32>
  %6 = arith.select %5, %one, %4 : tensor<8xi1>, tensor<8xi8>
  return %6 : tensor<8xi8>
}
func.func @shifted(%a: tensor<8xf32>, %b: tensor<8xi32>) -> tensor<8xi1> {
  %width = arith.constant dense<30> : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %0 = arith.bitcast %a : tensor<8xf32> to tensor<8xi32>
  %1 = arith.shrsi %0, %width : tensor<8xi32>
  %2 = arith.shrui %1, %one : tensor<8xi32>
  %3 = arith.xori %0, %2 : tensor<8xi32>
  %4 = arith.cmpi slt, %3, %3 : tensor<8xi32>
  return %4 : tensor<8xi1>
}
