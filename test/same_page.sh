#!/bin/sh
# same_page.sh GENERATOR PAGE: fails when the committed page is not what the generator prints.
set -eu
"$1" | diff -u "$2" - || {
  echo "$2 is not current: run ./dev docs" >&2
  exit 1
}
