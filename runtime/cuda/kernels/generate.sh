#!/bin/sh
# generate.sh NVCC KERNELS.cu OUT.ptx [OUT.fatbin]: kernels as PTX for every GPU from compute capability 8.0 on and every driver from
# CUDA 11.8 on: the PTX version that nvcc writes is that of its own release, so it is lowered to what the code needs, which ptxas then
# proves. Such PTX is committed beside the source, for machines without nvcc. The fat binary has the machine code of common GPUs, too,
# which need not translate it when they first load it.
set -eu
nvcc=$1 source=$2 ptx=$3 fatbin=${4:-}
here=$(dirname "$0")
bin=$(dirname "$nvcc")
# No fused multiply-add but where it is written: the same bits as on a host.
"$nvcc" -std=c++17 -O3 --fmad=false -I "$here/../.." -I "$here/../../../include" -ptx -arch=compute_80 "$source" -o "$ptx.raw"
{
  echo "// Generated from $(basename "$source") by generate.sh, with nvcc $("$nvcc" --version | sed -n 's/.*release.*V//p'). Do not edit."
  sed -e '/^\/\//d' -e '/^$/d' -e '/used_bytes_mask/d' -e 's/^\.version .*/.version 7.8/' "$ptx.raw"
} >"$ptx.new"
rm "$ptx.raw"
set --
for arch in 80 ${fatbin:+90}; do
  "$bin/ptxas" -arch="sm_$arch" "$ptx.new" -o "$ptx.$arch"
  set -- "$@" "--image3=kind=elf,sm=$arch,file=$ptx.$arch"
done
mv "$ptx.new" "$ptx"
if [ "$fatbin" ]; then
  "$bin/fatbinary" --create="$fatbin" -64 --compress-mode=speed --image3=kind=ptx,sm=80,file="$ptx" "$@"
fi
rm "$ptx.80" "$ptx.90" 2>/dev/null || true
