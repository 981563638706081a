#!/bin/sh
# gpu_calls.sh ROOT: the page of calls has each function of NCCL, the driver, cuBLASLt and cuDNN that the library looks up,
# and no other; and the tests that it names exist.
set -eu
page=$1/docs/reference/gpu-calls.md
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
name='(cu[A-Z]|nccl[A-Z]|cublasLt|cudnn[A-Z])[A-Za-z0-9_]*'
grep -rhoE "\"$name\"" "$1/runtime" --include=*.c --include=*.h | tr -d '"' | LC_ALL=C sort -u >"$work/used"
grep '^|' "$page" | cut -d '|' -f 2 | grep -oE "\`$name\`" | tr -d '`' | LC_ALL=C sort >"$work/listed"
diff "$work/used" "$work/listed"
cut -d '|' -f 4 "$page" | grep -oE 'runtime\.(nccl|cuda)\.[a-z_]+' | LC_ALL=C sort -u | while read -r test; do
  file=$(find "$1/test/runtime" -name "${test##*.}_test.c" -o -name "${test##*.}.c" | head -n 1)
  [ "$file" ] || { echo "$page: there is no test $test" >&2; exit 1; }
done
