"""Tests of tpshard without JAX, and of libtpshard beside other libraries with an LLVM of their own."""
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import tpshard

MLP = """
func.func @main(%x: tensor<8x16xf32> {tp.name = "x"}, %w: tensor<16x32xf32> {tp.sharding = [[], ["tp"]]}) -> tensor<8x32xf32> {
  %e = tensor.empty() : tensor<8x32xf32>
  %z = arith.constant 0.0 : f32
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%i : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
"""



def layers(n):
    """Returns a program of n matmuls, whose planning within a memory limit takes long."""
    weights = ", ".join("%%w%d: tensor<1024x1024xf32>" % i for i in range(n))
    lines = ["func.func @main(%%x0: tensor<512x1024xf32>, %s) -> tensor<512x1024xf32> {" % weights]
    lines += ["%z = arith.constant dense<0.0> : tensor<512x1024xf32>"]
    for i in range(n):
        lines.append(
            "%%x%d = linalg.matmul ins(%%x%d, %%w%d : tensor<512x1024xf32>, tensor<1024x1024xf32>) "
            "outs(%%z : tensor<512x1024xf32>) -> tensor<512x1024xf32>" % (i + 1, i, i)
        )
    return "\n".join(lines + ["return %%x%d : tensor<512x1024xf32>\n}" % n])


# Makes and prints a plan, and runs a function of the other library that compiles or prints IR.
OURS = "import tpshard; print(len(tpshard.run(%r, 'tp-plan', {'mesh': 'tp=4'}, report=True).report) > 1000)" % MLP
THEIRS = {
    "jax": "import jax; print(float(jax.jit(lambda x: x * 2)(3.0)), len(jax.jit(jax.numpy.sin).lower(1.0).as_text()) > 100)",
    "torch": "import torch; print(float(torch.ones(2).sum()))",
}


class Run(unittest.TestCase):
    def test_plan(self):
        passes = []
        made = tpshard.run(MLP, "tp-plan", {"mesh": "tp=4"}, report=True, progress=passes.append)
        self.assertIn("tp.sharding", made.program)
        self.assertIn('"name": "x"', made.report)
        self.assertIn("tp-propagate", passes)
        self.assertEqual(tpshard.run(MLP, "builtin.module(tp-plan{mesh=tp=4})").report, "")

    def test_errors(self):
        with self.assertRaises(tpshard.Error) as caught:
            tpshard.run("func.func @f() { return }\nfunc.func @f() { return }", "tp-plan")
        self.assertEqual(caught.exception.status, "invalid argument")
        self.assertEqual(caught.exception.line, 2)
        self.assertIn("note: ", str(caught.exception))
        with self.assertRaisesRegex(tpshard.Error, "tp-plam"):
            tpshard.run(MLP, "tp-plam")

    def test_threads(self):
        made = []
        threads = [threading.Thread(target=lambda: made.append(tpshard.run(MLP, "tp-plan", {"mesh": "tp=4"}).program)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(set(made)), 1)
        self.assertEqual(len(made), 4)

    def test_progress_may_end_the_run(self):
        def progress(name):
            if name == "tp-propagate":
                raise KeyError(name)

        with self.assertRaises(KeyError):
            tpshard.run(MLP, "tp-plan", {"mesh": "tp=4"}, progress=progress)

    def test_interrupt(self):
        def progress(name):
            if name == "tp-propagate":
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(2)  # as a pass that takes long

        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell script ignore it
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            tpshard.run(MLP, "tp-plan", {"mesh": "tp=4"}, progress=progress)
        self.assertLess(time.monotonic() - start, 1.5)

    def test_interrupt_of_planning(self):
        def progress(name):
            if name == "tp-propagate":
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

        before = set(threading.enumerate())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        options = {"mesh": "2x4x4", "topology": "h100", "memory-limit": "100MiB", "effort": 100}  # minutes
        with self.assertRaises(KeyboardInterrupt):
            tpshard.run(layers(60), "tp-plan", options, progress=progress)
        for thread in set(threading.enumerate()) - before:  # the compiler ends, too
            thread.join(30)
            self.assertFalse(thread.is_alive())

    def test_version(self):
        self.assertEqual(tpshard.version(), tpshard.__version__)

    def test_prefix(self):
        done = subprocess.run(
            [sys.executable, "-c", "import tpshard; tpshard.version()"], env={"TPSHARD_PREFIX": "/nowhere", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True,
        )
        self.assertIn("libtpshard was not found in /nowhere; build the clone (./dev build)", done.stderr)


class Neighbors(unittest.TestCase):
    def run_both(self, lines):
        done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("False", done.stdout)

    def test_orders(self):
        for name, theirs in THEIRS.items():
            if not importlib.util.find_spec(name):
                continue
            # the first imports alone; then each works after the other is loaded
            for lines in ([theirs, OURS, theirs], [OURS, theirs, OURS]):
                with self.subTest(lines=lines):
                    self.run_both(lines)

    def test_their_symbols_are_global(self):
        for name, theirs in THEIRS.items():
            if importlib.util.find_spec(name):
                with self.subTest(name):
                    flags = "import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)"
                    self.run_both([flags, theirs, OURS, theirs])


if __name__ == "__main__":
    unittest.main()
