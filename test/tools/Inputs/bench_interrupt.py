"""Interrupts shard-bench while it runs, and checks that no process or file of it is left."""

import glob
import os
import signal
import subprocess
import sys
import time

import processes

OUTPUT = sys.argv[1]


def interrupt(name, arguments):
    marker = f"BENCH_INTERRUPT={os.getpid()}.{name}"
    environment = {**os.environ, "BENCH_INTERRUPT": marker.partition("=")[2]}
    command = ["shard-bench", *arguments, "--rounds=101", "--round-time=1000"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        lines = process.communicate(timeout=60)[1].splitlines()
    time.sleep(0.2)
    print(f"{name}: code {process.returncode}, {lines[-1] if lines else 'silent'}, {processes.remaining(marker)} processes left")


interrupt("all_reduce", ["all_reduce", "--ranks=3"])
interrupt("--calibrate", ["--calibrate", "-o", OUTPUT])
print("files:", glob.glob(OUTPUT + "*"))
