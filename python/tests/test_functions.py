"""The fast part of the collection: functions run by XLA on 8 devices, in 2 processes, and with a fault."""
import pathlib
import tempfile
import unittest

import communication
import equality
import jax
import mutants

FAST = [name for name, case in equality.CASES.items() if case.fast]


class Functions(unittest.TestCase):
    def test_equal(self):
        """Each on one of the meshes; those on 2x4 also in two processes that have JAX alone."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for i, mesh in enumerate(equality.MESHES):
                self.assertEqual(equality.run(FAST[i :: len(equality.MESHES)], [mesh], folder if mesh == "2x4" else None), {})
            passed, said = equality.run_loaded(folder, 2)
            self.assertTrue(passed, "\n".join(said))
            for text in said:
                self.assertEqual(text.count("equal "), len(FAST[1 :: len(equality.MESHES)]), text)

    def test_uneven(self):
        """Sizes that the meshes do not divide: of a loop, of a convolution, of attention, of sorting."""
        self.assertEqual(equality.run(["lstm", "autoencoder", "haiku_transformer", "top_k"], ["2x4"], uneven="whole"), {})
        self.assertEqual(equality.run(["experts_one_hot"], ["8"], uneven="whole"), {})

    def test_even_boundary(self):
        """The same; only pinned arguments, and their new values, are split unevenly."""
        self.assertEqual(equality.run(["residual_network", "embedding_gradient"], ["2x4"], uneven="even"), {})

    def test_faults(self):
        count, missed = mutants.run(["embedding_gradient"], "2x4")
        self.assertGreater(sum(count.values()), 5)
        self.assertEqual(missed, [])


class Communication(unittest.TestCase):
    """XLA's optimized program has the collectives of the plan's report."""

    def test_equal(self):
        """A loop, a condition, sums in bf16, a product that is computed twice, a merged sum."""
        names = "lstm", "branches", "quantized_weights", "derivatives", "contrastive", "haiku_transformer"
        self.assertEqual(communication.run(names, ["2x4"]), {})
        self.assertEqual(communication.run(["flash_attention"], ["2x4"], uneven=True), {})

    def test_objective(self):
        """Layouts change as the plan for the fewest bytes says, which the one for time would gather."""
        self.assertEqual(communication.run(["top_p_sampling"], ["2x4"], objective="bytes"), {})
        case = equality.CASES["top_p_sampling"]
        args = case.args()
        plan = equality.planned(case, equality.MESHES["2x4"], args, objective="bytes")
        self.assertEqual(equality.counted(plan.stablehlo()), {"all_to_all": 1, "collective_permute": 1})
        expected = equality.one_device(case, args)
        for found in plan.run_here(*args), plan.jit(jax.devices()[: plan.devices])(*args):
            self.assertEqual(equality.difference(equality.leaves(found), expected), 0)

    def test_difference_is_noticed(self):
        case = equality.CASES["experts_one_hot"]
        args = case.args()
        plan = equality.planned(case, equality.MESHES["2x4"], args)
        text = plan.stablehlo()
        lines = text.splitlines()
        for first, last, kind in mutants.collectives(lines):
            changed = lines[:first] + mutants.dropped(lines, first, last, kind) + lines[last + 1 :]
            plan.stablehlo = lambda: "\n".join(changed)
            self.assertNotEqual(communication.compared(plan, communication.compiled(plan, args)).wrong, [], kind)


class Comparison(unittest.TestCase):
    """What compares is tested itself: it has to say that these differ."""

    def differs(self, found, expected, **options):
        with self.assertRaises(equality.Different):
            equality.difference({"r": equality.numpy.asarray(found)}, {"r": equality.numpy.asarray(expected)}, **options)

    def test_differences(self):
        f32 = equality.numpy.float32
        self.differs(f32([1, 2.0001]), f32([1, 2]))
        self.differs(f32([1, float("nan")]), f32([1, 2]))
        self.differs(f32([1, 2]), f32([1, float("inf")]))
        self.differs(f32([1, float("-inf")]), f32([1, float("inf")]))
        self.differs([1, 2], [1, 3])
        self.differs(f32([1, 2]), f32([[1, 2]]))
        self.differs(f32([0, 1e-6]), f32([0, 0]), zero=("r",))
        same = {"r": f32([1, float("inf")])}
        self.assertEqual(equality.difference(same, same), 0)


if __name__ == "__main__":
    unittest.main()
