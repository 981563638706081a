#!/usr/bin/env bash
# Compares bytes and modeled time of plans with the best known plans by hand: bench/plans/run.sh
# [--row N...] [--topology NAME]. SHARD_OPT names another compiler.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt}
exec python3 -B "$here/measure.py" "$@"
