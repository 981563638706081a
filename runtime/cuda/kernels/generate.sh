#!/bin/sh
# generate.sh NVCC KERNELS.cu OUT.ptx [OUT.fatbin]: compiles kernels to PTX for all GPUs from compute
# capability 8.0 and all drivers from CUDA 11.8; kernels whose name has "hopper" for compute capability
# 9.0 alone, and drivers from CUDA 12.0. nvcc writes the PTX version of its own release, so
# the script lowers it to the version that the code needs; ptxas then verifies the result. The PTX is
# committed for machines without nvcc. The fat binary also contains machine code for common GPUs, so
# that the driver need not translate the PTX on first load. The second line of the PTX names the sources,
# relative to runtime/, with the SHA-256 of them all, so that whoever has no nvcc can see that it is current.
set -eu
nvcc=$1 source=$2 ptx=$3 fatbin=${4:-}
arch=80 version=7.8
case $source in *hopper*) arch=90a version=8.0 ;; esac
here=$(realpath "$(dirname "$0")")
runtime=${here%/cuda/kernels}
source=$(realpath "$source")
bin=$(dirname "$nvcc")
# Fuse multiply-adds only where the source does, so that results have the same bits as on a host.
"$nvcc" -std=c++17 -O3 --fmad=false -I "$runtime" -I "$runtime/../include" -ptx -arch="compute_$arch" "$source" -MD -MF "$ptx.d" -o "$ptx.raw"
sources=$({
  echo cuda/kernels/generate.sh
  sed '1s/^[^:]*://' "$ptx.d" | tr -d '\\' | tr ' ' '\n' | grep '^/' | xargs realpath | sed -n "s:^$runtime/::p"
} | LC_ALL=C sort -u | tr '\n' ' ')
rm "$ptx.d"
{
  echo "// Generated from $(basename "$source") by generate.sh, with nvcc $("$nvcc" --version | sed -n 's/.*release.*V//p'). Do not edit."
  # shellcheck disable=SC2086 # names
  echo "// Sources: $sources$(cd "$runtime" && cat $sources | sha256sum | cut -d ' ' -f 1)"
  # Names of what is local to the source have a number that depends on the path of the source.
  sed -E -e 's/_INTERNAL_[0-9a-f]{8}_/_INTERNAL_00000000_/g' -e '/^\/\//d' -e '/^$/d' -e '/used_bytes_mask/d' -e "s/^\.version .*/.version $version/" "$ptx.raw"
} >"$ptx.new"
rm "$ptx.raw"
set --
for arch in "$arch" ${fatbin:+90}; do
  "$bin/ptxas" -arch="sm_$arch" "$ptx.new" -o "$ptx.$arch"
  set -- "$@" "--image3=kind=elf,sm=$arch,file=$ptx.$arch"
done
mv "$ptx.new" "$ptx"
if [ "$fatbin" ]; then
  "$bin/fatbinary" --create="$fatbin" -64 --compress-mode=speed --image3=kind=ptx,sm=80,file="$ptx" "$@"
fi
rm -f "$ptx.80" "$ptx.90" "$ptx.90a"
