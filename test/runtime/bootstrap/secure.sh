#!/bin/sh
# secure.sh PROGRAM: a set-user-id program ignores the environment of its caller. Code 77: none can be made here (root is needed).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$1" "$work/program"
if [ "$(id -u)" != 0 ] || ! chown 65534 "$work/program" 2>/dev/null || ! chmod 4755 "$work/program"; then
  echo "skipped: no set-user-id program can be made here"
  exit 77
fi
export RANK=0 WORLD_SIZE=1 TPRT_TIMEOUT=0.2 TPRT_STORE=unix:tprt-secure-$$
case $("$1" || true) in
  "launch: ok"*) ;;
  *) echo "the program does not even start" && exit 1 ;;
esac
said=$("$work/program" || true)
case $said in
  "launch: invalid state: no launcher started this process: neither"*) echo "secure: ok" ;;
  "launch: ok"*)
    if findmnt -no OPTIONS -T "$work" | grep -q nosuid; then
      echo "skipped: set-user-id is not honoured in $work"
      exit 77
    fi
    echo "the environment was read: $said"
    exit 1
    ;;
  *) echo "the program says: $said" && exit 1 ;;
esac
