"""widest.py COLUMNS COMMAND...: checks that lines of the output that have blanks to break at fit,
but for indented examples of commands."""
import subprocess
import sys

most, command = int(sys.argv[1]), sys.argv[2:]
lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
wide = [line for line in lines if len(line) > most and not line.startswith(("usage:", "       shard", "  shard")) and " " in line.strip()]
print("\n".join(wide + [f"{len(lines)} lines, {len(wide)} too wide"]))
sys.exit(1 if wide or len(lines) < 10 else 0)
