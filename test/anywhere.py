#!/usr/bin/env python3
"""anywhere.py BUILD [NAME...]: runs the tests that execute programs in other environments, either
all in ENVIRONMENTS or the named ones. Prints the failures of each environment, and finally how many
tests passed in all of them. An environment that this machine does not support is reported and
counts as skipped.

The lit tests that execute programs are those in EXECUTING, and tests of passes that call shard-run.
The ctest tests are those with the labels of a row."""
import argparse
import collections
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
EXECUTING = ("rules", "models", "tools", "planner", "fuzz")
USER = 65534  # user nobody
RANKS, BLAS, NO_CTEST = "^(runtime|fuzz)$", "^fuzz$", None

# variables: environment of the tests. before: command prefix. place: location of the checkout.
# needs: CPU flags.
Environment = collections.namedtuple("Environment", "name labels variables before tools place needs load", defaults=({}, (), None, None, (), 0))
ENVIRONMENTS = [
    Environment("blas-prescott", BLAS, {"OPENBLAS_CORETYPE": "Prescott", "TPRT_GEMM": "openblas"}),
    Environment("blas-haswell", BLAS, {"OPENBLAS_CORETYPE": "Haswell", "TPRT_GEMM": "openblas"}, needs=("avx2", "fma")),
    Environment("blas-skylakex", BLAS, {"OPENBLAS_CORETYPE": "SkylakeX", "TPRT_GEMM": "openblas"}, needs=("avx512f", "avx512bw", "avx512vl")),
    Environment("blas-cooperlake", BLAS, {"OPENBLAS_CORETYPE": "Cooperlake", "TPRT_GEMM": "openblas"}, needs=("avx512f", "avx512_bf16")),
    Environment("no-blas", RANKS, {"TPRT_GEMM": "built-in"}),
    Environment("generic-cpu", NO_CTEST, tools="generic"),
    Environment("gpu", NO_CTEST, {"TP_GPU_BACKEND": "loopback", "TP_GPU_LIBRARIES": "{build}/lib"}, tools="gpu"),
    Environment("gpu-nccl", NO_CTEST, {"TP_GPU_BACKEND": "nccl", "TP_GPU_LIBRARIES": "{build}/lib"}, tools="gpu"),
    Environment("one-processor", RANKS, before=("taskset", "-c", "0")),
    Environment("one-processor-loaded", RANKS, before=("taskset", "-c", "0"), load=1),
    Environment("tmpdir", RANKS, {"TMPDIR": "{scratch}/tmp"}),
    Environment("locale-c", RANKS, {"LC_ALL": "C.UTF-8"}),
    Environment("locale-tr", RANKS, {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": "{scratch}/locale"}),
    Environment("umask", RANKS, before=("sh", "-c", 'umask 077; exec "$@"', "sh")),
    Environment("spaces", RANKS, place="{scratch}/a path with spaces"),
    Environment("user", RANKS, {"HOME": "{place}/home"}, place="{scratch}/of a user",
                before=("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups")),
]


class Unavailable(Exception):
    """Returns why an environment is not available."""


def processor_flags():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return set(re.search(r"^(?:flags|Features)\s*:(.*)$", file.read(), re.MULTILINE)[1].split())


@functools.lru_cache
def executing():
    """Returns a regular expression for lit's --filter."""
    files = [os.path.relpath(path, HERE + "/passes") for path in sorted(glob.glob(HERE + "/passes/**/*.*", recursive=True))
             if path.endswith((".mlir", ".test")) and "shard-run" in open(path, encoding="utf-8").read()]
    return ":: ((%s)/|passes/(%s)$)" % ("|".join(EXECUTING), "|".join(map(re.escape, files)))


def prepare_locale(folder):
    os.makedirs(folder, exist_ok=True)
    try:
        subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", folder + "/tr_TR.UTF-8"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable("the locale tr_TR cannot be made: install locales (Debian)") from error


def prepare_place(place, before):
    """Copies this checkout to another place and builds it there, as the user who runs the tests."""
    os.makedirs(place + "/home")
    files = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=SOURCE, check=True, capture_output=True).stdout
    pack = subprocess.Popen(["tar", "-c", "--null", "-T", "-"], cwd=SOURCE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    unpack = subprocess.Popen(["tar", "-x", "-C", place], stdin=pack.stdout)
    pack.stdin.write(files)
    pack.stdin.close()
    if pack.wait() or unpack.wait():
        sys.exit("the checkout cannot be copied to '%s'" % place)
    if "setpriv" in before:
        subprocess.run(["chown", "-R", "%d:%d" % (USER, USER), place], check=True)
    log = place + "/build.log"
    with open(log, "w", encoding="utf-8") as file:
        for command in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release"]):
            if subprocess.run([*before, *command], cwd=place, stdout=file, stderr=file).returncode:
                sys.exit("the build in '%s' failed: see %s" % (place, log))


@contextlib.contextmanager
def busy(n):
    loops = [subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def check_available(e):
    missing = [flag for flag in e.needs if flag not in processor_flags()]
    if missing:
        raise Unavailable("the processor has no %s" % missing[0])
    if "setpriv" in e.before and os.geteuid() != 0:
        raise Unavailable("only root becomes another user; the tests run as a user already")
    for tool in e.before[:1] + (("localedef",) if "LOCPATH" in e.variables else ()):
        if not shutil.which(tool):
            raise Unavailable("there is no %s" % tool)


def count_lit(path, count):
    with open(path, encoding="utf-8") as file:
        for test in json.load(file)["tests"]:
            if test["code"] == "PASS":
                count["passed"] += 1
            elif test["code"] not in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
                count["failed"] += 1
                print("FAILED: %s\n%s" % (test["name"], test["output"][-3000:]))


def count_ctest(path, count):
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.get("status") == "run":
            count["passed"] += 1
        elif case.get("status") == "fail":
            count["failed"] += 1
            print("FAILED: %s\n%s" % (case.get("name"), (case.findtext("system-out") or "")[-3000:]))


def run(e, build, lit, scratch, only):
    """Returns how many tests passed and failed in the environment."""
    check_available(e)
    place = e.place.format(scratch=scratch) if e.place else SOURCE
    variables = {name: value.format(scratch=scratch, place=place, build=build) for name, value in e.variables.items()}
    if e.place:
        prepare_place(place, e.before)
        build = place + "/build/release"
    if "TMPDIR" in variables:
        os.makedirs(variables["TMPDIR"])
    if "LOCPATH" in variables:
        prepare_locale(variables["LOCPATH"])
    count = collections.Counter()
    environment = dict(os.environ, LIT_FILTER=only or executing(), **variables)
    command = [*e.before, lit, "-s", "-o", build + "/anywhere.json", "--param", "environment=" + ",".join(variables)]
    if e.tools:
        environment["TP_SHARD_RUN"] = build + "/bin/shard-run"
        command[-1] += ",TP_SHARD_RUN"
        command += ["--param", "tools=" + os.path.join(place, "test", "anywhere", e.tools)]
    with busy(e.load):
        subprocess.run([*command, build + "/test"], env=environment, stdout=subprocess.DEVNULL)
        count_lit(build + "/anywhere.json", count)
        if e.labels and not only:
            subprocess.run([*e.before, "ctest", "--test-dir", build, "-j", str(os.cpu_count()), "-L", e.labels, "--output-junit", build + "/anywhere.xml"],
                           env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            count_ctest(build + "/anywhere.xml", count)
    return count


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that busy loops end, too
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="a regular expression for tests of lit; no test of ctest runs")
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unknown = set(options.names) - {e.name for e in ENVIRONMENTS}
    if unknown:
        sys.exit("there is no environment '%s'; there are %s" % (unknown.pop(), " ".join(e.name for e in ENVIRONMENTS)))
    build = os.path.abspath(options.build)
    with open(build + "/CMakeCache.txt", encoding="utf-8") as file:
        lit = re.search(r"^TP_LIT:\w+=(.*)$", file.read(), re.MULTILINE)[1]
    total, lines = collections.Counter(), []
    for e in ENVIRONMENTS:
        if options.names and e.name not in options.names:
            continue
        print("== %s" % e.name, flush=True)
        with tempfile.TemporaryDirectory(prefix="tpshard-", dir="/tmp") as scratch:
            os.chmod(scratch, 0o755)
            try:
                count = run(e, build, lit, scratch, options.only)
                if not count["passed"]:
                    count["failed"] += 1
                lines.append("%-22s %d passed, %d failed" % (e.name, count["passed"], count["failed"]))
            except Unavailable as why:
                count = {"skipped": 1}
                lines.append("%-22s skipped: %s" % (e.name, why))
        total.update(count)
        print(lines[-1], flush=True)
    print("== environments\n%s\n%d passed, %d failed, %d skipped" % ("\n".join(lines), total["passed"], total["failed"], total["skipped"]))
    return 1 if total["failed"] or not total["passed"] else 0


sys.exit(main())
