#!/usr/bin/env bash
# Measures compile times by number of ops: bench/compile/run.sh [--long] [--forward] [--repeats N].
# SHARD_OPT names another compiler.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt}
exec python3 -B "$here/measure.py" "$@"
