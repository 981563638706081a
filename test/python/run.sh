#!/bin/sh
# run.sh SOURCE BUILD MODULE [PACKAGE]: runs a module of python/tests with the package of the sources and the libraries of the
# build. Exits with 77, which means skipped, if PACKAGE cannot be imported.
set -eu
if [ $# -gt 3 ] && ! python3 -B -c "import $4" 2>/dev/null; then
  echo "skipped: python3 has no $4"
  exit 77
fi
cd "$1/python/tests"
PYTHONPATH=$1/python TPSHARD_PREFIX=$2 exec python3 -B -m unittest "$3"
