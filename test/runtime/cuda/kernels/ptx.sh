#!/bin/sh
# ptx.sh PTX: what the kernels must not do, whatever a compiler makes of them, and how often each orders memory.
set -eu
# Loads and stores that order: in each wait one acquire, in each round one release of a flag and one of the failure; as often as
# the compiler copies a round.
awk '
  BEGIN {
    n = split("reduce_rows_f32 reduce_rows_f16 reduce_rows_bf16 reduce_short_rows_f32 reduce_short_rows_f16 reduce_short_rows_bf16", rows)
    for (i = 1; i <= n; i++) { acquires["tprt_" rows[i]] = 4; releases["tprt_" rows[i]] = 4 }
    n = split("cross_entropy_f32 cross_entropy_f16 cross_entropy_bf16", entropy)
    for (i = 1; i <= n; i++) { acquires["tprt_" entropy[i]] = 1; releases["tprt_" entropy[i]] = 2 }
    acquires["tprt_exchange"] = 2; releases["tprt_exchange"] = 4
  }
  function fail(text) { print FILENAME ": " text > "/dev/stderr"; bad = 1 }
  /^\.version/ && $2 + 0 > 7.8 { fail("PTX " $2 " excludes drivers before that; 7.8 is promised") }
  /\.entry/ { name = $3; sub(/\(.*/, "", name); seen[name] = 1 }
  /ld\.global\.nc/ { fail(name ": a load through the read-only cache: it does not see what peers write") }
  /\.extern/ { fail("something outside is needed: " $0) }
  /[ \t]call/ { fail(name ": a call; everything is to be inlined") }
  /\.local/ { fail(name ": local memory; rows are to be in registers") }
  /[^a-z]atom|[^a-z]red\./ { fail(name ": an atomic operation: results would depend on the order") }
  # Threads other than the one that waited, or signals, are ordered by a barrier of the CTA.
  /\.entry/ { waited = touched = 0 }
  /bar\.sync/ { waited = touched = 0 }
  /(ld|st)\.global\.v4/ { if (waited) fail(name ": data is touched between a wait and the next barrier"); touched = 1 }
  /st\.release/ { if (touched) fail(name ": a signal without a barrier after data was touched") }
  /ld\.acquire/ { waited = 1 }
  /ld\.acquire/ { found_acquires[name]++; if (!/ld\.acquire\.sys\.global\.u32/) fail(name ": " $0) }
  /st\.release/ { found_releases[name]++; if (!/st\.release\.sys\.global\.u32/) fail(name ": " $0) }
  END {
    for (k in acquires) {
      if (!seen[k]) fail(k ": no such kernel")
      if (found_acquires[k] != acquires[k]) fail(k ": " found_acquires[k] + 0 " acquiring loads, expected " acquires[k])
      if (found_releases[k] != releases[k]) fail(k ": " found_releases[k] + 0 " releasing stores, expected " releases[k])
    }
    for (k in seen) if (!(k in acquires)) fail(k ": a kernel that this test does not know")
    exit bad
  }' "$1"
