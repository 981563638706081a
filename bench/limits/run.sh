#!/usr/bin/env bash
# Plans programs within memory and time limits, and leaves out one search at a time:
# bench/limits/run.sh COMMAND [FILE...] [OPTION...], see measure.py. SHARD_OPT names another
# compiler; only one built with -DTP_SEARCH_ABLATION=ON can leave out searches.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt}
[[ $# -gt 0 ]] || set -- run
exec python3 -B "$here/measure.py" "$@"
