#!/bin/sh
# exports.sh LIBRARY LIST: the symbols that the library exports are those of the list, no more and no less.
set -eu
nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ {print $3}' | LC_ALL=C sort | diff "$2" -
