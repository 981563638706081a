#!/bin/sh
# attached.sh COMMAND...: COMMAND with a file in which its processes have the made-up machine in common.
FAKE_NCCL_SHARED=$(mktemp)
export FAKE_NCCL_SHARED
trap 'rm -f "$FAKE_NCCL_SHARED"' EXIT
"$@"
