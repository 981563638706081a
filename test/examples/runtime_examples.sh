#!/bin/sh
# runtime_examples.sh PREFIX BUILD DRIVER: examples/runtime, and the program of docs/runtime.md, against the installed package. DRIVER stands in for CUDA's.
set -eu
prefix=$1 build=$2 driver=$(realpath "$3")
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$build"
mkdir -p "$build"

expect() { # PROGRAM LINE...: what it prints, in any order
  program=$1
  shift
  printf '%s\n' "$@" | sort >"$build/expected"
  "$program" | sort >"$build/got"
  diff "$build/expected" "$build/got"
}

cmake -G Ninja -S "$root/examples/runtime" -B "$build/out" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_FLAGS="$(cat "$root/test/examples/warnings.txt")" >/dev/null
cmake --build "$build/out" >/dev/null
expect "$build/out/all_reduce" "every element of the sum is 10"
expect "$build/out/point_to_point" "rank 1: left neighbor's last cell 1000, first mean 1001"
expect "$build/out/mesh_groups" "rank 3 is at (1, 1); sums: over dp 4, over tp 5" 'rank 0 of "ends" is rank 3 of the world'
expect "$build/out/windows" "the squares of 10, 20 and 30 add up to 1400"
expect "$build/out/options" "an unknown hint is refused" \
  "2 all-reduces, the last one: program failed; nan_check: element 0 of the tensor of rank 2 is NaN (operation 2, all_reduce f32)" \
  "the flight recorder has the failure: yes"
TPRT_CUDA_LIBRARY=$driver expect "$build/out/graph" "replay 1: the sum is 3, normalized 2" "replay 2: the sum is 6, normalized 2" \
  "replay 3: the sum is 9, normalized 2"
TPRT_CUDA_LIBRARY=$build/none "$build/out/graph" | grep -q "^no GPU: CUDA: "

cc -std=c11 $(cat "$root/test/examples/warnings.txt") -fsyntax-only "$root/examples/tutorial/run.c" -I"$prefix/include"

# As torchrun starts it, and as a launcher of our own would.
python3 "$root/test/tools/Inputs/torchrun.py" 4 "$build/out/launched" >"$build/got"
test "$(cat "$build/got")" = "4 ranks: the sum is 2.083333"
for rank in 0 1 2; do
  TPRT_RANK=$rank TPRT_SIZE=3 TPRT_STORE=file:$build/store "$build/out/launched" >>"$build/launched.txt" &
done
wait
test "$(cat "$build/launched.txt")" = "3 ranks: the sum is 1.833333"
test ! -e "$build/store"

# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$root/docs/runtime.md" | sed '/^```/d' >"$build/sum.c"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tprt.pc)")
export PKG_CONFIG_PATH
eval "set -- $(pkg-config --cflags --libs tprt)" # words, in which blanks are escaped
cc -std=c11 -Wall -Wextra -Werror "$build/sum.c" "$@" -lpthread -o "$build/sum"
eval "LD_LIBRARY_PATH=$(pkg-config --variable=libdir tprt)"
export LD_LIBRARY_PATH
expect "$build/sum" "the ranks add up to 6"
TPRT_BACKEND=$(realpath "$build/out/mailbox_backend.so") expect "$build/sum" "the ranks add up to 6"
