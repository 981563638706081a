#!/bin/bash
# run.sh [--out FOLDER] [--bin FOLDER | --ptx] [--first] [--only PART,...] [--small] [--jobs N] [--limit SECONDS] [--bandwidth GB/s]
#        [--arithmetic TFLOP/s] [--shard-run FILE]: everything that needs a GPU, in one go; what is wrong does not stop the rest.
# run.sh --pack FOLDER: what a machine needs that cannot build it; there: FOLDER/run.sh.
#
# Builds the runtime and its GPU programs (cmake, ninja or make, a C compiler, pkg-config, libsodium; nvcc is used if it is there), runs them on
# device 0, and between GPUs where there are several, and writes FOLDER/results.json and FOLDER/results.md. --bin takes programs that
# are built; --ptx builds without nvcc, so that the driver translates the committed PTX.
#
# Parts, in this order: fused (the fused kernels), models (compiled programs), tests (the tests of shard-run that name the driver of the tests, on
# the GPU's; with lit and FileCheck), nccl (backend nccl), fused-times, model-times, torch (PyTorch's times for the same layer), watched
# (compute-sanitizer). --first: a case of each row in a few minutes, as --small --jobs 8 --limit 60 do. --small few turns; --jobs N runs at once (default 1; times are always taken alone); --limit for each (default 600);
# --bandwidth and --arithmetic what the times are compared with (default: 4300 and, dense in bf16, 989, of an H200; an H100
# has 3350 and 989). Programs are compiled by the shard-run of --shard-run, or of --bin; a pack has them compiled. NCCL is
# libnccl.so.2, or what TPRT_NCCL_LIBRARY names, or that of a Python package of NVIDIA; cuBLASLt is what TPRT_BLASLT_LIBRARY
# names, or that of CUDA 13, 12 or 11, or that of such a package; cuDNN, if there is one, is found likewise. Exit status: 0, 1 if something was
# wrong, 77 without a GPU.
# shellcheck disable=SC2317 # the parts are called by their names
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
out=$PWD/gpu-results bin='' cuda=AUTO small=0 first=0 bandwidth=4300 arithmetic=989 pack='' shard_run='' jobs=1 limit=600
all_parts='fused models tests nccl fused-times model-times torch watched' parts=''
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 && shift ;;
    --bin) bin=$2 && shift ;;
    --ptx) cuda=OFF ;;
    --pack) pack=$2 && shift ;;
    --only) parts=${2//,/ } && shift ;;
    --small) small=1 ;;
    --first) small=1 first=1 jobs=8 limit=60 ;;
    --jobs) jobs=$2 && shift ;;
    --limit) limit=$2 && shift ;;
    --bandwidth) bandwidth=$2 && shift ;;
    --arithmetic) arithmetic=$2 && shift ;;
    --shard-run) shard_run=$2 && shift ;;
    *) echo "run.sh: unknown option '$1'" >&2 && exit 2 ;;
  esac
  shift
done
for part in ${parts:=$all_parts}; do
  [[ " $all_parts " == *" $part "* ]] || {
    echo "run.sh: --only takes some of ${all_parts// /, }, not '$part'" >&2
    exit 2
  }
done
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$bin" ] && [ -x "$here/bin/tprt_gpu_fused" ]; then # packed
  bin=$here/bin
fi
rm -rf "$out/runs"
mkdir -p "$out/runs"
out=$(cd "$out" && pwd)

if [ -z "$bin" ]; then
  cmake -S "$source_dir" -B "$out/build" -DTP_COMPILER=OFF -DTP_TESTS=OFF -DTP_GPU_PROGRAMS=ON -DTP_CUDA="$cuda" \
    -DCMAKE_BUILD_TYPE=Release >"$out/build.txt"
  cmake --build "$out/build" -j "$(nproc)" --target tprt_gpu_fused tprt_gpu_peers tprt_gpu_sites tprt_gpu_timing tprt_gpu_gemm tprt_gpu_beside tprt_gpu_attention tprt_gpu_model \
    tprt_gpu_nccl tprt_gpu_eager >>"$out/build.txt"
  bin=$out/build/bin
fi
commit=$(cat "$bin/../commit.txt" 2>/dev/null || git -C "$source_dir" rev-parse --short HEAD 2>/dev/null || echo unknown)

