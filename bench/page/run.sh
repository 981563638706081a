#!/usr/bin/env bash
# Measures the page of a plan: bench/page/run.sh [options of measure.py]. SHARD_OPT names another
# compiler.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export SHARD_OPT=${SHARD_OPT:-$here/../../build/release/bin/shard-opt}
command -v chromedriver >/dev/null || {
  echo "bench/page needs chromedriver (Debian: chromium-driver)" >&2
  exit 1
}
exec python3 -B "$here/measure.py" "$@"
