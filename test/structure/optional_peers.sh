#!/bin/sh
# optional_peers.sh BUILD: packages that only peers of the benchmarks need never fail a configuration: neither mpicc whose headers are missing,
# as of openmpi-bin alone, nor a description of Open MPI that names folders which do not exist.
set -eu
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$build"
mkdir -p "$build/bin" "$build/pkgconfig"
printf '#!/bin/sh\necho -I%s/missing/include -lmpi\n' "$build" >"$build/bin/mpicc"
chmod +x "$build/bin/mpicc"
cp "$build/bin/mpicc" "$build/bin/mpiexec"
export PATH="$build/bin:$PATH"
cmake -G Ninja -S "$root" -B "$build/wrapper" -DTP_COMPILER=OFF >/dev/null
printf 'Name: MPI\nDescription: none\nVersion: 1\nCflags: -I%s/missing/include\nLibs: -L%s/missing -lmpi\n' "$build" "$build" >"$build/pkgconfig/ompi-c.pc"
PKG_CONFIG_PATH=$build/pkgconfig cmake -G Ninja -S "$root" -B "$build/description" -DTP_COMPILER=OFF >/dev/null
! grep -q shard-bench-openmpi "$build/description/build.ninja"
