#!/bin/sh
# same_page.sh SHARD_DOCS FOLDER PAGE: fails when the committed page is not what the generator prints.
set -eu
"$1" "$3" | diff -u "$2/$3.md" - || {
  echo "$2/$3.md is not current: run ./dev docs" >&2
  exit 1
}
