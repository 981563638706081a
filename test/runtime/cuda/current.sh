#!/bin/sh
# current.sh NVCC RUNTIME WORK: the committed kernels.ptx is what generate.sh makes, if nvcc is of the release that made it.
set -eu
nvcc=$1 committed=$2/cuda/kernels.ptx work=$3
mkdir -p "$work"
"$2/cuda/generate.sh" "$nvcc" "$work/kernels.ptx"
if [ "$(head -n 1 "$work/kernels.ptx")" != "$(head -n 1 "$committed")" ]; then
  echo "another release of nvcc: $(head -n 1 "$committed")"
  exit 77
fi
cmp "$work/kernels.ptx" "$committed" || {
  echo "run runtime/cuda/generate.sh NVCC runtime/cuda/kernels.ptx" >&2
  exit 1
}
