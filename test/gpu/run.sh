#!/bin/bash
# run.sh [--out FOLDER] [--bin FOLDER | --ptx] [--small] [--bandwidth GB/s]: everything that needs a GPU, in one go.
#
# Builds the runtime and its GPU programs (cmake, ninja or make, a C compiler, libsodium, cmocka; nvcc is used if it is there), runs them on
# device 0, and between GPUs where there are several, and writes FOLDER/results.json and FOLDER/results.md. --bin takes programs that
# are built; --ptx builds without nvcc, so that the driver translates the committed PTX; --small few turns;
# --bandwidth what the times are compared with (default: 4300, of an H200; an H100 has 3350). Exit status: 0, 1 if something was
# wrong, 77 without a GPU.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
out=$PWD/gpu-results bin='' cuda=AUTO small=0 bandwidth=4300
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 && shift ;;
    --bin) bin=$2 && shift ;;
    --ptx) cuda=OFF ;;
    --small) small=1 ;;
    --bandwidth) bandwidth=$2 && shift ;;
    *) echo "run.sh: unknown option '$1'" >&2 && exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
lines=$out/lines.json wrong=0
: >"$lines"
: >"$out/log.txt"

if [ -z "$bin" ]; then
  cmake -S "$source_dir" -B "$out/build" -DTP_COMPILER=OFF -DTP_CUDA=$cuda -DCMAKE_BUILD_TYPE=Release >"$out/build.txt"
  cmake --build "$out/build" -j "$(nproc)" --target tprt_gpu_fused tprt_gpu_peers tprt_gpu_timing >>"$out/build.txt"
  bin=$out/build/bin
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

"$bin/tprt_gpu_fused" machine >"$out/machine.txt" || exit $?
turns=1000 replays=1000 all_ranks="1 2 3 4 8" shapes="1024 4096" time_ranks="2 4 8" hidden=8192 watched=70
if [ $small = 1 ]; then
  turns=40 replays=3 all_ranks="1 4" shapes=8 time_ranks=2 hidden=1024 watched=40
fi
for ranks in $all_ranks; do
  run correct "$bin/tprt_gpu_fused" correct "$ranks" $turns 0
  run correct-skewed "$bin/tprt_gpu_fused" correct "$ranks" $turns 20000
  run graph "$bin/tprt_gpu_fused" graph "$ranks" $replays
done
for ranks in 2 4 8; do
  run peers "$bin/tprt_gpu_peers" "$ranks" $turns 20000
done
run missing "$bin/tprt_gpu_fused" missing
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

machine=$(cat "$out/machine.txt")
commit=$(git -C "$source_dir" rev-parse --short HEAD 2>/dev/null || echo unknown)
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
  BEGIN { print "# Fused kernels on " machine ", commit " commit "\n" }
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
    print "Virtual ranks on one GPU, which says nothing about links between GPUs. Bound: bytes at " bandwidth " GB/s.\n"
    print "| tokens | ranks | variant | bound, us | least, us | median, us | median / bound |\n|---|---|---|---|---|---|---|\n" times
  }' "$lines" >"$out/results.md"
rm -f "$lines" "$out/stdout.txt" "$out/machine.txt"
echo "$out/results.md, $out/results.json"
exit $wrong
