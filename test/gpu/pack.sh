#!/bin/bash
# pack.sh BIN FAKE_NCCL FAKE_CUDA FAKE_BLASLT WORK: what run.sh packs runs in a folder of its own, with an environment that knows nothing of the build;
# without NCCL or a GPU it says so. Programs are packed where BIN has the compiler.
set -euo pipefail
bin=$1 fake=$2 fake_cuda=$3 fake_blaslt=$4 work=$5
rm -rf "$work"
mkdir -p "$work/there"
"$(dirname "$0")/run.sh" --bin "$bin" --out "$work/out" --small --pack "$work/pack" >/dev/null
cp "$fake" "$work/there/fake.so"
cp "$fake_cuda" "$work/there/fake_cuda.so"
cp "$fake_blaslt" "$work/there/fake_blaslt.so"
mv "$work/pack" "$work/there/moved"
cd "$work/there"

# there PART VARIABLE=VALUE...: the exit status
there() {
  local part=$1 status=0
  shift
  env -i PATH=/usr/bin:/bin "$@" ./moved/run.sh --only "$part" --small --out results >said.txt 2>&1 || status=$?
  echo $status
}
fail() {
  echo "pack.sh: $1" >&2
  cat said.txt results/log.txt >&2
  exit 1
}

ldd=$(LD_LIBRARY_PATH=moved/lib ldd moved/bin/tprt_gpu_nccl)
for library in libtprt libsodium; do
  grep -q "$library.*=> moved/lib/" <<<"$ldd" || fail "$library is not that of the pack: $ldd"
done
[ "$(there nccl TPRT_CUDA_LIBRARY="$PWD/fake.so" TPRT_NCCL_LIBRARY="$PWD/fake.so")" = 0 ] || fail "the run failed"
grep -q '"test": "nccl-cases", "ranks": 2, "calls": [1-9][0-9]*, "errors": 0' results/results.json || fail "no cases were run"
[ "$(there nccl TPRT_CUDA_LIBRARY=/nonexistent.so)" = 77 ] || fail "without a driver it is not skipped"
[ "$(there nccl TPRT_CUDA_LIBRARY="$PWD/fake.so" TPRT_NCCL_LIBRARY=/nonexistent.so)" = 77 ] || fail "without NCCL it is not skipped"
grep -q 'NCCL was not found: /nonexistent.so' said.txt || fail "it does not say that there is no NCCL"

# Programs that were compiled before, with nothing of the compiler.
[ "$(there models TPRT_CUDA_LIBRARY="$PWD/fake_cuda.so" TPRT_BLASLT_LIBRARY="$PWD/fake_blaslt.so")" = 0 ] || fail "the run of programs failed"
if [ -x "$bin/shard-run" ]; then
  grep -q '"test": "model mlp_fwd.bf16", "ranks": 2, "calls": 6, "graph": "yes", "compared": 24, "errors": 0' results/results.json || fail "no program was run"
  for value in one out in; do # what is wrong is found: an element that was 0 is none
    cp "moved/models/check/mlp_fwd.2/$value.0.1.npy" kept.npy
    printf '\x20\x41' | dd of="moved/models/check/mlp_fwd.2/$value.0.1.npy" bs=1 seek=130 conv=notrunc status=none
    [ "$(there models TPRT_CUDA_LIBRARY="$PWD/fake_cuda.so" TPRT_BLASLT_LIBRARY="$PWD/fake_blaslt.so")" = 1 ] || fail "a wrong $value passes"
    grep -q '"test": "model mlp_fwd", "ranks": 2, "calls": 6, "graph": "yes", "compared": 24, "errors": [1-9]' results/results.json || fail "a wrong $value is not told"
    mv kept.npy "moved/models/check/mlp_fwd.2/$value.0.1.npy"
  done
  cp moved/models/check/mlp_fwd.2/{in.2,one.0}.1.npy
  [ "$(there models TPRT_CUDA_LIBRARY="$PWD/fake_cuda.so" TPRT_BLASLT_LIBRARY="$PWD/fake_blaslt.so")" = 1 ] || fail "a result of another shape passes"
  grep -q 'one.0.1.npy: has shape (64,), expected at most (32, 64)' results/log.txt || fail "it does not say which shape a result has"
  rm moved/models/check/mlp_fwd.2/o*.npy
  [ "$(there models TPRT_CUDA_LIBRARY="$PWD/fake_cuda.so" TPRT_BLASLT_LIBRARY="$PWD/fake_blaslt.so")" = 1 ] || fail "nothing to compare with passes"
  grep -q 'mlp_fwd.2 has nothing to compare with' results/log.txt || fail "it does not say that there is nothing to compare with"
else
  grep -q 'no shard-run here' results/results.json || fail "it does not say that there is no compiler"
fi
[ "$(there models TPRT_CUDA_LIBRARY=/nonexistent.so)" = 77 ] || fail "without a driver programs are not skipped"
