#!/bin/sh
# processes.sh N PROGRAM ARGUMENTS...: PROGRAM as N processes of this host, with the environment of torchrun: each is told its rank
# and where rank 0 listens. The status is 0 when all end with 0.
set -u
n=$1
shift
WORLD_SIZE=$n LOCAL_WORLD_SIZE=$n MASTER_ADDR=127.0.0.1
TPRT_STORE=unix:tprt-processes-$$
export WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT=1 TPRT_STORE
pids=
rank=0
while [ $rank -lt "$n" ]; do
  RANK=$rank LOCAL_RANK=$rank "$@" &
  pids="$pids $!"
  rank=$((rank + 1))
done
failed=0
for pid in $pids; do
  wait "$pid" || failed=1
done
exit $failed
