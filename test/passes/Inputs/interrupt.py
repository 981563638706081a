"""interrupt.py SHARD-OPT INPUT OUTPUT REPORT: interrupts shard-opt while it plans, and checks that
the signal ends it and that no partial file is left."""
import os
import signal
import subprocess
import sys

tool, source, output, report = sys.argv[1:]
PIPELINE = f"--pass-pipeline=builtin.module(tp-propagate{{report={report}}})"


def interrupt(number):
    # The module printed before the pass ends with its closing brace; then planning starts.
    process = subprocess.Popen([tool, source, PIPELINE, "--mlir-print-ir-before=tp-propagate", "-o", output], stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    for line in process.stderr:
        if line == "}\n":
            break
    process.send_signal(number)
    process.stderr.read()
    assert process.wait() == -number, f"ended with {process.returncode}, not by signal {number}"
    left = [path for path in (output, report, report + ".tmp") if os.path.exists(path)]
    assert not left, f"left {left}"


interrupt(signal.SIGINT)
interrupt(signal.SIGTERM)
