#!/bin/sh
# launchers.sh LAUNCHER PROGRAM: PROGRAM (tprt_attached_test) as three ranks that a launcher of this machine starts, in shared memory.
# A launcher that is not installed is reported as that, and the test counts as skipped.
set -u
launcher=$1 program=$2
ranks=3

absent() {
  echo "$launcher: $1"
  exit 77
}
need() { command -v "$1" >/dev/null || absent "not installed"; }

case $launcher in
openmpi)
  need mpirun.openmpi
  root=
  [ "$(id -u)" != 0 ] || root=--allow-run-as-root
  output=$(mpirun.openmpi ${root:+"$root"} --oversubscribe -n $ranks "$program" shm 2>&1)
  ;;
hydra) # says nothing that is the same for all ranks of a job, and of no other
  need mpiexec.hydra
  output=$(TPRT_STORE=unix:tprt-launchers-$$ mpiexec.hydra -n $ranks "$program" shm 2>&1)
  ;;
slurm)
  need srun
  sinfo -h >/dev/null 2>&1 || absent "installed, but no controller answers"
  output=$(srun -n $ranks --overcommit "$program" shm 2>&1)
  ;;
torchrun) # options as all versions know them
  need torchrun
  output=$(torchrun --nproc_per_node $ranks --no_python "$program" shm 2>&1)
  ;;
*)
  echo "there is no launcher $launcher here" >&2
  exit 2
  ;;
esac
status=$?
echo "$output"
[ $status = 0 ] || echo "$launcher: exit code $status"
[ $status = 0 ] && echo "$output" | LC_ALL=C grep -q "shm, $ranks attached ranks of [a-z]*: all right"
