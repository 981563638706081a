#!/bin/bash
# run.sh [--out FOLDER] [--bin FOLDER | --ptx] [--only fused|nccl] [--small] [--bandwidth GB/s]: everything that needs a GPU, in one go.
# run.sh --pack FOLDER: what a machine needs that cannot build it; there: FOLDER/run.sh.
#
# Builds the runtime and its GPU programs (cmake, ninja or make, a C compiler, pkg-config, libsodium; nvcc is used if it is there), runs them on
# device 0, and between GPUs where there are several, and writes FOLDER/results.json and FOLDER/results.md. --bin takes programs that
# are built; --ptx builds without nvcc, so that the driver translates the committed PTX; --only the fused kernels, or backend nccl;
# --small few turns; --bandwidth what the times are compared with (default: 4300, of an H200; an H100 has 3350). NCCL is
# libnccl.so.2, or what TPRT_NCCL_LIBRARY names, or that of a Python package nvidia-nccl-*; cuBLASLt is what TPRT_BLASLT_LIBRARY
# names, or that of CUDA 13, 12 or 11. Exit status: 0, 1 if something was
# wrong, 77 without a GPU.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
out=$PWD/gpu-results bin='' cuda=AUTO small=0 bandwidth=4300 only='' pack=''
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 && shift ;;
    --bin) bin=$2 && shift ;;
    --ptx) cuda=OFF ;;
    --pack) pack=$2 && shift ;;
    --only) only=$2 && shift ;;
    --small) small=1 ;;
    --bandwidth) bandwidth=$2 && shift ;;
    *) echo "run.sh: unknown option '$1'" >&2 && exit 2 ;;
  esac
  shift
done
case $only in
  '' | fused | nccl) ;;
  *) echo "run.sh: --only '$only' is neither fused nor nccl" >&2 && exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$bin" ] && [ -x "$here/bin/tprt_gpu_fused" ]; then # packed
  bin=$here/bin
fi
mkdir -p "$out"
lines=$out/lines.json wrong=0
: >"$lines"
: >"$out/log.txt"

if [ -z "$bin" ]; then
  cmake -S "$source_dir" -B "$out/build" -DTP_COMPILER=OFF -DTP_TESTS=OFF -DTP_GPU_PROGRAMS=ON -DTP_CUDA=$cuda \
    -DCMAKE_BUILD_TYPE=Release >"$out/build.txt"
  cmake --build "$out/build" -j "$(nproc)" --target tprt_gpu_fused tprt_gpu_peers tprt_gpu_timing tprt_gpu_gemm tprt_gpu_nccl >>"$out/build.txt"
  bin=$out/build/bin
fi
commit=$(cat "$here/commit.txt" 2>/dev/null || git -C "$source_dir" rev-parse --short HEAD 2>/dev/null || echo unknown)

# Programs, the libraries that they were linked with but the C library's, and this script.
if [ -n "$pack" ]; then
  mkdir -p "$pack/bin" "$pack/lib"
  cp "$bin"/tprt_gpu_{fused,peers,timing,gemm,nccl} "$pack/bin"
  ldd "$bin/tprt_gpu_nccl" | awk '$1 ~ /^lib(tprt|sodium)\./ { print $3 }' | xargs -I '{}' cp -L '{}' "$pack/lib"
  cp "$here/run.sh" "$pack"
  echo "$commit" >"$pack/commit.txt"
  echo "$pack"
  exit 0
