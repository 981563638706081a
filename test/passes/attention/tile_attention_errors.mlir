// RUN: shard-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(tp-tile-attention{fused=yes})'
// expected-error @below {{fused 'yes' is not known; use inline or keep}}
module {
}
