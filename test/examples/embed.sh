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

# What a wrong component, and a wrong folder of MLIR's headers, say.
refuse() { # refuse MESSAGE COMPONENT [OPTION...]
  message=$1 component=$2
  shift 2
  mkdir -p "$build/refused"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(refused LANGUAGES C)\nfind_package(tpshard REQUIRED COMPONENTS %s)\n' "$component" >"$build/refused/CMakeLists.txt"
  rm -rf "$build/refused/build"
  if cmake -G Ninja -S "$build/refused" -B "$build/refused/build" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$build/errors" 2>&1; then
    echo "component $component was found" >&2
    exit 1
  fi
  tr -s ' \n' '  ' <"$build/errors" | grep -q "$message"
}
refuse "there is no component compilers; the components are compiler and runtime" compilers
refuse "needs the headers of MLIR 22; set TPSHARD_MLIR_INCLUDE_DIR to the folder that has mlir-c/IR.h" compiler -DTPSHARD_MLIR_INCLUDE_DIR=/no/such/folder
