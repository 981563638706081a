#!/bin/sh
# regenerated.sh NVCC RUNTIME WORK: the committed PTX is what generate.sh makes, if nvcc is of the release that made it.
set -eu
nvcc=$1 runtime=$2 work=$3
mkdir -p "$work"
for committed in "$runtime"/cuda/generated/*.ptx; do
  name=$(basename "$committed" .ptx)
  "$runtime/cuda/kernels/generate.sh" "$nvcc" "$runtime/cuda/kernels/$name.cu" "$work/$name.ptx"
  if [ "$(head -n 1 "$work/$name.ptx")" != "$(head -n 1 "$committed")" ]; then
    echo "another release of nvcc: $(head -n 1 "$committed")"
    exit 77
  fi
  cmp "$work/$name.ptx" "$committed" || {
    echo "run runtime/cuda/kernels/generate.sh NVCC runtime/cuda/kernels/$name.cu runtime/cuda/generated/$name.ptx" >&2
    exit 1
  }
done
