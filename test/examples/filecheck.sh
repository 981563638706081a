#!/bin/sh
# filecheck.sh PREFIX LIT LLVM_TOOLS OUTPUT: runs the suite of examples/filecheck against the installed shard-opt.
set -eu
PATH=$1/bin:$3:$PATH
LIT_OUTPUT=$4
export PATH LIT_OUTPUT
test "$(command -v shard-opt)" = "$1/bin/shard-opt"
"$2" -sv "$(cd "$(dirname "$0")" && pwd)/../../examples/filecheck"
