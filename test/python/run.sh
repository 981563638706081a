#!/bin/sh
# run.sh SOURCE BUILD MODULE [PACKAGE...]: runs a module of python/tests with the package of the sources and the libraries of the
# build. Exits with 77, which means skipped, if a PACKAGE cannot be imported.
set -eu
source=$1 build=$2 module=$3
shift 3
for package in "$@"; do
  if ! python3 -B -c "import $package" 2>/dev/null; then
    echo "skipped: python3 has no $package"
    exit 77
  fi
done
cd "$source/python/tests"
PYTHONPATH=$source/python TPSHARD_PREFIX=$build exec python3 -B -m unittest "$module"