# Where there is a compiler: the programs that it makes, in the given folder.
if [ -z "$shard_run" ] && [ -x "$bin/shard-run" ]; then
  shard_run=$bin/shard-run
fi
compile_models() {
  rm -rf "$1"
  local size=()
  [ "$small" = 0 ] || size=(small)
  "$here/models.sh" "$shard_run" "$source_dir/examples/models" "$1" "${size[@]}"
}

# Programs, the libraries that they were linked with but the C library's, and these scripts.
if [ -n "$pack" ]; then
  mkdir -p "$pack/bin" "$pack/lib"
  cp "$bin"/tprt_gpu_{fused,peers,sites,timing,gemm,beside,attention,model,nccl,eager} "$pack/bin"
  ldd "$bin/tprt_gpu_nccl" | sed -nE 's/^\s*lib(tprt|sodium)\.\S* => (.*) \(0x[0-9a-f]+\)$/\2/p' | xargs -d '\n' -I '{}' cp -L '{}' "$pack/lib"
  cp "$here/run.sh" "$here/torch_layer.py" "$pack"
  if [ -n "$shard_run" ]; then
    compile_models "$pack/models"
  else
    echo "run.sh: no compiled programs are packed: there is no shard-run; see --shard-run" >&2
  fi
  echo "$commit" >"$pack/commit.txt"
  echo "$pack"
  exit 0
fi
if [ -f "$bin/../commit.txt" ]; then # packed
  export LD_LIBRARY_PATH=$bin/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# Python packages bring libraries that the loader does not find by itself: the first file of the given names in them.
in_python() {
  python3 - "$@" <<'END' 2>/dev/null || true
import glob, sys, nvidia
for name in sys.argv[1:]:
    for path in (path for folder in nvidia.__path__ for path in glob.glob(folder + "/*/lib/" + name)):
        print(path)
        sys.exit()
END
}
blaslt=(libcublasLt.so.13 libcublasLt.so.12 libcublasLt.so.11)
if [ -z "${TPRT_NCCL_LIBRARY:-}" ] && [[ " $parts " == *" nccl "* ]]; then
  TPRT_NCCL_LIBRARY=$(in_python libnccl.so.2)
  [ -z "$TPRT_NCCL_LIBRARY" ] || export TPRT_NCCL_LIBRARY
fi
if [ -z "${TPRT_BLASLT_LIBRARY:-}" ] && ! ldconfig -p 2>/dev/null | grep -qF "${blaslt[0]}"; then
  TPRT_BLASLT_LIBRARY=$(in_python "${blaslt[@]}")
  [ -z "$TPRT_BLASLT_LIBRARY" ] || export TPRT_BLASLT_LIBRARY
fi

if [ -z "${TPRT_CUDNN_LIBRARY:-}" ] && ! ldconfig -p 2>/dev/null | grep -qF libcudnn.so.9; then
  TPRT_CUDNN_LIBRARY=$(in_python libcudnn.so.9)
  [ -z "$TPRT_CUDNN_LIBRARY" ] || export TPRT_CUDNN_LIBRARY
fi

# run NAME COMMAND...: in the background, when fewer than so many are running. Writes the command's JSON lines, or one that says that it failed or was
# not possible, and its messages. `label` stands before the names of tests.
n_runs=0 label=''
run() {
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
    wait -n || true
  done
  n_runs=$((n_runs + 1))
  run_one "$(printf '%s/runs/%04d' "$out" "$n_runs")" "$@" &
}
run_one() {
  local to=$1 name=$2 status=0 begun=$SECONDS
  shift 2
  echo "== $*" >"$to.log"
  timeout --kill-after=5 "$limit" "$@" >"$to.out" 2>>"$to.log" || status=$?
  echo "== $((SECONDS - begun)) s, exit status $status" >>"$to.log"
  if [ "$status" = 77 ]; then
    echo "{\"test\": \"$label$name\", \"skipped\": \"$(tail -n 2 "$to.log" | head -n 1)\"}" >"$to.json"
    return
  fi
  grep '^{' "$to.out" | sed "s/\"test\": \"/&$label/" >"$to.json" || true
  [ "$status" = 0 ] || echo "{\"test\": \"$label$name\", \"failed\": $status, \"command\": \"${*##*/}\"}" >>"$to.json"
}
# A line of the results.
note() {
  n_runs=$((n_runs + 1))
  echo "$1" >"$(printf '%s/runs/%04d' "$out" "$n_runs").json"
}
# hopper run|run_alone ...: with the kernels for compute capability 9.0 that are off by default; other GPUs run the same as without.
hopper() {
  local before=$label
  label=${label}'hopper '
  TPRT_HOPPER_ATTENTION=1 "$@"
  label=$before
}
# timed run|run_alone ...: with the fastest algorithms of cuBLASLt, measured in this run.
timed() {
  local before=$label
  label=${label}'timed '
  TPRT_TIMED_GEMM=1 XDG_CACHE_HOME=$out/cache "$@"
  label=$before
}
# cudnn run|run_alone NAME COMMAND...: attention by cuDNN, where it has it.
cudnn() {
  local before=$label
  label=${label}'cudnn '
  if [ -n "${TPRT_CUDNN_LIBRARY:-}" ] || ldconfig -p 2>/dev/null | grep -qF libcudnn.so.9; then
    TPRT_ATTENTION=cudnn "$@"
  else
    note "{\"test\": \"$label$2\", \"skipped\": \"there is no libcudnn.so.9\"}"
  fi
  label=$before
}
# run_alone NAME COMMAND...: with nothing else on the GPU.
run_alone() {
  wait
  run "$@"
  wait
}

