#!/bin/bash
# pack.sh BIN FAKE WORK: what run.sh packs runs in a folder of its own, with an environment that knows nothing of the build; without
# NCCL or a GPU it says so.
set -euo pipefail
bin=$1 fake=$2 work=$3
rm -rf "$work"
mkdir -p "$work/there"
"$(dirname "$0")/run.sh" --bin "$bin" --out "$work/out" --pack "$work/pack" >/dev/null
cp "$fake" "$work/there/fake.so"
mv "$work/pack" "$work/there/moved"
cd "$work/there"

# there VARIABLE=VALUE...: the exit status
there() {
  local status=0
  env -i PATH=/usr/bin:/bin "$@" ./moved/run.sh --only nccl --small --out results >said.txt 2>&1 || status=$?
  echo $status
}
fail() {
  echo "pack.sh: $1" >&2
  cat said.txt results/log.txt >&2
  exit 1
}

ldd=$(LD_LIBRARY_PATH=moved/lib ldd moved/bin/tprt_gpu_nccl)
grep -q 'libtprt.*=> moved/lib/' <<<"$ldd" && grep -q 'libsodium.*=> moved/lib/' <<<"$ldd" || fail "libraries are not those packed: $ldd"
[ "$(there TPRT_CUDA_LIBRARY=$PWD/fake.so TPRT_NCCL_LIBRARY=$PWD/fake.so)" = 0 ] || fail "the run failed"
grep -q '"test": "nccl-cases", "ranks": 2, "calls": [1-9][0-9]*, "errors": 0' results/results.json || fail "no cases were run"
[ "$(there TPRT_CUDA_LIBRARY=/nonexistent.so)" = 77 ] || fail "without a driver it is not skipped"
[ "$(there TPRT_CUDA_LIBRARY=$PWD/fake.so TPRT_NCCL_LIBRARY=/nonexistent.so)" = 77 ] || fail "without NCCL it is not skipped"
grep -q 'there is no NCCL: /nonexistent.so' said.txt || fail "it does not say that there is no NCCL"
