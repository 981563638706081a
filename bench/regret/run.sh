#!/usr/bin/env bash
# Measures how good plans are by the clock: bench/regret/run.sh [options of regret.py]. TPSHARD_BUILD
# names another build.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
TPSHARD_BUILD=$(readlink -f "${TPSHARD_BUILD:-$here/../../build/release}")
export TPSHARD_BUILD
[[ $TPSHARD_BUILD/bin/bench-turns -nt $here/turns.c ]] ||
  "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -I"$here/../../include" "$here/turns.c" "$TPSHARD_BUILD/lib/libtprt.so" \
    -Wl,-rpath,"$TPSHARD_BUILD/lib" -pthread -o "$TPSHARD_BUILD/bin/bench-turns"
exec python3 -B "$here/regret.py" "$@"
