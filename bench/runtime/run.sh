#!/usr/bin/env bash
# Times of all_reduce against OpenMPI and Gloo, where they are installed: bench/runtime/run.sh [--repeats N] [--ranks N...].
# TPRT_BUILD names another build of the library.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
library=${TPRT_BUILD:-$root/build/release}/lib
bin=$root/build/bench-runtime
flags=(-O2 -Wall -Wextra)

[[ -e $library/libtprt.so ]] || {
  echo "bench: there is no $library/libtprt.so; build it (./dev build) or set TPRT_BUILD" >&2
  exit 1
}
mkdir -p "$bin"
rm -f "$bin"/{openmpi,gloo}
"${CC:-cc}" -std=c11 "${flags[@]}" -I"$root/include" "$here/all_reduce.c" -o "$bin/all_reduce" \
  -L"$library" -ltprt -Wl,-rpath,"$library"
if command -v mpicc mpirun >/dev/null; then
  mpicc -std=c11 "${flags[@]}" "$here/peers/openmpi.c" -o "$bin/openmpi"
else
  echo "OpenMPI is not installed (Debian: libopenmpi-dev, openmpi-bin)"
fi
if [[ -e /usr/include/gloo/allreduce.h ]]; then
  "${CXX:-c++}" "${flags[@]}" "$here/peers/gloo.cpp" -o "$bin/gloo" -lgloo
else
  echo "Gloo is not installed (Debian: libgloo-dev)"
fi
exec python3 -B "$here/measure.py" "$bin" "$@"
