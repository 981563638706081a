#!/usr/bin/env bash
# Compares bytes and redundant work with XLA's: bench/xla/run.sh [FILE...] [--topology NAME]. With
# --jax as the first argument: those of models in JAX, with an installed XLA (measure_jax.py); with
# --functions: those of the functions of python/tests (measure_functions.py).
# SHARD_OPT and SHARD_RUN name other tools.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt} SHARD_RUN=${SHARD_RUN:-$here/../../build/release/bin/shard-run}
if [[ ${1:-} == --jax ]]; then
  shift
  exec python3 -B "$here/measure_jax.py" "$@"
fi
if [[ ${1:-} == --functions ]]; then
  shift
  export TPSHARD_PREFIX=${TPSHARD_PREFIX:-$here/../../build/release}
  exec python3 -B "$here/measure_functions.py" "$@"
fi
exec python3 -B "$here/measure.py" "$@"
