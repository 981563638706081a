# Configuration of lit for the textual tests: passes, rules, tools.
#
# RUN lines use plain tool names (shard-opt, shard-run, FileCheck, not, split-file, mlir-opt), which
# are found through PATH; %shard-opt and %shard-run work as well. The first two are those of
# test/static_tools.cmake, which start faster than those that are installed. With
# `--param opt=plugin`, shard-opt means test/plugin/shard-opt. It runs every command twice, in the
# shard-opt that is installed and in a stock mlir-opt that loads libtpshard as a plug-in, and fails
# if the outputs differ. Tests without shard-opt are excluded there, and four of five tests run only
# with TP_LONG.
#
# TP_OPT_LEVEL and OPENBLAS_THREAD_TIMEOUT, which ./dev test sets, reach the tools.
#
# TP_LONG enables the feature "long": RUN lines that take long and rarely fail are in %if long %{
# ... %}. `--param tools=DIR` searches DIR before the other tools. `--param environment=NAME,...`
# passes variables to the tests, which otherwise get only PATH and the variables that lit keeps
# (test/anywhere.py).
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

# The folder of this file; lit does not set one.
sys.path.insert(0, os.path.join(config.tp_source_dir, "test"))
from lit_links import ShTestByLinks  # noqa: E402

links = []
if any(c.isspace() for c in config.tp_source_dir + config.tp_build_dir):
    folder = tempfile.mkdtemp(prefix="tpshard-lit-", dir="/tmp")
    atexit.register(shutil.rmtree, folder)
    for name in ("build", "source"):
        links.append((os.path.realpath(getattr(config, "tp_%s_dir" % name)), os.path.join(folder, name)))
        os.symlink(*links[-1])
config.name = "tpshard"
config.test_format = ShTestByLinks(links)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.tp_build_dir, "test")

is_long = bool(os.environ.get("TP_LONG"))
if is_long:
    config.available_features.add("long")
passes = os.path.join(config.test_source_root, "passes")


def is_compared(file):
    """Returns True for a test that calls shard-opt: directly, or with TP_LONG through a script. Options that only shard-opt
    has, and names of passes outside a pipeline, cannot be given to mlir-opt. What a browser shows does not depend on the tool."""
    with open(file) as text:
        whole = text.read()
    lines = [line for line in whole.splitlines() if "RUN:" in line and "shard-opt" in line]
    if any(" --tp-" in line for line in lines) or "REQUIRES: chromium" in whole:
        return False
    return bool(lines) and (is_long or not any("%python" in line for line in lines))


# Tests, and folders of them, whose commands search or compile for seconds, which is the same with a plug-in.
slow_in_plugin = {"expand_float8.test", "limits", "plan_frontier.test"}


def excluded_from_plugin(folder, names):
    """Returns the tests of a folder that the second suite does not run. It runs every tenth that it can compare, since the
    passes are those of the first suite and only their loading differs; with TP_LONG all."""
    tests = sorted(name for name in names if name.endswith((".mlir", ".test")))
    compared = [name for name in tests if is_compared(os.path.join(folder, name))]
    if not is_long:
        compared = [name for name in compared if not slow_in_plugin & {name, os.path.basename(folder)}][::10]
    return set(tests) - set(compared)


path = [config.tp_tools_dir, config.llvm_tools_dir]
plugin = lit_config.params.get("opt") == "plugin"
if plugin:
    config.name = "tpshard-plugin"
    config.test_exec_root = os.path.join(config.tp_build_dir, "test-plugin")
    path.insert(0, os.path.join(config.test_source_root, "plugin"))
    config.available_features.add("plugin")
    config.environment["TP_SHARD_OPT"] = os.path.join(config.tp_tools_dir, "shard-opt")
    config.environment["TP_MLIR_OPT"] = os.path.join(config.llvm_tools_dir, "mlir-opt")
    config.environment["TP_PLUGIN"] = config.tp_plugin
    for folder, _, names in os.walk(passes):
        config.excludes += excluded_from_plugin(folder, names)
else:
    path.insert(0, config.tp_test_tools_dir)
if "tools" in lit_config.params:
    path.insert(0, lit_config.params["tools"])
config.environment["PATH"] = os.pathsep.join(path + [os.environ.get("PATH", "")])

for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "SLURM_CONF", "TP_LONG", "TP_OPT_LEVEL", "OPENBLAS_THREAD_TIMEOUT"] + lit_config.params.get("environment", "").split(","):
    if os.environ.get(name):
        config.environment[name] = os.environ[name]

if config.tp_compiler:
    config.available_features.add("compiler")
else:
    config.unsupported = True
if config.tp_sanitize:
    config.available_features.add("sanitizer")

for peer in ("openmpi", "gloo"):
    if os.path.exists(os.path.join(config.tp_tools_dir, "shard-bench-" + peer)):
        config.available_features.add(peer)

if shutil.which("zsh"):
    config.available_features.add("zsh")

if shutil.which("clang-format-22"):
    config.available_features.add("clang-format")

if subprocess.run(["python3", "-c", "import jax"], capture_output=True).returncode == 0 and not config.tp_sanitize:
    config.available_features.add("jax")
config.environment["TPSHARD_PREFIX"] = config.tp_build_dir

# Debian's chromium-driver, which needs chromium.
if shutil.which("chromedriver"):
    config.available_features.add("chromium")

# Needs a kernel with time namespaces, and the right to make one.
if shutil.which("unshare") and subprocess.run(["unshare", "--time", "--monotonic", "1", "true"], stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("time-namespace")

# Network name spaces, of which test/runtime/harness/cluster.sh makes hosts.
if subprocess.run("unshare --net --mount true && ip -V", shell=True, capture_output=True).returncode == 0:
    config.available_features.add("net-namespace")

# Open MPI only, since RUN lines use its flags. Not with a sanitizer, which would report problems
# inside Open MPI.
if shutil.which("mpirun.openmpi") and not config.tp_sanitize:
    config.available_features.add("openmpi-run")
# Backend fabric, which needs the headers of libfabric where libtprt is built, and libfabric.
if "fabric,here,yes" in subprocess.run([os.path.join(config.tp_tools_dir, "shard-bench"), "--capabilities", "--backend=fabric", "--format=csv"],
                                       capture_output=True, text=True).stdout:
    config.available_features.add("fabric")
if shutil.which("torchrun") and not config.tp_sanitize:
    config.available_features.add("torchrun")
# SLURM whose controller answers.
if shutil.which("sinfo") and subprocess.run(["sinfo", "-h"], capture_output=True).returncode == 0 and not config.tp_sanitize:
    config.available_features.add("slurm")

linked = config.test_format.linked
config.substitutions += [
    ("%shard-opt", "shard-opt"),
    ("%shard-run", "shard-run"),
    ("%with_jax", "python3"),
    ("%python", sys.executable),
    ("%models", linked(os.path.join(config.tp_source_dir, "examples", "models"))),
    ("%build", linked(config.tp_build_dir)),
    ("%include", linked(os.path.join(config.tp_source_dir, "include"))),
    ("%libraries", linked(os.path.dirname(config.tp_plugin))),
]
