"""interrupt.py SHARD-OPT INPUT OUTPUT REPORT: interrupts shard-opt while it plans. SIGINT ends the
search with the best plan so far; SIGTERM, and a second SIGINT, end the program, and no partial file is left."""
import json
import os
import signal
import subprocess
import sys
import time

tool, source, output, report = sys.argv[1:]
PIPELINE = f"--pass-pipeline=builtin.module(tp-propagate{{report={report}}})"


def interrupt(*numbers):
    # The module printed before the pass ends with its closing brace; then planning starts.
    process = subprocess.Popen([tool, source, PIPELINE, "--mlir-print-ir-before=tp-propagate", "-o", output], stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in numbers])
    for line in process.stderr:
        if line == "}\n":
            break
    time.sleep(0.1)  # until the handler is there
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.05)  # two signals at once may be delivered as one
    said = process.stderr.read()
    return process.wait(), said


def check_ended(code, *numbers):
    ended, _ = interrupt(*numbers)
    assert ended == code, f"ended with {ended}, not with {code}"
    left = [path for path in (output, report, report + ".tmp") if os.path.exists(path)]
    assert not left, f"left {left}"


check_ended(130, signal.SIGINT, signal.SIGINT)
check_ended(-signal.SIGTERM, signal.SIGTERM)
code, said = interrupt(signal.SIGINT)
assert code == 0 and "an interrupt ended the search" in said, (code, said[-2000:])
with open(report, encoding="utf-8") as file:
    assert json.load(file)["functions"][0]["solution"]["stopped_by"] == "interrupt"
assert os.path.getsize(output) > 0
