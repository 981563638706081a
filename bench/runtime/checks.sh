#!/usr/bin/env bash
# Measures the cost of signatures and deadlines: runs all_reduce in turn with the normal library and
# with one built without them. The minimum over all rounds of each counts, since other load on the
# machine can only increase times.
#
# bench/runtime/checks.sh [TURNS [options of shard-bench]]; TPRT_BUILD names another build.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
build=${TPRT_BUILD:-$root/build/release}
turns=${1:-7}
shift $(($# > 0))
options=(--sizes "1K,1M" --ranks 2 --repeats 1 "$@")
[[ -x $build/bin/shard-bench ]] || {
  echo "bench: there is no $build/bin/shard-bench; build it (./dev build) or set TPRT_BUILD" >&2
  exit 1
}
unchecked=$build/unchecked
cmake -G Ninja -S "$root" -B "$unchecked" -DCMAKE_BUILD_TYPE=Release -DTP_COMPILER=OFF -DTP_TESTS=OFF -DTP_UNCHECKED=ON >/dev/null
cmake --build "$unchecked" --target tprt >/dev/null
echo "load of the machine at the start: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
for ((i = 0; i < turns; i++)); do
  for way in checked unchecked; do
    lib=$build/lib
    [[ $way = checked ]] || lib=$unchecked/lib
    LD_LIBRARY_PATH=$lib "$build/bin/shard-bench" all_reduce --format csv "${options[@]}" | sed -n "s/^all_reduce/$way/p"
  done
done | awk -F, '
  { key = sprintf("%9d bytes, %d ranks%s", $3, $4, $6 == 1 ? ", registered" : "") }
  !((key, $1) in least) || $9 < least[key, $1] { least[key, $1] = $9 }
  !(key in seen) { seen[key] = 1; keys[++n] = key }
  END {
    for (i = 1; i <= n; i++) {
      with = least[keys[i], "checked"]; without = least[keys[i], "unchecked"]
      printf "%s: %.3f us, without %.3f us: %+.1f %%\n", keys[i], with, without, 100 * (with / without - 1)
    }
  }'
