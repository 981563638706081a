#!/usr/bin/env bash
# Compares the times of collectives with OpenMPI and Gloo, where they are installed, with buffers
# from malloc, with registered ones, and of ranks that are threads: bench/runtime/run.sh [options of
# shard-bench]. TPRT_BUILD names another build.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
bin=${TPRT_BUILD:-$root/build/release}/bin
[[ -x $bin/shard-bench ]] || {
  echo "bench: there is no $bin/shard-bench; build it (./dev build) or set TPRT_BUILD" >&2
  exit 1
}
echo "load of the machine at the start: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
run() { # OPERATIONS PEER...
  local operations=$1 built=() peer way
  shift
  for peer in "$@"; do
    if [[ -x $bin/shard-bench-$peer ]]; then built+=("$peer"); else echo "$peer is not installed"; fi
  done
  [[ ${#built[@]} -eq 0 ]] || built=(--peer "$(IFS=, && echo "${built[*]}")")
  for way in "" --registered --launch=threads; do
    echo "== ${way:-staged}"
    # shellcheck disable=SC2086 # no option when staged
    "$bin/shard-bench" "$operations" --ranks 2,4 $way "${built[@]}" "${options[@]}"
  done
}
options=("$@")
run all_reduce,all_gather,all_to_all,broadcast openmpi gloo
run reduce_scatter,permute openmpi
# Small operations: 16 of 64 to 1,024 numbers in a batch, one by one, and beside nonblocking ones of Open MPI.
small=(--peer one-by-one)
[[ ! -x $bin/shard-bench-openmpi ]] || small=(--peer "one-by-one,openmpi")
for way in "" --registered; do
  echo "== 16 small operations, ${way:-staged}"
  # shellcheck disable=SC2086 # no option when staged
  "$bin/shard-bench" all_reduce,broadcast --pieces 16 --sizes 4K,16K,64K --ranks 2,4 $way "${small[@]}" "${options[@]}"
done
