// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-fuse-epilogues{fused=yes})'
// expected-error @below {{fused 'yes' is not known; use inline or keep}}
module {
}
