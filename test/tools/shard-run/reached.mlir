// Only the function that is run and what it calls is compiled: another may hold what no device can run.
// RUN: shard-run %s --mesh 2 --function uses | FileCheck %s
// CHECK: @uses on 2 devices
// CHECK: verified
// RUN: not shard-run %s --mesh 2 --function other 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'ml_program.global_load_const': no sharding rule for this op
// RUN: not shard-run %s --mesh 2 --function through 2>&1 | FileCheck %s --check-prefix=OTHER
// All functions are compiled to an object, since a host may call each.
// RUN: not shard-run %s --mesh 2 --function uses --emit=obj -o %t.o 2>&1 | FileCheck %s --check-prefix=OTHER

ml_program.global private @bias(dense<1.0> : tensor<8xf32>) : tensor<8xf32>

func.func private @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @uses(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  %bias = ml_program.global_load_const @bias : tensor<8xf32>
  %y = arith.addf %x, %bias : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @through(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @other(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
