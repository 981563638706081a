#!/bin/sh
# pkg_config.sh PREFIX BUILD: compiles and runs examples/embed with the flags of tpshard.pc, from a prefix that has been moved.
set -eu
prefix=$1 build=$2
source=$(cd "$(dirname "$0")" && pwd)/../../examples/embed
rm -rf "$build"
mkdir -p "$build"
cp -R "$prefix" "$build/moved"
PKG_CONFIG_PATH=$build/moved/lib/pkgconfig
export PKG_CONFIG_PATH
test "$(pkg-config --modversion tpshard)" = "$(pkg-config --modversion tprt)"
test "$(pkg-config --print-requires tpshard)" = tprt
eval "set -- $(pkg-config --cflags --libs tpshard)" # words, in which blanks are escaped
# shellcheck disable=SC2046
"${CC:-cc}" -std=c11 $(cat "$(dirname "$0")/warnings.txt") "$source/main.c" "$@" -Wl,-rpath,"$build/moved/lib" -o "$build/embed"
# Nothing in this program refers to the runtime, but what it compiles would.
readelf -d "$build/embed" | grep -q 'NEEDED.*libtprt'
"$build/embed" "$source/sample.mlir" dp=2,tp=2 "tp-spmd{mesh=dp=2,tp=2}" | grep -q "^all_reduce over tp"
