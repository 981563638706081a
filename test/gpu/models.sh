#!/bin/bash
# models.sh SHARD_RUN MODELS OUT [small]: compiles models ahead of time, for machines that have GPUs and no compiler: a folder of OUT for each
# model, type and number of devices, which tprt_gpu_model runs.
#
# OUT/check/*: the models of folder MODELS, with arguments, and results of their framework and of one device on the processor. OUT/time/*:
# layers of a Llama of realistic width, in bf16, without data.
set -euo pipefail
shard_run=$1 models=$2 out=$3 small=${4:-}
here=$(cd "$(dirname "$0")" && pwd)

# Those whose results in bf16 mean something: the others differ by more than their tolerance on a processor, too, or hold f64.
in_bf16="attention conv_net embedding_gather kv_decode llama_block llama_block_train mlp_fwd moe_dense softmax_ce torch/mlp"
counts="1 2 4"
if [ -n "$small" ]; then
  in_bf16=mlp_fwd counts="1 2"
fi

# to_bf16 FILE: a program in f32 as the same in bf16; infinities and NaN are written as their bits.
to_bf16() { sed -E 's/0x(FF80|7F80|7FC0)0000/0x\1/g; s/f32/bf16/g' "$1"; }

# compile MODEL N FOLDER [OPTION...]
compile() {
  local model=$1 ranks=$2 folder=$3
  shift 3
  mkdir -p "$folder"
  "$shard_run" "$model" --mesh "$ranks" --target=cuda --cpu=generic --emit=so -o "$folder/libprogram.so" --shards "$folder" "$@" \
    >"$folder/log.txt" 2>&1 || {
    echo "models.sh: $model for $ranks devices cannot be compiled:" >&2
    grep error "$folder/log.txt" >&2
    return 1
  }
  rm "$folder/log.txt" "$folder/program.h"
}

# shard-run takes no topology whose path has blanks.
machine=$(mktemp)
trap 'rm -f "$machine"' EXIT
cp "$here/../models/Inputs/slow.json" "$machine"

names=$(cd "$models" && ls ./*.mlir torch/*.mlir)
[ -z "$small" ] || names="mlp_fwd.mlir layernorm_gelu_bf16.mlir"
mkdir -p "$out/check" "$out/time"
for name in $names; do
  name=${name#./} name=${name%.mlir}
  for ranks in $counts; do
    compile "$models/$name.mlir" "$ranks" "$out/check/${name//\//-}.$ranks" --inputs-from "$models/$name"
    # Collectives beside compute, as on a machine so slow that it is worth while for these small models.
    [ "$ranks" = 1 ] || compile "$models/$name.mlir" "$ranks" "$out/check/${name//\//-}.overlap.$ranks" --inputs-from "$models/$name" \
      --overlap=run --topology="$machine"
  done
done
for name in $in_bf16; do
  to_bf16 "$models/$name.mlir" >"$out/model.mlir"
  for ranks in $counts; do
    compile "$out/model.mlir" "$ranks" "$out/check/${name//\//-}.bf16.$ranks" --inputs-from "$models/$name"
  done
done
tokens="16 2048"
[ -z "$small" ] || tokens=1
for n in $tokens; do
  python3 -B "$here/layer.py" "$n" ${small:+--small} >"$out/layer.mlir"
  to_bf16 "$out/layer.mlir" >"$out/model.mlir"
  for ranks in $counts; do
    compile "$out/model.mlir" "$ranks" "$out/time/llama-layer-$n-tokens.$ranks"
  done
done
rm "$out/model.mlir" "$out/layer.mlir"
