"""Runs the example of docs/reference/shard-solve.md and compares the result with the one printed
there, except times."""
import re
import subprocess
import sys

page, folder = sys.argv[1:]
blocks = re.findall(r"(?:^    .*\n)+", open(page).read(), re.M)
text = [re.sub(r"^    ", "", b, flags=re.M) for b in blocks]
problem = next(t for t in text if '"problem"' in t)
expected = next(t for t in text if t.startswith("problem "))
with open(folder + "/example.json", "w") as file:
    file.write(problem)
printed = subprocess.run(["shard-solve", "example.json"], cwd=folder, capture_output=True, text=True, check=True).stdout


def rest(answer):
    return re.sub(r"(?m)^seconds .*$", "seconds", answer)


if rest(printed) != rest(expected):
    sys.exit("the page has\n" + expected + "but shard-solve prints\n" + printed)
