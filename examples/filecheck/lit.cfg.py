# A lit suite that tests programs with an installed shard-opt. Copy it into your project.
import os
import shutil
import tempfile

import lit.formats

config.name = "shardings"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "test")
config.test_exec_root = os.environ.get("LIT_OUTPUT") or os.path.join(tempfile.gettempdir(), "shardings-lit")
config.environment["PATH"] = os.environ["PATH"]

shard_opt = os.environ.get("SHARD_OPT") or shutil.which("shard-opt")
for name, found in (("shard-opt", shard_opt), ("FileCheck", shutil.which("FileCheck"))):
    if not found:
        lit_config.fatal(name + " is not on the path")
config.substitutions.append((r"\bshard-opt\b", shard_opt))
