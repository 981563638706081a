#!/bin/sh
# hosts.sh HOSTS PLACES PROGRAM...: the program as ranks on several hosts; prints what they print.
set -eu
# shellcheck source=test/runtime/harness/cluster.sh
. "$(dirname "$0")/../../../runtime/harness/cluster.sh"
cluster_make "$1"
# shellcheck disable=SC2086 # one word per rank
cluster_place $2
shift 2
cluster_run "$@"
cluster_show
cluster_passed
