#!/usr/bin/env bash
# Compares the times of collectives on several hosts, with two ranks each: of backends tcp, fabric
# (its default provider) and mpi, and those of Open MPI itself: its default ones (tuned) and its
# hierarchical ones (han). The hosts are network name spaces of this machine, which root can make.
# One run of each takes turns; the minimum over all turns of each counts, since other load on the
# machine can only increase times.
#
# bench/runtime/hosts.sh [HOSTS [RATE [TURNS [SIZES [OPERATIONS]]]]], such as 4 1gbit 5 65536
# all_reduce; RATE limits what each host sends, 0 does not. TPRT_BUILD names another build.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
bin=${TPRT_BUILD:-$root/build/release}/bin
hosts=${1:-2} rate=${2:-0} turns=${3:-3} sizes=${4:-65536,1048576,4194304} operations=${5:-all_reduce all_gather reduce_scatter broadcast}
[[ -x $bin/shard-bench && -x $bin/shard-bench-openmpi ]] || {
  echo "bench: there is no $bin/shard-bench or no shard-bench-openmpi; build them (./dev build), with Open MPI installed" >&2
  exit 1
}
# shellcheck source=test/runtime/harness/cluster.sh
. "$root/test/runtime/harness/cluster.sh"
cluster_make "$hosts"
cluster_pairs
[[ $rate == 0 ]] || cluster_rate "$rate"
ranks=$((2 * hosts))
# Open MPI does not know that its nodes share processors.
mpirun() { cluster_mpirun --bind-to none --mca mpi_yield_when_idle 1 "$@"; }
declare -A kinds=([all_reduce]=1 [all_gather]=2 [reduce_scatter]=3 [broadcast]=6) # tprt_op_kind
short=(--sizes="$sizes" --repeats=1 --rounds=9 --round-time=20 --format=csv)

# Each prints lines "NAME OPERATION BYTES MINIMUM".
ours() { awk -F, -v name="$1" -v op="$2" '$1 == op { print name, op, $3, $9 }'; }
theirs() {
  awk -v name="$1" -v op="$2" -v sizes="$sizes" '
    BEGIN { split(sizes, bytes, ",") }
    NF == 3 && $1 ~ /^[0-9]+$/ { print name, op, bytes[$1 + 1], $3 }'
}
one_turn() { # OPERATION
  for cluster_backend in tcp fabric; do
    cluster_run "$bin/shard-bench" "$1" "${short[@]}"
    ours $cluster_backend "$1" <"$cluster_dir/0"
  done
  mpirun -n "$ranks" "$bin/shard-bench" "$1" --backend=mpi "${short[@]}" | ours mpi "$1"
  local job=("${kinds[$1]}" 1 0 "$ranks" 9 0.02 "$sizes" 1)
  mpirun -n "$ranks" "$bin/shard-bench-openmpi" "${job[@]}" | theirs tuned "$1"
  mpirun --mca coll_han_priority 100 -n "$ranks" "$bin/shard-bench-openmpi" "${job[@]}" | theirs han "$1"
}

echo "$hosts hosts of 2 ranks, rate ${rate/#0/without a limit}; load of the machine at the start: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
for ((i = 0; i < turns; i++)); do
  for op in $operations; do one_turn "$op"; done
done | awk '
  { key = $2 " " $3 }
  !((key, $1) in least) || $4 < least[key, $1] { least[key, $1] = $4 }
  !(key in seen) { seen[key] = 1; keys[++n] = key }
  END {
    printf "%-14s %9s %10s %10s %10s %10s %10s %9s %9s\n", "op", "bytes", "tcp us", "fabric us", "mpi us", "tuned us", "han us", "tuned/tcp", "han/tcp"
    for (i = 1; i <= n; i++) {
      split(keys[i], part, " ")
      tcp = least[keys[i], "tcp"]; tuned = least[keys[i], "tuned"]; han = least[keys[i], "han"]
      printf "%-14s %9d %10.1f %10.1f %10.1f %10.1f %10.1f %9.2f %9.2f\n", part[1], part[2], tcp, least[keys[i], "fabric"], least[keys[i], "mpi"], tuned, han, tuned / tcp, han / tcp
    }
  }'
