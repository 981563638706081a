#!/bin/sh
# current.sh NVCC RUNTIME WORK: the committed PTX is what generate.sh makes, if nvcc is of the release that made it.
set -eu
nvcc=$1 runtime=$2 work=$3
mkdir -p "$work"
for name in kernels site_kernels; do
  committed=$runtime/cuda/$name.ptx
  "$runtime/cuda/generate.sh" "$nvcc" "$runtime/cuda/$name.cu" "$work/$name.ptx"
  if [ "$(head -n 1 "$work/$name.ptx")" != "$(head -n 1 "$committed")" ]; then
    echo "another release of nvcc: $(head -n 1 "$committed")"
    exit 77
  fi
  cmp "$work/$name.ptx" "$committed" || {
    echo "run runtime/cuda/generate.sh NVCC runtime/cuda/$name.cu runtime/cuda/$name.ptx" >&2
    exit 1
  }
done
