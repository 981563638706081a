#!/bin/sh
# Stands for shard-bench in the tests of --topology=host: counts its calls in the file CALLS, and
# prints a topology, or fails if the file CALLS.busy exists.
echo "$*${TPRT_RANK+ as rank $TPRT_RANK}" >>"$CALLS"
[ ! -e "$CALLS.busy" ] || exit 1
[ "$*" = "--calibrate --idle" ] || exit 2
sed 's/"name": "[a-z_]*"/"name": "measured"/' "$TOPOLOGY"
