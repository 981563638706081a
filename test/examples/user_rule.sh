#!/bin/sh
# user_rule.sh PREFIX BUILD LLVM_TOOLS: builds examples/user-rule against the installed package and checks what it prints.
set -eu
prefix=$1 build=$2 llvm=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../../examples/user-rule
rm -rf "$build"
cmake -G Ninja -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$(cat "$here/warnings.txt")" >/dev/null
cmake --build "$build" >/dev/null
"$build/user-rule" "$source/sample.mlir" dp=2,tp=2 >"$build/stdout" 2>"$build/stderr" # MLIR dumps to stderr
cat "$build/stderr" "$build/stdout" | "$llvm/FileCheck" "$here/user_rule.check"
