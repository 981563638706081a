#!/bin/sh
# filecheck.sh PREFIX LIT LLVM_TOOLS OUTPUT: runs the suite of examples/filecheck against the installed shard-opt. Both are at a place without blanks, which
# lines of RUN do not take.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$1" "$work/prefix"
cp -R "$(dirname "$0")/../../examples/filecheck" "$work/suite"
PATH=$work/prefix/bin:$3:$PATH
LIT_OUTPUT=$4
export PATH LIT_OUTPUT
test "$(command -v shard-opt)" = "$work/prefix/bin/shard-opt"
"$2" -sv "$work/suite"
