#!/usr/bin/env python3
"""tests.py SHARD_RUN FILECHECK SOURCE OUT: runs the tests of compiled programs that name the driver of the tests, on the GPU of this machine.

In folder OUT, the names of the libraries of the tests are links to those of CUDA. Tests that need more of the
driver of the tests than that it executes PTX, such as its faults or its counters, are left out: they, or the
scripts that they run, set variables that only it knows. Prints a JSON line for each test. Exit status 1 if one failed."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

# Variables of the driver of the tests that change what a test sees. The others (FAKE_PTX, FAKE_LATE, FAKE_ORDER)
# say how it executes what a GPU executes, too.
FAULTS = re.compile(r"tprt_fake_nccl|FAKE_(?!PTX|LATE|ORDER)\w+")
LIBRARIES = {"tprt_fake_cuda.so": ["libcuda.so.1"], "tprt_fake_blaslt.so": ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"],
             "tprt_fake_cudnn.so": ["libcudnn.so.9"]}
NAMED = {"tprt_fake_cuda.so": "TPRT_CUDA_LIBRARY", "tprt_fake_blaslt.so": "TPRT_BLASLT_LIBRARY", "tprt_fake_cudnn.so": "TPRT_CUDNN_LIBRARY"}
OPTIONAL = "tprt_fake_cudnn.so"  # without it, its tests are left out


def find(library):
    """Returns the path of a library, by the loader's table and by LD_LIBRARY_PATH."""
    names, named = LIBRARIES[library], os.environ.get(NAMED[library])
    table = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    known = dict(reversed(re.findall(r"^\s*(\S+) .*x86-64.* => (\S+)$", table, re.M)))
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found = [named] + [known.get(name) for name in names] + [os.path.join(folder, name) for folder in folders for name in names]
    return next((path for path in found if path and os.path.exists(path)), None)


def link(path, name):
    if os.path.lexists(name):
        os.remove(name)
    os.symlink(path, name)


def lit_beside(filecheck):
    """Returns the command of lit: that of LLVM, or Python's module."""
    found = shutil.which("lit", path=os.pathsep.join([os.environ.get("PATH", ""), os.path.dirname(filecheck)]))
    return [found] if found else [sys.executable, "-B", "-c", "from lit.main import main; main()"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def uses_driver(path):
    runs = "\n".join(line for line in read(path).splitlines() if "RUN:" in line or "DEFINE:" in line)
    scripts = [read(os.path.join(os.path.dirname(path), script)) for script in re.findall(r"%S/(\S+\.py)", runs)]
    return "tprt_fake_cuda.so" in runs and (OPTIONAL not in runs or find(OPTIONAL)) and not FAULTS.search("\n".join([runs, *scripts]))


def main():
    shard_run, filecheck, source, out = (os.path.realpath(path) for path in sys.argv[1:])
    libraries = os.path.join(out, "lib")
    os.makedirs(libraries, exist_ok=True)
    for name, known in LIBRARIES.items():
        path = find(name)
        if not path and name != OPTIONAL:
            print("%s is not on this machine" % known[0], file=sys.stderr)
            return 77
        if path:
            link(path, os.path.join(libraries, name))
        for part in glob.glob(os.path.join(os.path.dirname(path), "libcudnn_*")) if path and name == OPTIONAL else []:
            link(part, os.path.join(libraries, os.path.basename(part)))  # cuDNN looks for its parts beside it
    tools = os.path.dirname(shard_run)
    site = {"tp_source_dir": source, "tp_build_dir": out, "tp_tools_dir": tools, "tp_test_tools_dir": tools,
            "tp_plugin": os.path.join(libraries, "libtpshard.so"), "tp_compiler": True, "tp_sanitize": "", "llvm_tools_dir": os.path.dirname(filecheck)}
    with open(os.path.join(out, "lit.site.cfg.py"), "w") as file:
        file.writelines("config.%s = %r\n" % pair for pair in site.items())
        file.write("lit_config.load_config(config, %r)\n" % os.path.join(source, "test", "lit.cfg.py"))
    tests = sorted(os.path.relpath(os.path.join(folder, name), os.path.join(source, "test"))
                   for folder, _, names in os.walk(os.path.join(source, "test")) for name in names
                   if name.endswith((".mlir", ".test")) and "Inputs" not in folder and uses_driver(os.path.join(folder, name)))
    report = os.path.join(out, "report.json")
    subprocess.run([*lit_beside(filecheck), "-v", "--output", report, "--param", "environment=LD_LIBRARY_PATH",
                    *(os.path.join(out, test) for test in tests)], stdout=sys.stderr)
    with open(report) as file:
        results = json.load(file)["tests"]
    failed = 0
    for result in sorted(results, key=lambda result: result["name"]):
        name = "test " + result["name"].split(" :: ")[-1]
        if result["code"] == "UNSUPPORTED":
            print(json.dumps({"test": name, "skipped": "it requires what is missing here"}))
            continue
        errors = result["code"] != "PASS"
        failed += errors
        print(json.dumps({"test": name, "calls": 1, "errors": int(errors)}))
    return 1 if failed or len(results) != len(tests) else 0


if __name__ == "__main__":
    sys.exit(main())
