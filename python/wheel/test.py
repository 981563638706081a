"""test.py WHEEL FOLDER: tests a wheel as on a machine that has neither LLVM nor other libraries.

The wheel is installed into a new environment in FOLDER. The tests run in a mount namespace in which
the libraries of this machine that others may lack are empty files (`bare`)."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

MEBI = 1 << 20
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
WHEEL, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PYTHON = FOLDER / "bin" / "python"
# What a bare machine lacks; of folders, all content. Nothing that Python itself needs.
HIDDEN_FOLDERS = ["/usr/lib/llvm-*"]
HIDDEN_FILES = [
    "/usr/lib/x86_64-linux-gnu/lib%s*.so*" % name for name in ("LLVM", "MLIR", "jansson", "sodium", "yajl", "zstd", "z3", "openblas", "gomp")
] + ["/usr/bin/%s" % name for name in ("cc", "gcc", "ld", "ld.bfd", "ld.gold", "ld.lld*", "clang*", "llvm-*", "*-linux-gnu-gcc*", "*-linux-gnu-ld*")]
# Names of libraries that each Linux with glibc has.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "linux-vdso.so.1"}
OWN = {"libtpshard.so.0", "libtprt.so.1", "libjansson.so.4"}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def bare(*command, **options):
    """Runs a command where the libraries above are hidden, without the caller's settings."""
    hide = ["mount -t tmpfs none %s" % folder for pattern in HIDDEN_FOLDERS for folder in glob.glob(pattern)]
    files = {os.path.realpath(path) for pattern in HIDDEN_FILES for path in glob.glob(pattern)}
    hide += ["mount --bind /dev/null %s" % path for path in sorted(files) if not path.startswith("/usr/lib/llvm-")]
    script = " && ".join(hide + ['exec "$@"'])
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(FOLDER), "LANG": "C.UTF-8"}
    return run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command, env=environment, **options)


class Wheel(unittest.TestCase):
    def names(self):
        with zipfile.ZipFile(WHEEL) as file:
            return file.namelist()

    def text(self, name):
        with zipfile.ZipFile(WHEEL) as file:
            return file.read(next(n for n in file.namelist() if n.endswith(name))).decode()

    def test_size(self):
        self.assertLessEqual(WHEEL.stat().st_size, 100 * MEBI)

    def test_tag(self):
        self.assertRegex(WHEEL.name, r"^tpshard-[0-9.]+-py3-none-manylinux_2_[0-9]+_x86_64\.whl$")
        self.assertIn("Tag: %s\n" % "-".join(WHEEL.stem.split("-")[2:]), self.text(".dist-info/WHEEL"))

    def test_licenses(self):
        """Each library that is bundled has its license, with the texts that it refers to."""
        marks = {
            "licenses/LICENSE": "LLVM Exceptions to the Apache 2.0 License",
            "llvm-22-dev/copyright": "LLVM Exceptions",
            "libmlir-22-dev/copyright": "LLVM Exceptions",
            "common-licenses/Apache-2.0": "Apache License",
            "libzstd-dev/copyright": "Facebook",
            "zlib1g-dev/copyright": "Mark Adler",
            "libjansson4/copyright": "Petri Lehtinen",
            "libsodium-dev/copyright": "Frank Denis",
            "libstdc++-12-dev/copyright": "GCC RUNTIME LIBRARY EXCEPTION",
            "common-licenses/GPL-3": "GNU GENERAL PUBLIC LICENSE",
        }
        for name, mark in marks.items():
            self.assertIn(mark, self.text("/" + name))
        listed = re.findall(r"^License-File: (.*)", self.text(".dist-info/METADATA"), re.M)
        inside = [name.partition("/licenses/")[2] for name in self.names() if "/licenses/" in name]
        self.assertEqual(sorted(listed), sorted(inside))
        for name in inside:
            for common in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", self.text("/licenses/" + name)):
                self.assertIn("common-licenses/" + common, inside)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
        subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(WHEEL)], check=True)
        cls.package = next(FOLDER.glob("lib/python*/site-packages/tpshard"))
        cls.binaries = sorted(cls.package.glob("bin/*")) + sorted(cls.package.glob("lib/*"))
        cls.model = SOURCE / "examples" / "tutorial" / "mlp.mlir"

    def test_libraries(self):
        """Nothing asks for LLVM, and what is asked for is there."""
        for path in self.binaries:
            asked = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path).stdout))
            self.assertLessEqual(asked, SYSTEM | OWN, path)
            done = bare("ldd", path)
            found = dict(re.findall(r"^\s*(?:\S*/)?(\S+)(?: => (\S+))?", done.stdout, re.M))
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertNotIn("not found", done.stdout)
            self.assertLessEqual(set(found), SYSTEM | OWN, path)
            for name in OWN & set(found):
                self.assertEqual(pathlib.Path(found[name]).resolve().parent, self.package / "lib")

    def test_symbols(self):
        """Our libraries export our names alone: nothing of MLIR, LLVM or what else is linked in."""
        ours = {"libtpshard.so.0": r"tp_", "libtprt.so.1": r"tprt_|memrefCopy$|__truncsfbf2$"}
        for name, pattern in ours.items():
            lines = run("nm", "-D", "--defined-only", self.package / "lib" / name).stdout.splitlines()
            exported = [line.split()[-1] for line in lines if line.split()[1].isupper()]
            self.assertGreater(len(exported), 50)
            self.assertEqual([symbol for symbol in exported if not re.match(pattern, symbol)], [])

    def run_tests(self, module):
        done = bare(PYTHON, "-B", "-m", "unittest", module, cwd=SOURCE / "python" / "tests")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\nOK\n$")  # none is skipped

    def test_python(self):
        self.run_tests("test_library")

    def test_run(self):
        """Plans, compiles and runs a program, without a linker and without OpenBLAS."""
        for launch in ("threads", "processes"):
            done = bare(self.package / "bin" / "shard-run", self.model, "--mesh", "4", "--launch", launch, cwd=FOLDER)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("verified", done.stdout)

    def test_emit(self):
        """Objects are written without a linker; a shared library is refused with the reason."""
        shard_run = self.package / "bin" / "shard-run"
        done = bare(shard_run, self.model, "--mesh", "2", "--emit=obj", "-o", FOLDER / "mlp.o", cwd=FOLDER)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual((FOLDER / "mlp.o").read_bytes()[:4], b"\x7fELF")
        done = bare(shard_run, self.model, "--mesh", "2", "--emit=so", "-o", FOLDER / "libmlp.so", cwd=FOLDER)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("cannot start the C compiler 'cc', which links the library", done.stdout)

    def test_jax(self):
        """JAX and this package in one process, in both orders, and plans of JAX functions."""
        install = run(PYTHON, "-m", "pip", "install", "--quiet", "jax>=0.8", "numpy", "flatbuffers")
        if install.returncode != 0:
            self.skipTest("jax cannot be installed: " + install.stdout.strip().splitlines()[-1])
        for module in ("test_library.Neighbors", "test_jax"):
            self.run_tests(module)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
