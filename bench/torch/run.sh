#!/usr/bin/env bash
# Runs a decoder of PyTorch by a plan and by hand: bench/torch/run.sh [options of measure.py].
# PYTHON names an interpreter with torch and torch_mlir.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export TPSHARD_PREFIX=${TPSHARD_PREFIX:-$here/../../build/release}
python=${PYTHON:-python3}
"$python" -B -c "import torch, torch_mlir" 2>/dev/null || {
  echo "bench/torch needs torch and torch-mlir: pip install torch torch-mlir numpy" >&2
  exit 1
}
exec "$python" -B "$here/measure.py" "$@"
