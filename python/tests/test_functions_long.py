"""The whole collection on all meshes, with even and uneven sizes, and in two processes; the collectives that XLA
runs, and those that it makes for TPUs; all faults; the error of ten training steps."""
import importlib.util
import pathlib
import tempfile
import unittest

import communication
import equality
import fuzz_exports
import mutants
import training

# A program for XLA gathers rows that the plan's program sends by all-to-alls of variable sizes.
COMPARED = {name: case for name, case in equality.CASES.items() if name != "experts_sorted"}


class Functions(unittest.TestCase):
    def test_equal(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            failed = equality.run(equality.CASES, ["2x4"], folder)
            passed, said = equality.run_loaded(folder, 2)
            self.assertTrue(passed, "\n".join(said))
            failed.update(equality.run(equality.CASES, ["8", "2x2x2"]))
            self.assertEqual(failed, {})
            for text in said:
                self.assertEqual(text.count("equal "), len(equality.CASES))

    def test_uneven(self):
        for boundary in "whole", "even":
            self.assertEqual(equality.run(equality.CASES, list(equality.MESHES), uneven=boundary), {})

    def test_communication(self):
        self.assertEqual(communication.run(COMPARED, list(equality.MESHES)), {})
        self.assertEqual(communication.run(COMPARED, ["2x4"], uneven=True), {})
        self.assertEqual(communication.run(COMPARED, ["2x4"], objective="bytes"), {})
        self.assertEqual(communication.run(COMPARED, ["2x4"], topology="h100"), {})

    @unittest.skipUnless(importlib.util.find_spec("libtpu"), "needs pip install libtpu")
    def test_tpu(self):
        import tpu_ahead

        self.assertEqual(tpu_ahead.run(COMPARED, list(tpu_ahead.MESHES)), {})
        plan = equality.planned(equality.CASES["lstm"], {"x": 8}, equality.CASES["lstm"].args(False))
        _, wrong = tpu_ahead.compared(plan, "ENTRY %main () -> f32[] {\n}")
        self.assertEqual(len(wrong), len(plan.collectives))

    def test_faults(self):
        for mesh in "8", "2x4":
            count, missed = mutants.run(["lstm", "experts_one_hot", "residual_network", "llama_decode"], mesh)
            print("%s: %d faults, %d not noticed" % (mesh, sum(count.values()), len(missed)))
            self.assertEqual(missed, [])

    def test_training(self):
        _, found = training.errors()
        for what, by in found.items():
            print(what, by)
            self.assertLess(by["the plan"], 3 * by["XLA's partitioning"], what)

    def test_damaged_exports(self):
        outcomes, wrong = fuzz_exports.run(2000)
        print(outcomes)
        self.assertEqual(wrong, [])
        self.assertGreater(outcomes["refused"], 1000)


if __name__ == "__main__":
    unittest.main()
