#!/bin/sh
# hosts.sh PROGRAM [NCCL]: two hosts, made of network name spaces with a cable between them, that share a store over TCP. Code 77: they cannot
# be made here (root and iproute2 are needed).
set -eu
program=$1 nccl=${2:-}
a=tprt-a-$$ b=tprt-b-$$
work=$(mktemp -d)
clean() {
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT

make_hosts() {
  ip netns add "$a" && ip netns add "$b" &&
    ip -n "$a" link add eth type veth peer name eth netns "$b" &&
    ip -n "$a" address add 198.51.100.1/24 dev eth && ip -n "$b" address add 198.51.100.2/24 dev eth &&
    ip -n "$a" link set lo up && ip -n "$b" link set lo up && ip -n "$a" link set eth up && ip -n "$b" link set eth up
}
if ! make_hosts 2>"$work/why"; then
  echo "skipped: no network name spaces here: $(head -n 1 "$work/why")"
  exit 77
fi

unset TPRT_SECRET_FILE TPRT_SECRET_FD TPRT_INSECURE
export WORLD_SIZE=2 MASTER_ADDR=198.51.100.1 MASTER_PORT=29500
head -c 32 /dev/urandom >"$work/secret"
head -c 32 /dev/urandom >"$work/other"
chmod 600 "$work/secret" "$work/other"

# both ARGUMENTS...: rank 0 on host a, rank 1 on host b; what they print goes to files 0 and 1. Their variables: $first, $second.
both() {
  # shellcheck disable=SC2086
  ip netns exec "$a" env RANK=0 $first "$program" "$@" >"$work/0" 2>&1 &
  # shellcheck disable=SC2086
  ip netns exec "$b" env RANK=1 $second "$program" "$@" >"$work/1" 2>&1 || true
  wait $! || true
}
expect() { # FILE TEXT
  if ! grep -q -- "$2" "$work/$1"; then
    echo "rank $1 does not say '$2' but:"
    cat "$work/0" "$work/1"
    exit 1
  fi
}

# One secret: values cross; memory does not, and both are told so.
first="TPRT_SECRET_FILE=$work/secret TPRT_TIMEOUT=20" second=$first
both
for rank in 0 1; do
  expect $rank "^exchange: ok"
  expect $rank "^world: unsupported: backend shm joins only ranks of one host: rank 0 is on .*, rank 1 on .*use a backend for several hosts"
done

# Messages cross, in connections of their own; the death of a rank is seen.
first="TPRT_SECRET_FILE=$work/secret TPRT_TIMEOUT=20 TPRT_BACKEND=tcp" second=$first
both
for rank in 0 1; do
  expect $rank "^world: ok"
  expect $rank "^ranks here: 1"
  expect $rank "^sum: ok"
done
both die
expect 0 "^alone: peer dead: rank 1 ended"

# A process of another host joins a world that runs already.
both join
for rank in 0 1; do
  expect $rank "^join: ok"
  expect $rank "^sum: ok"
done

# A file says nothing of addresses: they have to be given, one of this host.
tcp=$first
first="$tcp TPRT_STORE=file:$work/store-1" second=$first
both
for rank in 0 1; do
  expect $rank "^world: invalid argument: the store has no address at which ranks of other hosts can reach rank $rank: set TPRT_ADDRESS"
done
first="$tcp TPRT_STORE=file:$work/store-2 TPRT_ADDRESS=198.51.100.1" second="$tcp TPRT_STORE=file:$work/store-2 TPRT_ADDRESS=198.51.100.2"
both
expect 0 "^sum: ok"
expect 1 "^sum: ok"
first="TPRT_TIMEOUT=20 TPRT_BACKEND=tcp TPRT_STORE=file:$work/store-3 TPRT_ADDRESS=198.51.100.1"
second="TPRT_TIMEOUT=20 TPRT_BACKEND=tcp TPRT_STORE=file:$work/store-3 TPRT_ADDRESS=198.51.100.2"
both
for rank in 0 1; do
  expect $rank "^world: authentication failed: the address 198.51.100.* can be reached from other machines, and the job has no secret"
done

# No secret: neither serves nor connects, unless told to.
first=TPRT_TIMEOUT=20 second=$first
both
for rank in 0 1; do
  expect $rank "^store: authentication failed: tcp://198.51.100.1:29500 can be reached from other machines, and the job has no secret"
done
first="TPRT_INSECURE=1 TPRT_TIMEOUT=20" second=$first
both
expect 0 "^exchange: ok"
expect 1 "^exchange: ok"

# Another secret, or none on one side.
first="TPRT_SECRET_FILE=$work/secret TPRT_TIMEOUT=1" second="TPRT_SECRET_FILE=$work/other TPRT_TIMEOUT=20"
both
expect 0 "^exchange: timeout"
expect 1 "^store: authentication failed: .*could not prove that it knows the secret of rank 1"
second="TPRT_INSECURE=1 TPRT_TIMEOUT=20"
both
expect 1 "^store: authentication failed: .*requires a proof of the job's secret"

# Backend nccl: a device of each host, ranks that learn of each other through TCP.
if [ "$nccl" ]; then
  program=$nccl
  export FAKE_NCCL_SHARED="$work/machine"
  base="TPRT_SECRET_FILE=$work/secret LOCAL_RANK=0 LOCAL_WORLD_SIZE=1"
  first="$base FAKE_HOST=1" second="$base FAKE_HOST=2"
  for what in cases parts die; do
    both $what
    expect 0 "^nccl $what, 2 ranks, 1 of them here: all right"
  done
  second=$first # two hosts that have the same device
  both cases
  for rank in 0 1; do
    expect $rank "ranks 0 and 1 have the same device"
  done
  program=$1
fi

# The cable is pulled while they wait: both end by their deadline.
first="TPRT_SECRET_FILE=$work/secret TPRT_TIMEOUT=2" second=$first
(sleep 1 && ip -n "$a" link set eth down) &
both wait
wait
for rank in 0 1; do
  expect $rank "^exchange: ok"
  expect $rank "^wait: timeout"
done
echo "two hosts: ok"
