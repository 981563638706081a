// A program against one device and against files; what does not agree gives code 1.
// RUN: shard-run %s --mesh dp=2,tp=2 --output=@%t.0.npy --output=@%t.1.npy --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: shard-run %s --mesh dp=2,tp=2 --expected-output=@%t.0.npy --expected-output=@%t.1.npy | FileCheck %s --check-prefix=EXPECTED
// RUN: shard-run %s --mesh 1 --expected-output=@%t.0.npy | FileCheck %s --check-prefix=ONE
// RUN: shard-run %s --mesh dp=2,tp=2 --launch=processes --strategy=follow --expected-output=@%t.0.npy | FileCheck %s --check-prefix=EXPECTED
// CHECK: @main on 4 devices: dp=2,tp=2
// CHECK: memory per device: arguments
// CHECK: result 0: 8x6xf32
// CHECK-NEXT: against one device ok: error
// CHECK: result 1: 8xi32
// CHECK-NEXT: against one device ok: error 0
// CHECK: verified
// EXPECTED: against expected ok: error
// EXPECTED: verified
// ONE: @main on 1 device
// ONE: no communication
// ONE: against expected ok: error
// ONE: verified

// JSON: "schema": 1
// JSON: "verified": true
// JSON: "axis": "dp"
// JSON: "devices": 4
// JSON: "bytes_per_device":
// JSON: "flops_per_device":
// JSON: "flops_unsharded": {{[1-9]}}
// JSON: "memory_per_device": {
// JSON: "buffers":
// JSON: "modelled_seconds":
// JSON: "collectives": [
// JSON: "arguments": [
// JSON: "name": "x"
// JSON: "local_shape": [
// JSON: "results": [
// JSON: "against_one_device": {
// JSON: "ok": true
// JSON: "against_expected": null

// A wrong expectation, another seed, and a file that does not fit.
// RUN: not shard-run %s --mesh dp=2,tp=2 --seed 7 --expected-output=@%t.0.npy --report=%t.bad.json | FileCheck %s --check-prefix=WRONG
// RUN: FileCheck %s --check-prefix=WRONGJSON < %t.bad.json
// WRONG: against one device ok
// WRONG: against expected MISMATCH: error
// WRONG: NOT VERIFIED
// WRONGJSON: "verified": false
// RUN: not shard-run %s --mesh 1 --expected-output=@%t.1.npy 2>&1 | FileCheck %s --check-prefix=FIT
// FIT: shard-run: error: result 0: {{.*}}: has elements of type <i4, expected <f4 (f32)
// RUN: not shard-run %s --mesh 1 --input=@%t.0.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: shard-run: error: argument 0 (x): {{.*}}: has shape (8, 6), expected (8, 4)
// RUN: not shard-run %s --mesh 1 --input=@%s 2>&1 | FileCheck %s --check-prefix=NPY
// NPY: is not an npy file
// RUN: %python -c "h = b\"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (8, 4), }\"; open('%t.fields.npy', 'wb').write(b'\x93NUMPY\x01\x00' + len(h).to_bytes(2, 'little') + h + bytes(128))"
// RUN: not shard-run %s --mesh 1 --input=@%t.fields.npy 2>&1 | FileCheck %s --check-prefix=FIELDS
// FIELDS: shard-run: error: argument 0 (x): {{.*}}: has elements of type [('a', '<f4')], expected <f4 (f32)
// RUN: head -c 200 %t.0.npy > %t.short.npy
// RUN: not shard-run %s --mesh 1 --expected-output=@%t.short.npy 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: ends before the last of its {{[0-9]+}} elements of f32; write it again
// RUN: not shard-run %s --mesh 1 --function other 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: has no public function @other with a body
// RUN: not shard-run %s --mesh tp=2 --topology=moon 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// TOPOLOGY: unknown topology "moon"
// RUN: cp %S/../../../share/topology/cpu.json "%t my host.json"
// RUN: shard-run %s --mesh tp=2 --topology="%t my host.json" --overlap=run | FileCheck %s --check-prefix=BLANK
// BLANK: {{^}}verified
// RUN: cp %S/../../../share/topology/cpu.json "%t{host}.json"
// RUN: not shard-run %s --mesh tp=2 --topology="%t{host}.json" 2>&1 | FileCheck %s --check-prefix=BRACES
// BRACES: shard-run: error: --topology has quotes or braces, or is too long: {{.*}}{host}.json

// RUN: shard-run %s --mesh dp=2,tp=2 --emit=llvm -o %t.ll && FileCheck %s --check-prefix=LLVM < %t.ll
// LLVM: @main.tprt = {{.*}}constant [
// LLVM: define i32 @main(ptr
// LLVM: call i32 @tprt_abi_enter(
// RUN: shard-run %s --mesh dp=2,tp=2 --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
// OBJ-DAG: T main
// OBJ-DAG: {{[RD]}} main.tprt
// OBJ-DAG: U tprt_abi_contract

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x4xf32> {tp.sharding = [["dp"], []], tp.name = "x"},
                %w: tensor<4x6xf32> {tp.sharding = [[], ["tp"]], tp.name = "w", tp.role = "param"},
                %n: tensor<8xi32> {tp.sharding = [["dp"]]})
    -> (tensor<8x6xf32> {tp.sharding = [["dp"], []]}, tensor<8xi32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  %m = arith.addi %n, %n : tensor<8xi32>
  return %y, %m : tensor<8x6xf32>, tensor<8xi32>
}
