"""tally_cases.py TALLY: runs tally.py on made-up results, and checks its output and exit code."""
import json
import os
import subprocess
import sys
import tempfile

CASE = '<testcase name="%s" status="%s"><skipped message="SKIP_RETURN_CODE=77"/><system-out>%s</system-out></testcase>'
SKIPPED = CASE % ("launched.slurm", "notrun", "slurm: not installed")
WITHIN = CASE % ("gemm", "run", "[  SKIPPED ] test_avx2\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] test_avx2")
LIT = [{"name": "tpshard :: a.mlir", "code": "PASS", "output": ""}, {"name": "tpshard :: b.mlir", "code": "EXCLUDED", "output": ""}]
LIT_FAILED = LIT + [{"name": "tpshard :: c.mlir", "code": "FAIL", "output": ""}]
LIT_SKIPPED = LIT + [{"name": "tpshard :: d.mlir", "code": "UNSUPPORTED", "output": "unavailable features: openmpi"}]
ALL = "* | true | anywhere\n"

# ctest tests, lit tests, the skip list; one line of the output, the last line, the exit code.
CASES = [
    (CASE % ("a", "run", ""), None, "", "", "1 passed, 0 failed, 0 skipped", 0),
    (CASE % ("a", "fail", ""), None, "", "", "0 passed, 1 failed, 0 skipped", 1),
    ("", None, "", "", "0 passed, 0 failed, 0 skipped", 1),
    ("run", LIT, "", "", "1 passed, 0 failed, 0 skipped", 0),
    ("fail", LIT_FAILED, "", "", "1 passed, 1 failed, 0 skipped", 1),
    ("fail", LIT, "", "", "1 passed, 1 failed, 0 skipped", 1),  # lit itself failed
    ("run", LIT_SKIPPED, ALL, "skipped: tpshard :: d.mlir: anywhere", "1 passed, 0 failed, 1 skipped", 0),
    ("run", LIT_SKIPPED, "", "FAILED: tpshard :: d.mlir was skipped", "1 passed, 1 failed, 1 skipped", 1),
    (CASE % ("a", "run", "") + SKIPPED, None, "launched.* | true | no SLURM", "skipped: launched.slurm: no SLURM", "1 passed, 0 failed, 1 skipped", 0),
    (CASE % ("a", "run", "") + SKIPPED, None, "launched.* | false | no SLURM", "not installed", "1 passed, 1 failed, 1 skipped", 1),
    (CASE % ("a", "run", "") + SKIPPED, None, "other | true | no SLURM", "FAILED: launched.slurm", "1 passed, 1 failed, 1 skipped", 1),
    (CASE % ("a", "run", "") + SKIPPED, None, '* | echo "$BUILD" | grep -q / | a pipe', "a pipe", "1 passed, 0 failed, 1 skipped", 0),
    (WITHIN, None, "gemm/test_avx2 | true | no AVX2", "skipped: gemm/test_avx2: no AVX2", "1 passed, 0 failed, 0 skipped", 0),
    (WITHIN, None, "gemm | true | no AVX2", "FAILED: gemm/test_avx2", "1 passed, 1 failed, 0 skipped", 1),
    (SKIPPED, None, "launched.slurm | no SLURM", "skips.txt:1: expected PATTERN | CONDITION | REASON", None, 1),
]


def run(tally, folder, ctest, lit, skips):
    build = os.path.join(folder, "build")
    os.makedirs(os.path.join(build, "test"), exist_ok=True)
    if lit:
        ctest = CASE % ("lit", ctest, "")
        with open(os.path.join(build, "test", "lit.json"), "w") as file:
            json.dump({"tests": lit}, file)
    for path, text in (build + "/junit.xml", "<testsuite>%s</testsuite>" % ctest), (folder + "/skips.txt", skips):
        with open(path, "w") as file:
            file.write(text)
    done = subprocess.run([sys.executable, "-B", tally, "--skips", folder + "/skips.txt", build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, done.returncode


def main(tally):
    right = 0
    for ctest, lit, skips, said, last, code in CASES:
        with tempfile.TemporaryDirectory() as folder:
            out, got = run(tally, folder, ctest, lit, skips)
        ok = got == code and said in out and (last is None or out.splitlines()[-1] == last)
        right += ok
        if not ok:
            print("%s, %s, %s: code %d\n%s" % (ctest, lit, skips, got, out))
    print("%d of %d cases" % (right, len(CASES)))


main(sys.argv[1])
