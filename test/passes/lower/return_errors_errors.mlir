// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-return-errors)'

func.func @structured(%ctx: !llvm.ptr, %p: i1) -> i32 {
  scf.if %p {
    // expected-error @below {{'cf.assert': stands inside 'scf.if'; run convert-scf-to-cf first}}
    cf.assert %p, "never"
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
