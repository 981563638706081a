#!/usr/bin/env bash
# Compares whole models on N ranks with JAX on N host devices: bench/models/run.sh [options of
# measure.py]. SHARD_RUN names another tool.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_RUN=${SHARD_RUN:-$here/../../build/release/bin/shard-run}
exec python3 -B "$here/measure.py" "$@"
