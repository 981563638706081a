#!/bin/sh
# runtime.sh PREFIX BUILD: a project that uses the component runtime alone; it must not look for LLVM.
set -eu
prefix=$1 build=$2
rm -rf "$build"
mkdir -p "$build"
cat >"$build/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(use_runtime LANGUAGES C)
find_package(tpshard REQUIRED COMPONENTS runtime)
if(TARGET tpshard::tpshard)
  message(FATAL_ERROR "the component compiler was loaded without being asked for")
endif()
add_executable(use main.c)
target_link_libraries(use PRIVATE tpshard::tprt)
END
cat >"$build/main.c" <<'END'
#include <tprt/tprt.h>
int main(void) { return tprt_version() > 0 ? 0 : 1; }
END
cmake -G Ninja -S "$build" -B "$build/out" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON >/dev/null
cmake --build "$build/out" >/dev/null
"$build/out/use"
