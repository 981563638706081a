#!/bin/sh
# embed.sh PREFIX BUILD LLVM_TOOLS: builds examples/embed against the installed package and checks what it prints.
set -eu
prefix=$1 build=$2 llvm=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../../examples/embed
rm -rf "$build"
cmake -G Ninja -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$(cat "$(dirname "$0")/warnings.txt")" >/dev/null
cmake --build "$build" >/dev/null
"$build/embed" "$source/sample.mlir" dp=2,tp=2 | "$llvm/FileCheck" "$here/embed.check"
if "$build/embed" "$source/sample.mlir" pp=2 2>"$build/errors" >/dev/null; then
  echo "a mesh that does not fit was accepted" >&2
  exit 1
fi
"$llvm/FileCheck" --check-prefix=ERROR "$here/embed.check" <"$build/errors"