fi
if [ -f "$here/commit.txt" ] && [ "$bin" = "$here/bin" ]; then
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# Python packages bring an NCCL that the loader does not find by itself.
if [ -z "${TPRT_NCCL_LIBRARY:-}" ] && [ "$only" != fused ] && python=$(command -v python3); then
  found=$("$python" -c 'import nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null || true)
  if [ -n "$found" ] && [ -e "$found/lib/libnccl.so.2" ]; then
    export TPRT_NCCL_LIBRARY=$found/lib/libnccl.so.2
  fi
fi

# run NAME COMMAND...: its JSON lines, or one that says that it failed, or that it was not possible.
run() {
  local name=$1 status=0
  shift
  echo "== $*" >>"$out/log.txt"
  timeout 600 "$@" >"$out/stdout.txt" 2>>"$out/log.txt" || status=$?
  if [ $status = 77 ]; then
    echo "{\"test\": \"$name\", \"skipped\": \"$(tail -n 1 "$out/log.txt")\"}" >>"$lines"
    return
  fi
  grep '^{' "$out/stdout.txt" >>"$lines" || true
  if [ $status != 0 ]; then
    wrong=1
    echo "{\"test\": \"$name\", \"failed\": $status, \"command\": \"${*##*/}\"}" >>"$lines"
  fi
}

"$bin/tprt_gpu_${only:-fused}" machine >"$out/machine.txt" || exit $?
turns=1000 replays=1000 all_ranks="1 2 3 4 8" shapes="1024 4096" time_ranks="2 4 8" hidden=8192 watched=70 graph_replays=1000 late_ms=10000 few=""
if [ $small = 1 ]; then
  turns=40 replays=3 all_ranks="1 4" shapes=8 time_ranks=2 hidden=1024 watched=40 graph_replays=1 late_ms=300 few=small
fi

fused() {
  for ranks in $all_ranks; do
    run correct "$bin/tprt_gpu_fused" correct "$ranks" $turns 0
    run correct-skewed "$bin/tprt_gpu_fused" correct "$ranks" $turns 20000
    run graph "$bin/tprt_gpu_fused" graph "$ranks" $replays
  done
  for ranks in 2 4 8; do
    run peers "$bin/tprt_gpu_peers" "$ranks" $turns 20000
  done
  run missing "$bin/tprt_gpu_fused" missing
  run products "$bin/tprt_gpu_gemm" products
  for ranks in $all_ranks; do
    # shellcheck disable=SC2086
    run slices "$bin/tprt_gpu_gemm" slices "$ranks" $few
  done
  if sanitizer=$(command -v compute-sanitizer); then
    for tool in memcheck initcheck synccheck racecheck; do
      run "$tool" "$sanitizer" --tool "$tool" --error-exitcode 1 "$bin/tprt_gpu_fused" correct 4 $watched 0
    done
  else
    echo '{"test": "compute-sanitizer", "skipped": "not installed"}' >>"$lines"
  fi
  for tokens in $shapes; do
    for ranks in $time_ranks; do
      run time "$bin/tprt_gpu_timing" "$tokens" $hidden "$ranks" "$bandwidth"
    done
  done
}

# A rank a GPU.
nccl() {
  local ranks
  [ $small = 1 ] || export TP_LONG=1 # every case, not one of many
  run nccl-same-device "$bin/tprt_gpu_nccl" same-device
  for ranks in 1 2; do
    run nccl-cases "$bin/tprt_gpu_nccl" cases "$ranks"
  done
  for ranks in 1 2 4 8; do
    run nccl-refusals "$bin/tprt_gpu_nccl" refusals "$ranks"
    run nccl-streams "$bin/tprt_gpu_nccl" streams "$ranks"
    run nccl-graph "$bin/tprt_gpu_nccl" graph "$ranks" $graph_replays
    run nccl-abort "$bin/tprt_gpu_nccl" abort "$ranks"
  done
  for ranks in 2 4 8; do
    run nccl-late "$bin/tprt_gpu_nccl" late "$ranks" $late_ms
  done
}

for part in ${only:-fused nccl}; do
  $part
done

machine=$(cat "$out/machine.txt")
{
  echo "{\"machine\": \"$machine\", \"commit\": \"$commit\", \"date\": \"$(date -u +%F)\", \"results\": ["
  sed '$!s/$/,/' "$lines"
  echo "]}"
} >"$out/results.json"

# Fields by name, so that their order does not matter.
awk -v machine="$machine" -v commit="$commit" -v bandwidth="$bandwidth" '
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
  { checks = checks "| " field("test") " | " field("ranks") " | " field("calls") " | " field("errors") " errors |\n" }
  END {
    print "| test | ranks | calls | result |\n|---|---|---|---|\n" checks
    if (times == "") exit
    print "Virtual ranks on one GPU, which says nothing about links between GPUs. Bound: bytes at " bandwidth " GB/s.\n"
    print "| tokens | ranks | variant | bound, us | least, us | median, us | median / bound |\n|---|---|---|---|---|---|---|\n" times
  }' "$lines" >"$out/results.md"
rm -f "$lines" "$out/stdout.txt" "$out/machine.txt"
echo "$out/results.md, $out/results.json"
exit $wrong
