#!/usr/bin/env bash
# Measures how good plans are by the clock: bench/regret/run.sh [options of regret.py]. BUILD
# names another build.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
BUILD=$(readlink -f "${BUILD:-$here/../../build/release}")
export BUILD
[[ $BUILD/bin/bench-turns -nt $here/turns.c ]] ||
  "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -I"$here/../../include" "$here/turns.c" "$BUILD/lib/libtprt.so" \
    -Wl,-rpath,"$BUILD/lib" -pthread -o "$BUILD/bin/bench-turns"
exec python3 -B "$here/regret.py" "$@"