machine_of=fused
[ "$parts" != nccl ] || machine_of=nccl
"$bin/tprt_gpu_$machine_of" machine >"$out/machine.txt" || exit $?
turns=1000 replays=1000 all_ranks="1 2 3 4 8" shapes="1024 4096" time_ranks="2 4 8" hidden=8192 watched=70 graph_replays=1000 late_ms=10000 few=() few_cases=() attended="16 2048 8192"
if [ "$small" = 1 ]; then
  turns=40 replays=3 all_ranks="1 4" shapes=8 time_ranks=2 hidden=1024 watched=40 graph_replays=1 late_ms=300 few=(small) attended=16
  [ "$first" = 1 ] || few_cases=(small) # of those that take long only where a GPU is emulated
fi

fused() {
  for ranks in $all_ranks; do
    run correct "$bin/tprt_gpu_fused" correct "$ranks" "$turns" 0
    run correct-skewed "$bin/tprt_gpu_fused" correct "$ranks" "$turns" 20000
    run graph "$bin/tprt_gpu_fused" graph "$ranks" "$replays"
  done
  for ranks in 2 4 8; do
    run peers "$bin/tprt_gpu_peers" threads "$ranks" "$turns" 20000
    run peers-processes "$bin/tprt_gpu_peers" processes "$ranks" "$turns" 20000
    run sites "$bin/tprt_gpu_sites" threads "$ranks"
    run sites-processes "$bin/tprt_gpu_sites" processes "$ranks"
  done
  run missing "$bin/tprt_gpu_fused" missing
  run products "$bin/tprt_gpu_gemm" products
  run beside "$bin/tprt_gpu_beside" cases "${few_cases[@]}"
  run relu-nan "$bin/tprt_gpu_gemm" nan "${few[@]}"
  run attention "$bin/tprt_gpu_attention" cases "${few_cases[@]}"
  hopper run attention "$bin/tprt_gpu_attention" cases "${few_cases[@]}"
  cudnn run attention "$bin/tprt_gpu_attention" cases "${few_cases[@]}"
  run attention-gradients "$bin/tprt_gpu_attention" gradients "${few_cases[@]}"
  cudnn run attention-gradients "$bin/tprt_gpu_attention" gradients "${few_cases[@]}"
  for ranks in $all_ranks; do
    run slices "$bin/tprt_gpu_gemm" slices "$ranks" "${few[@]}"
    run gathers "$bin/tprt_gpu_gemm" gathers "$ranks" "${few[@]}"
  done
}

fused-times() {
  for tokens in $attended; do
    run_alone beside-time "$bin/tprt_gpu_beside" time "$tokens" "$bandwidth" "${few_cases[@]}"
    run_alone attention-time "$bin/tprt_gpu_attention" time "$tokens" "$arithmetic" "$bandwidth"
    hopper run_alone attention-time "$bin/tprt_gpu_attention" time "$tokens" "$arithmetic" "$bandwidth"
    cudnn run_alone attention-time "$bin/tprt_gpu_attention" time "$tokens" "$arithmetic" "$bandwidth"
    run_alone attention-gradient-time "$bin/tprt_gpu_attention" gradient-time "$tokens" "$arithmetic" "$bandwidth"
  done
  for tokens in $shapes; do
    for ranks in $time_ranks; do
      run_alone time "$bin/tprt_gpu_timing" "$tokens" "$hidden" "$ranks" "$bandwidth" "${few_cases[@]}"
    done
  done
}

