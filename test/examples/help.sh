#!/bin/sh
# help.sh PREFIX: the man page and the completions of each installed tool, and the documentation.
set -eu
prefix=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
for tool in "$prefix"/bin/*; do
  name=$(basename "$tool")
  grep -q '^\.SH OPTIONS$' "$prefix/share/man/man1/$name.1"
  "$tool" --help=bash | cmp - "$prefix/share/bash-completion/completions/$name"
  "$tool" --help=zsh | cmp - "$prefix/share/zsh/site-functions/_$name"
done
test -x "$prefix/bin/shard-bench"
doc=$prefix/share/doc/tpshard
cmp "$source/LICENSE" "$doc/LICENSE"
test -f "$doc/include/tprt/tprt.h"
(cd "$source" && find README.md CHANGELOG.md docs examples -name '*.md') | while read -r page; do
  cmp "$source/$page" "$doc/$page"
done
test -f "$doc/examples/runtime/CMakeLists.txt"
# The sources alone have CONTRIBUTING.md, bench and test; the runtime alone lacks the headers of the compiler.
for link in $(python3 -B "$source/test/docs/links.py" "$doc" | sed -n 's/.*: no file //p'); do
  case $link in
    CONTRIBUTING.md | bench/* | test/*) ;;
    include/tp | include/tp/*) test -e "$doc/$link" || test ! -d "$doc/include/tp" ;;
    *) test -e "$doc/$link" || {
      echo "a page links to $link, which is not installed" >&2
      exit 1
    } ;;
  esac
done
