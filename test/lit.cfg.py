# Configuration of lit for the textual tests: passes, rules, tools.
#
# RUN lines use plain tool names (shard-opt, shard-run, FileCheck, not, split-file, mlir-opt), which
# are found through PATH; %shard-opt and %shard-run work as well. With `--param opt=plugin`,
# shard-opt means test/plugin/shard-opt. It runs every command twice, in shard-opt and in a stock
# mlir-opt that loads libtpshard as a plug-in, and fails if the outputs differ. Tests without
# shard-opt are excluded there, and tests that plan large functions or plan many times run only with
# TP_LONG.
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


# Tests of one pass over large functions, many times; their output does not differ in the plug-in.
PLANNING = {"propagate_time_limit.test", "plan_report_memory_limit.test", "propagate_gap.test", "propagate_memory_limit_proof.test"}


def has_something_to_compare(file):
    """For the second suite: returns True for a test that calls shard-opt directly, not through a
    script."""
    if not file.endswith((".mlir", ".test")):
        return True
    with open(file) as text:
        lines = [line for line in text if "RUN:" in line and "shard-opt" in line]
    is_slow = os.path.basename(file) in PLANNING or any("%python" in line for line in lines)
    return bool(lines) and (is_long or not is_slow)


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
    config.excludes += [name for folder, _, names in os.walk(passes) for name in names if not has_something_to_compare(os.path.join(folder, name))]
if "tools" in lit_config.params:
    path.insert(0, lit_config.params["tools"])
config.environment["PATH"] = os.pathsep.join(path + [os.environ.get("PATH", "")])

for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TP_LONG"] + lit_config.params.get("environment", "").split(","):
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

if shutil.which("clang-format-22"):
    config.available_features.add("clang-format")

if subprocess.run(["python3", "-c", "import jax"], capture_output=True).returncode == 0 and not config.tp_sanitize:
    config.available_features.add("jax")
config.environment["TPSHARD_PREFIX"] = config.tp_build_dir

# Debian's chromium-driver, which needs chromium.
if shutil.which("chromedriver"):
    config.available_features.add("chromium")

# Open MPI only, since RUN lines use its flags. Not with a sanitizer, which would report problems
# inside Open MPI.
if shutil.which("mpirun.openmpi") and not config.tp_sanitize:
    config.available_features.add("openmpi-run")

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
