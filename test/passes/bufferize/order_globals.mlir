// Globals of constants are called and ordered by their first use; those of the program keep their names, and a name that is taken is not given again.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-order-globals)' | FileCheck %s

// CHECK: memref.global "private" constant @tp.constant.0 : memref<2xf32> = dense<3.0
// CHECK-NEXT: memref.global "private" constant @tp.constant.2 : memref<2xf32> = dense<1.0
// CHECK-NEXT: memref.global "private" constant @tp.constant.1 : memref<2xf32> = dense<7.0
// CHECK-NEXT: memref.global "private" constant @mine : memref<2xf32> = dense<5.0
memref.global "private" constant @tp.constant.1 : memref<2xf32> = dense<7.0>
memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<1.0>
memref.global "private" constant @mine : memref<2xf32> = dense<5.0>
memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<3.0>

// CHECK-LABEL: func.func @first
// CHECK: memref.get_global @tp.constant.0
// CHECK: memref.get_global @mine
func.func @first() -> (memref<2xf32>, memref<2xf32>) {
  %a = memref.get_global @__constant_2xf32_0 : memref<2xf32>
  %b = memref.get_global @mine : memref<2xf32>
  return %a, %b : memref<2xf32>, memref<2xf32>
}

// CHECK-LABEL: func.func @second
// CHECK: memref.get_global @tp.constant.2
// CHECK: memref.get_global @tp.constant.0
// CHECK: memref.get_global @tp.constant.1
func.func @second() -> (memref<2xf32>, memref<2xf32>, memref<2xf32>) {
  %a = memref.get_global @__constant_2xf32 : memref<2xf32>
  %b = memref.get_global @__constant_2xf32_0 : memref<2xf32>
  %c = memref.get_global @tp.constant.1 : memref<2xf32>
  return %a, %b, %c : memref<2xf32>, memref<2xf32>, memref<2xf32>
}
