#!/bin/sh
# current.sh RUNTIME: the committed PTX was made of these sources, by the hash in its second line.
set -eu
cd "$1"
for ptx in cuda/generated/*.ptx; do
  line=$(sed -n '2s:^// Sources\: ::p' "$ptx")
  sources=${line% *}
  # shellcheck disable=SC2086 # names
  if [ -z "$line" ] || [ "$(cat $sources | sha256sum | cut -d ' ' -f 1)" != "${line##* }" ]; then
    name=$(basename "$ptx" .ptx)
    echo "$ptx is not of these sources: run runtime/cuda/kernels/generate.sh NVCC runtime/cuda/kernels/$name.cu runtime/$ptx" >&2
    exit 1
  fi
done
