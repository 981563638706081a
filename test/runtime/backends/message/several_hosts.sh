#!/bin/sh
# several_hosts.sh WHAT PROGRAM CONFORMANCE DELAY: collectives of ranks on several hosts, two on each. WHAT is one of
#   sums       the cases of all backends, on hosts with equal and different numbers of ranks
#   bytes      what crosses between the hosts, compared with the least possible
#   failures   a rank that is killed; a host that is cut off; ranks that disagree
#   loss       packets that are lost (nftables)
#   rate       hosts that send at a limited rate (tc)
#   delay      packets that take 20 ms, some of which overtake others
#   mpi        the cases of all backends, over Open MPI
#   fabric     the cases of all backends, and failures, over libfabric
# Code 77: this cannot be done here.
set -eu
what=$1 program=$2 conformance=$3 delay=$4
# shellcheck source=test/runtime/harness/cluster.sh
. "$(dirname "$0")/../../harness/cluster.sh"

fail() { # TEXT
  cluster_show
  echo "failed: $1"
  exit 1
}
# Every rank of the list says the text, a pattern.
says() { # TEXT RANK...
  wanted=$1
  shift
  for rank in "$@"; do
    grep -q -- "$wanted" "$cluster_dir/$rank" || fail "rank $rank does not say '$wanted'"
  done
}
hosts_of_ranks() { echo "$cluster_places" | sed 's/^ *//; s/  */,/g'; }

# The sums of each host are added.
sums_by_host() {
  cluster_run "$conformance" --attached $cluster_backend "$(hosts_of_ranks)"
  cluster_passed || fail "sums by host of $cluster_places, on $cluster_backend"
  says "attached ranks: [1-9][0-9]* cases" 0
}

# The same, and with hint deterministic all in the order of the ranks.
sums() {
  sums_by_host
  cluster_run "$conformance" --attached $cluster_backend deterministic
  cluster_passed || fail "sums in order of $cluster_places"
  says "attached ranks: [1-9][0-9]* cases" 0
}

test_sums() {
  cluster_make 3
  for places in "0 0 1 1" "0 1 0 1" "0 1 1 1 2"; do
    # shellcheck disable=SC2086 # one word per rank
    cluster_place $places
    sums
  done
}

test_bytes() {
  for hosts in 2 4 8; do
    cluster_make $hosts
    cluster_pairs
    cluster_run "$program" bytes
    cluster_passed || fail "bytes between $hosts hosts"
  done
  cluster_make 2
  cluster_pairs
  TPRT_TCP_MEMORY=0 cluster_run "$program" bytes
  cluster_passed || fail "bytes without shared memory"
}

# Starts a world in which collectives run until one fails, and waits until they run.
start_world() {
  rm -f "$cluster_dir"/[0-9]* # what the ranks before have said
  cluster_run "$program" fails &
  world=$!
  tries=0
  until [ "$(cat "$cluster_dir"/[0-9]* 2>/dev/null | grep -c '^ready')" = "$cluster_n" ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "the ranks are not ready"
    sleep 0.1
  done
}

failures() { # HOSTS
  cluster_make "$1"
  cluster_pairs
  cluster_count
  others=$(seq 0 $((cluster_n - 1)) | grep -v '^2$')
  # the other rank of its host learns of it as those of other hosts do
  start_world
  kill -9 "$(sed -n 's/^ready //p' "$cluster_dir/2")"
  wait $world
  # shellcheck disable=SC2086 # one word per rank
  says "^failed: peer dead: rank 2 ended" $others

  # a host that is cut off: ranks 2 and 3
  start_world
  ip -n "${cluster_name}switch" link set port1 down
  wait $world
  # shellcheck disable=SC2046
  says "^failed: timeout: rank [23] did not arrive in time" $(seq 0 $((cluster_n - 1)) | grep -v '^[23]$')
  says "^failed: timeout: rank [014567] did not arrive in time" 2 3
  cluster_passed || fail "they waited too long"
}

test_failures() {
  export TPRT_TIMEOUT=30 FAILS_AFTER=3
  failures 2
  failures 4

  cluster_make 2
  cluster_pairs
  cluster_run "$program" differs
  cluster_passed || fail "hints that differ"
  says "has hint deterministic on rank 1, but not on rank" 0 1 2 3
}

test_loss() {
  if ! nft --version >/dev/null 2>&1; then
    echo "skipped: there is no nft"
    exit 77
  fi
  cluster_make 2
  cluster_pairs
  if ! ip netns exec "${cluster_name}switch" nft "
    table bridge lossy {
      chain forward {
        type filter hook forward priority 0
        numgen random mod 100 < 2 counter drop
      }
    }" 2>"$cluster_dir/why"; then
    echo "skipped: no loss with nftables here: $(head -n 1 "$cluster_dir/why")"
    exit 77
  fi
  cluster_run "$conformance" --attached tcp "$(hosts_of_ranks)"
  cluster_passed || fail "sums with loss"
  ip netns exec "${cluster_name}switch" nft list table bridge lossy | grep -q "packets [1-9]" || fail "no packet was lost"
}

test_rate() {
  cluster_make 2
  cluster_pairs
  if ! cluster_rate 400mbit 2>"$cluster_dir/why"; then
    echo "skipped: no rate with tc here: $(head -n 1 "$cluster_dir/why")"
    exit 77
  fi
  cluster_run "$program" bytes
  cluster_passed || fail "bytes at a limited rate"
}

test_delay() {
  for cluster_backend in tcp fabric; do
    cluster_make_slow 2 "$delay" 20 10
    cluster_pairs
    sums_by_host
  done
}

test_mpi() {
  if ! command -v mpirun.openmpi >/dev/null; then
    echo "skipped: there is no Open MPI"
    exit 77
  fi
  cluster_make 2
  cluster_pairs
  for sums in "$(hosts_of_ranks)" deterministic; do
    cluster_mpirun -n 4 "$conformance" --attached mpi "$sums" >"$cluster_dir/0" 2>&1 || fail "sums over MPI: $sums"
    grep -q "attached ranks: [1-9][0-9]* cases" "$cluster_dir/0" || fail "no cases over MPI"
  done
}

# The network stops while messages arrive, which take long. Then ranks close endpoints that have
# received a part of a message.
stops_midway() {
  cluster_make_slow 2 "$delay" 20 0
  cluster_pairs
  cluster_count
  start_world
  kill -STOP "$cluster_delay"
  wait $world
  kill -CONT "$cluster_delay"
  says "^failed: timeout: rank [0123] did not arrive in time" 0 1 2 3
  cluster_passed || fail "they do not end well"
}

# Without FI_PROVIDER, each rank initializes all providers of libfabric, which takes seconds.
test_fabric() {
  export TPRT_TIMEOUT=30 FAILS_AFTER=5 FI_PROVIDER=tcp,ofi_rxm
  cluster_backend=fabric
  failures 2
  stops_midway
  cluster_make 2
  cluster_pairs
  sums_by_host
}

"test_$what"
echo "$what on several hosts: ok"
