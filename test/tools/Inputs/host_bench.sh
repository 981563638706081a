#!/bin/sh
# Stands for shard-bench in the tests of --topology=host: counts its calls in the file CALLS, and
# writes the file after -o, or fails if the file CALLS.busy exists.
echo "$*${TPRT_RANK+ as rank $TPRT_RANK}" >>"$CALLS"
[ ! -e "$CALLS.busy" ] || exit 1
[ "$1 $2 $3" = "--calibrate --idle -o" ] || exit 2
sed 's/"name": "[a-z_]*"/"name": "measured"/' "$TOPOLOGY" >"$4"
