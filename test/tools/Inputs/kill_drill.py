"""kill_drill.py LAUNCHER KILLS SECONDS PROGRAM...: kills the processes of a job, and finds what remains.

PROGRAM runs until it is ended, as three ranks that LAUNCHER starts: shard-run, mpirun, torchrun or srun. Each turn starts it and kills, with SIGKILL,
the launcher, one of the ranks, or all of them: in every fourth turn at some moment in so many seconds from the start of the launcher on, else of the
first rank. Two seconds later (srun: five) neither a process of the job nor a file may be left, in the folder for temporary files or in /dev/shm. What a
launcher that is not ours does with itself does not count. Prints how long the ends took, and ends with 1 if anything was left. TP_LONG=1: 40 times as many
kills.
"""

import ctypes
import dataclasses
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAME = f"kill_drill_{os.getpid()}"


@dataclasses.dataclass
class Launcher:
    command: list
    # seconds until nothing may be left
    limit: float = 2.0
    # the beginning of the names of files that it keeps for itself
    own_files: str = "/"
    # what ends a job whose launcher was killed with all of its helpers: SLURM keeps it, and may be about to start ranks
    cancel: list = None


# SLURM needs 2.4 s to cancel a step that it was about to start. Without --kill-on-bad-exit it lets ranks wait for one that died before they met.
LAUNCHERS = {
    "shard-run": Launcher("shard-run -n 3 --".split()),
    "mpirun": Launcher("mpirun.openmpi --allow-run-as-root --oversubscribe -n 3".split(), own_files="ompi."),
    "torchrun": Launcher("torchrun --nproc_per_node 3 --no_python".split(), own_files="torchelastic_"),
    "srun": Launcher(f"srun -n 3 --overcommit --oversubscribe --kill-on-bad-exit=1 --quiet --job-name {NAME}".split(), limit=5.0,
                     cancel=f"scancel --quiet --name {NAME}".split()),
}
LAUNCHER_LIMIT = 20.0
PR_SET_CHILD_SUBREAPER = 36


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # the process has ended


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None  # it has ended; so has a zombie


def processes():
    """Those of the job that run: its variable is in their environment, also in that of ranks which another process than the launcher started."""
    sign = f"KILL_DRILL={NAME}".encode()
    return [int(pid) for pid in os.listdir("/proc") if pid.isdecimal() and sign in read(f"/proc/{pid}/environ").split(b"\0") and program_of(pid)]


def ranks_of(launcher):
    """Not the helpers of a launcher, which are processes of the same program."""
    program = program_of(launcher)
    return [pid for pid in processes() if pid != launcher and program_of(pid) not in (None, program)]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def reap():
    """Orphans come to this process."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def all_ended(limit, of):
    """Waits until no process is left; False after so many seconds."""
    begin = time.monotonic()
    while of():
        if time.monotonic() - begin > limit:
            return False
        reap()
        time.sleep(0.002)
    return True


def await_end(limit, helpers, is_ours):
    """Returns the seconds until all have ended, and what counts as left."""
    begin = time.monotonic()
    if all_ended(limit, processes):
        return time.monotonic() - begin, []
    left = [pid for pid in processes() if is_ours or program_of(pid) not in helpers]
    names = [f"{pid}: {read(f'/proc/{pid}/cmdline').decode()[:60]}".replace("\0", " ") for pid in left]
    if left or not all_ended(LAUNCHER_LIMIT, processes):
        kill(processes())
        all_ended(LAUNCHER_LIMIT, processes)
    return time.monotonic() - begin, names


def segments_of(pids):
    """The files in /dev/shm that the processes have mapped; others there are of other jobs."""
    return {word for pid in pids for word in read(f"/proc/{pid}/maps").decode().split() if word.startswith("/dev/shm/")}


def files_in(folder, own_files):
    return {os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith(own_files)}


def await_moment(turn, most, launcher):
    """Sleeps until the moment of the kill, more often soon."""
    while turn % 4 and launcher.poll() is None and not ranks_of(launcher.pid):
        time.sleep(0.002)
    time.sleep(most * random.random() * random.choice((0.1, 0.3, 1)))


def main():
    name, kills = sys.argv[1], int(sys.argv[2]) * (40 if os.environ.get("TP_LONG") else 1)
    kind = LAUNCHERS[name]
    most, command = float(sys.argv[3]), kind.command + sys.argv[4:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    random.seed(kills)
    folder = tempfile.mkdtemp()
    environment = dict(os.environ, TMPDIR=folder, KILL_DRILL=NAME)
    times, n_left = [], 0
    for turn in range(kills):
        said = tempfile.TemporaryFile()
        launcher = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        await_moment(turn, most, launcher)
        if launcher.poll() is not None:
            said.seek(0)
            sys.exit(f"turn {turn}: the job ended by itself, with code {launcher.returncode}: {said.read().decode()}")
        everything, ranks = processes(), ranks_of(launcher.pid)
        what = ("launcher", "rank", "all")[turn % 3]
        shared = segments_of(everything)
        helpers = {program_of(launcher.pid)}
        kill({"launcher": [launcher.pid], "rank": [random.choice(ranks or [launcher.pid])], "all": everything}[what])
        if kind.cancel and what == "all":
            subprocess.run(kind.cancel, check=False)
        seconds, left = await_end(kind.limit, helpers, name == "shard-run")
        launcher.returncode = 0  # it has been waited for
        times.append(seconds)
        left += sorted(files_in(folder, kind.own_files) | {path for path in shared if os.path.exists(path)})
        n_left += len(left)
        for one in left:
            print(f"turn {turn}, killed {what}: left is {one}")
        if kind.cancel:
            subprocess.run(kind.cancel, check=False)
        shutil.rmtree(folder)
        os.mkdir(folder)
    shutil.rmtree(folder)
    times.sort()
    print(f"{kills} kills: {n_left} left; the end of all processes took {1e3 * times[kills // 2]:.0f} ms (median), {1e3 * times[-1]:.0f} ms (most)")
    sys.exit(n_left > 0)


main()
