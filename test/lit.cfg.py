# Configuration of lit for the tests that are text: passes, rules, tools.
#
# RUN lines name the tools plainly (shard-opt, shard-run, FileCheck, not, split-file, mlir-opt); they are found by PATH, and
# %shard-opt, %shard-run do the same. With `--param opt=plugin` the name shard-opt means test/plugin/shard-opt, which runs every command
# twice, in shard-opt and in a stock mlir-opt that loads libtpshard as a plug-in, and dies when they differ by one byte.
import os
import shutil
import sys

import lit.formats

config.name = "tpshard"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.tp_build_dir, "test")

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
config.environment["PATH"] = os.pathsep.join(path + [os.environ.get("PATH", "")])

for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TP_LONG"):
    if name in os.environ:
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

# Open MPI's: its flags are in RUN lines, and a sanitizer would look into it.
if shutil.which("mpirun.openmpi") and not config.tp_sanitize:
    config.available_features.add("openmpi-run")

config.substitutions += [
    ("%shard-opt", "shard-opt"),
    ("%shard-run", "shard-run"),
    ("%python", sys.executable),
    ("%models", os.path.join(config.tp_source_dir, "examples", "models")),
    ("%include", os.path.join(config.tp_source_dir, "include")),
    ("%libraries", os.path.dirname(config.tp_plugin)),
]
