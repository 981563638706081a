#!/usr/bin/env bash
# Bytes and modelled time of plans against the best known by hand: bench/plans/run.sh [--row N...] [--topology NAME]. SHARD_OPT names another
# compiler.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt}
exec python3 -B "$here/measure.py" "$@"
