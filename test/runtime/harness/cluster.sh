# shellcheck shell=sh
# Hosts made of network name spaces, joined by a switch in another one. A test sources this file.
#
#   cluster_make HOSTS         makes them; exits with 77 where that is impossible (root and
#                              iproute2 are needed)
#   cluster_make_slow HOSTS PROGRAM DELAY-MS REORDERED-PERCENT
#                              makes them with the program of delay.c between them, not a switch
#   cluster_place HOST ...     says on which host each rank runs: 0 0 1 1 are two ranks on each of
#                              two hosts
#   cluster_pairs              places two ranks on each host, one after the other
#   cluster_run PROGRAM ...    runs the program as all ranks, with the environment of torchrun, on
#                              backend $cluster_backend (tcp). The output of rank R goes to
#                              $cluster_dir/R, its exit code to $cluster_dir/R.code
#   cluster_mpirun ARGUMENT... runs mpirun of Open MPI on the first host, with the hosts as its nodes
#   cluster_rate RATE          limits what each host sends, such as 1gbit
#   cluster_show               prints the output of all ranks
# Host H (from 0) is the name space ${cluster_name}$H, with the address 198.51.100.(H + 1).
cluster_name=tprt-$$-
cluster_hosts=0
cluster_places=
cluster_backend=tcp
cluster_dir=$(mktemp -d)

cluster_delay=
cluster_end() {
  [ -z "$cluster_delay" ] || kill "$cluster_delay"
  cluster_delay=
  cluster_h=0
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    ip netns del "$cluster_name$cluster_h" 2>/dev/null || true
    cluster_h=$((cluster_h + 1))
  done
  ip netns del "${cluster_name}switch" 2>/dev/null || true
  cluster_hosts=0
}
trap 'cluster_end; rm -rf "$cluster_dir"' EXIT

cluster_add() { # HOST
  ip netns add "$cluster_name$1" &&
    ip -n "$cluster_name$1" link add eth type veth peer name "port$1" netns "${cluster_name}switch" &&
    ip -n "$cluster_name$1" address add "198.51.100.$(($1 + 1))/24" dev eth &&
    ip -n "$cluster_name$1" link set lo up && ip -n "$cluster_name$1" link set eth up &&
    ip -n "${cluster_name}switch" link set "port$1" master switch up
}

cluster_try() {
  ip netns add "${cluster_name}switch" && ip -n "${cluster_name}switch" link add switch type bridge &&
    ip -n "${cluster_name}switch" link set switch up || return 1
  cluster_h=0
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    cluster_add $cluster_h || return 1
    cluster_h=$((cluster_h + 1))
  done
}

cluster_try_slow() { # PROGRAM DELAY REORDERED
  cluster_h=0 cluster_names=
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    cluster_names="$cluster_names $cluster_name$cluster_h"
    ip netns add "$cluster_name$cluster_h" && ip -n "$cluster_name$cluster_h" link set lo up || return 1
    cluster_h=$((cluster_h + 1))
  done
  # shellcheck disable=SC2086 # one word per host
  "$@" $cluster_names >"$cluster_dir/delay" &
  cluster_delay=$!
  until grep -q ready "$cluster_dir/delay"; do
    kill -0 $cluster_delay || return 1
    sleep 0.02
  done
  cluster_h=0
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    ip -n "$cluster_name$cluster_h" address add "198.51.100.$((cluster_h + 1))/24" dev eth &&
      ip -n "$cluster_name$cluster_h" link set eth up || return 1
    cluster_h=$((cluster_h + 1))
  done
}

cluster_begin() { # HOSTS HOW...: exits with 77 if it fails
  cluster_end
  cluster_hosts=$1
  shift
  if ! "$@" 2>"$cluster_dir/why"; then
    echo "skipped: no network name spaces here: $(head -n 1 "$cluster_dir/why")"
    exit 77
  fi
  head -c 32 /dev/urandom >"$cluster_dir/secret"
  chmod 600 "$cluster_dir/secret"
}

cluster_make() { cluster_begin "$1" cluster_try; }

cluster_make_slow() {
  cluster_slow_hosts=$1
  shift
  cluster_begin "$cluster_slow_hosts" cluster_try_slow "$@"
}

cluster_place() { cluster_places=$*; }

cluster_pairs() {
  cluster_h=0 cluster_places=
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    cluster_places="$cluster_places $cluster_h $cluster_h"
    cluster_h=$((cluster_h + 1))
  done
}

# Sets cluster_n to the number of ranks.
cluster_count() {
  # shellcheck disable=SC2086 # one word per rank
  set -- $cluster_places
  cluster_n=$#
}

cluster_rate() {
  cluster_h=0
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    ip netns exec "$cluster_name$cluster_h" tc qdisc replace dev eth root tbf rate "$1" burst 256kb latency 50ms
    cluster_h=$((cluster_h + 1))
  done
}

cluster_rank() { # RANK HOST PROGRAM...
  cluster_r=$1 cluster_h=$2
  shift 2
  cluster_code=0
  RANK=$cluster_r ip netns exec "$cluster_name$cluster_h" "$@" >"$cluster_dir/$cluster_r" 2>&1 || cluster_code=$?
  echo $cluster_code >"$cluster_dir/$cluster_r.code"
}

cluster_port=29500
cluster_run() {
  cluster_count
  cluster_r=0 cluster_port=$((cluster_port + 1)) cluster_ranks=
  WORLD_SIZE=$cluster_n MASTER_ADDR=198.51.100.1 MASTER_PORT=$cluster_port
  TPRT_SECRET_FILE=$cluster_dir/secret TPRT_BACKEND=$cluster_backend
  export WORLD_SIZE MASTER_ADDR MASTER_PORT TPRT_SECRET_FILE TPRT_BACKEND
  for cluster_h in $cluster_places; do
    cluster_rank $cluster_r "$cluster_h" "$@" &
    cluster_ranks="$cluster_ranks $!"
    cluster_r=$((cluster_r + 1))
  done
  # shellcheck disable=SC2086 # one word per rank
  wait $cluster_ranks
}

cluster_show() {
  cluster_count
  cluster_r=0
  while [ $cluster_r -lt "$cluster_n" ]; do
    sed "s/^/rank $cluster_r: /" "$cluster_dir/$cluster_r"
    cluster_r=$((cluster_r + 1))
  done
}

# True if all ranks ended with code 0.
cluster_passed() {
  cluster_count
  cluster_r=0
  while [ $cluster_r -lt "$cluster_n" ]; do
    [ "$(cat "$cluster_dir/$cluster_r.code")" = 0 ] || return 1
    cluster_r=$((cluster_r + 1))
  done
}

# The nodes are also told apart by their names. The agent gives a shell on one, as ssh would.
cluster_mpirun() {
  cat >"$cluster_dir/agent" <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec $cluster_name\${host#node} unshare --uts sh -c "hostname \$host; \$*"
AGENT
  chmod +x "$cluster_dir/agent"
  cluster_h=0
  while [ $cluster_h -lt "$cluster_hosts" ]; do
    echo "node$cluster_h slots=2"
    cluster_h=$((cluster_h + 1))
  done >"$cluster_dir/nodes"
  ip netns exec "${cluster_name}0" unshare --uts sh -c 'hostname node0; exec "$@"' node0 \
    mpirun.openmpi --allow-run-as-root --hostfile "$cluster_dir/nodes" --map-by slot \
    --mca plm_rsh_agent "$cluster_dir/agent" --mca oob_tcp_if_include eth --mca btl_tcp_if_include eth "$@"
}