# Compiles programs, once, unless they are packed. Returns 1 if there are none.
programs=''
have_programs() {
  if [ -n "$programs" ]; then
    return 0
  elif [ -d "$bin/../models" ]; then # packed
    programs=$bin/../models
  elif [ -n "$shard_run" ]; then
    programs=$out/models
    compile_models "$programs"
  else
    note "{\"test\": \"$1\", \"skipped\": \"no shard-run here, which compiles the programs, and none were packed\"}"
    return 1
  fi
}

# Compiled programs, on virtual ranks of one GPU.
models() {
  local program
  have_programs model || return 0
  for program in "$programs"/check/*; do
    run "model ${program##*/}" "$bin/tprt_gpu_model" check "$program"
    [[ ${program##*/} != *llama*bf16* ]] || hopper run "model ${program##*/}" "$bin/tprt_gpu_model" check "$program"
    [[ ${program##*/} != *llama*bf16* ]] || cudnn run "model ${program##*/}" "$bin/tprt_gpu_model" check "$program"
    [[ ${program##*/} != *llama_block.* ]] || timed run "model ${program##*/}" "$bin/tprt_gpu_model" check "$program"
  done
}

model-times() {
  local program
  have_programs model-time || return 0
  for program in "$programs"/time/*; do
    run_alone "model-time ${program##*/}" "$bin/tprt_gpu_model" time "$program" "$bandwidth" "$arithmetic"
    hopper run_alone "model-time ${program##*/}" "$bin/tprt_gpu_model" time "$program" "$bandwidth" "$arithmetic"
    cudnn run_alone "model-time ${program##*/}" "$bin/tprt_gpu_model" time "$program" "$bandwidth" "$arithmetic"
    timed run_alone "model-time ${program##*/}" "$bin/tprt_gpu_model" time "$program" "$bandwidth" "$arithmetic"
  done
}

torch() {
  local python
  if python=$(command -v python3); then
    run_alone "model-time torch" "$python" -B "$here/torch_layer.py" 16 2048
  fi
}

# The commands of tests that name the driver of the tests, on the GPU: lit finds the libraries of the machine under the names of those of the tests.
tests() {
  local filecheck
  if ! filecheck=$(command -v FileCheck || ls /usr/lib/llvm-22/bin/FileCheck 2>/dev/null) || [ -z "$shard_run" ]; then
    note '{"test": "tests", "skipped": "needs shard-run, lit and FileCheck"}'
    return
  fi
  run tests python3 -B "$here/tests.py" "$shard_run" "$filecheck" "$source_dir" "$out/tests"
}

# A rank a GPU.
nccl() {
  local ranks
  [ "$small" = 1 ] || export TP_LONG=1 # every case, not one of many
  run nccl-same-device "$bin/tprt_gpu_nccl" same-device
  for ranks in 1 2; do
    run nccl-cases "$bin/tprt_gpu_nccl" cases "$ranks"
  done
  for ranks in 1 2 4 8; do
    run nccl-refusals "$bin/tprt_gpu_nccl" refusals "$ranks"
    run nccl-streams "$bin/tprt_gpu_nccl" streams "$ranks"
    run nccl-graph "$bin/tprt_gpu_nccl" graph "$ranks" "$graph_replays"
    run nccl-abort "$bin/tprt_gpu_nccl" abort "$ranks"
  done
  for ranks in 1 2 4 8; do
    run_alone nccl-eager "$bin/tprt_gpu_eager" "$ranks"
  done
  for ranks in 2 4 8; do
    run nccl-late "$bin/tprt_gpu_nccl" late "$ranks" "$late_ms"
  done
}

# Commands by every tool of compute-sanitizer.
watched() {
  local sanitizer tool program
  if ! sanitizer=$(command -v compute-sanitizer); then
    note '{"test": "compute-sanitizer", "skipped": "not installed"}'
    return
  fi
  for tool in memcheck initcheck synccheck racecheck; do
    label="$tool "
    run correct "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_fused" correct 4 "$watched" 0
    run attention "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_attention" cases
    hopper run attention "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_attention" cases
    run attention-gradients "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_attention" gradients
    have_programs model || continue
    for program in "$programs"/check/{mlp_fwd.2,layernorm_gelu_bf16.1,llama_block_train.4}; do
      [ ! -d "$program" ] || run "model ${program##*/}" "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_model" check "$program"
    done
  done
  wait
  label=''
}

for part in $parts; do
  $part
done
wait
cat "$out"/runs/*.log >"$out/log.txt" 2>/dev/null || true
lines=$out/lines.json wrong=0
cat "$out"/runs/*.json >"$lines"
! grep -q '"failed": ' "$lines" || wrong=1

machine=$(cat "$out/machine.txt")
{
  echo "{\"machine\": \"$machine\", \"commit\": \"$commit\", \"date\": \"$(date -u +%F)\", \"results\": ["
  sed '$!s/$/,/' "$lines"
  echo "]}"
} >"$out/results.json"

# Fields by name, so that their order does not matter.
awk -v machine="$machine" -v commit="$commit" -v bandwidth="$bandwidth" -v arithmetic="$arithmetic" '
  function field(key,  text) {
    if (!match($0, "\"" key "\": (\"[^\"]*\"|[-0-9.e+]+)")) return ""
    text = substr($0, RSTART, RLENGTH)
    sub(/^"[^"]*": "?/, "", text)
    sub(/"$/, "", text)
    return text
  }
  BEGIN { print "# Runs on " machine ", commit " commit "\n" }
  field("failed") != "" { checks = checks "| " field("test") " | | | FAILED: " field("command") " (" field("failed") ") |\n"; next }
  field("skipped") != "" { checks = checks "| " field("test") " | | | " field("skipped") " |\n"; next }
  field("test") == "time" {
    times = times "| " field("tokens") " | " field("ranks") " | " field("variant") " | " field("bound_us") " | " \
      field("least_us") " | " field("median_us") " | " field("times_bound") " |\n"
    next
  }
  field("test") ~ /model-time$/ {
    whole = whole "| " (field("test") ~ /^(hopper|cudnn|timed)/ ? substr(field("test"), 1, index(field("test"), " ") - 1) ": " : "") field("variant") " | " field("ranks") " | " field("bound_us") " | " field("least_us") " | " field("median_us") " | " \
      field("kernels_us") " | " field("times_bound") " |\n"
    next
  }
  field("test") ~ /attention(-gradient)?-time$/ {
    attended = attended "| " field("test") " | " field("tokens") " | " field("us") " | " field("arithmetic_us") " | " field("bytes_us") " |\n"
    next
  }
  field("test") ~ /beside-time$/ {
    together = together "| " field("variant") " | " field("tokens") " | " field("us") " | " field("alone_us") " | " field("bytes_us") " |\n"
    next
  }
  { checks = checks "| " field("test") " | " field("ranks") " | " field("calls") " | " field("errors") " errors |\n" }
  END {
    print "| test | ranks | calls | result |\n|---|---|---|---|\n" checks
    if (attended != "")
      print "Attention of a Llama layer.\n\n| | tokens | call, us | its arithmetic, us | its bytes, us |\n|---|---|---|---|---|\n" attended
    if (together != "")
      print "Projections of one of eight ranks of a Llama, in graphs.\n\n| | tokens | side by side, us | one after the other, us | their bytes, us |\n|---|---|---|---|---|\n" together
    if (whole != "") {
      print "Whole programs, arguments in memory of the GPU, all ranks on one. Bound: arguments and results once at " bandwidth " GB/s, or arithmetic " \
        "at " arithmetic " TFLOP/s, the larger. Call: until the GPU is done, seen from the host; kernels: the same by events, median.\n"
      print "| program | ranks | bound, us | call, least, us | median, us | kernels, us | call / bound |\n|---|---|---|---|---|---|---|\n" whole
    }
    if (times == "") exit
    print "Virtual ranks on one GPU, which says nothing about links between GPUs. Bound: bytes at " bandwidth " GB/s.\n"
    print "| tokens | ranks | variant | bound, us | least, us | median, us | median / bound |\n|---|---|---|---|---|---|---|\n" times
  }' "$lines" >"$out/results.md"
rm -rf "$lines" "$out/runs" "$out/machine.txt"
echo "$out/results.md, $out/results.json"
exit $wrong
