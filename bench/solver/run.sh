#!/usr/bin/env bash
# Solves instances of the IOPDDL contest and prints cost against the best known, certified bound,
# gap and seconds.
#
# bench/solver/run.sh [DIRECTORY] [--time-limit SECONDS] [--threads N]; without a directory, it
# solves the instances of the tests. SHARD_SOLVE names another binary.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
export SHARD_SOLVE=${SHARD_SOLVE:-$root/build/release/bin/shard-solve}
[[ -x $SHARD_SOLVE ]] || {
  echo "bench: there is no $SHARD_SOLVE; build it (./dev build) or set SHARD_SOLVE" >&2
  exit 1
}
exec python3 -B "$here/measure.py" "$@"
