"""Mixtures of experts: tokens go to the devices of their experts by all-to-all, in few bytes, with the right results."""
import math
import sys
import unittest
import unittest.mock

import communication
import equality

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.sharding import PartitionSpec as P

import tpshard.jax as tps
from functions.case import Draw, shapes

EXPERTS = GROUPS = 8
TOKENS, HIDDEN = 1024, 64  # of all groups together; of an expert


def route(router, x, top):
    """Returns (gate, expert, place) of the choices of each token, [..., token, choice]. An expert has room for as many tokens of
    a group as all experts would have if each had the same number; from there on a place is no place. First choices come first."""
    gate, expert = lax.top_k(jax.nn.softmax(x @ router), top)
    chosen = jnp.swapaxes(jax.nn.one_hot(expert, EXPERTS, dtype=jnp.int32), -3, -2)  # ..., choice, token, expert
    flat = chosen.reshape(*x.shape[:-2], -1, EXPERTS)
    place = ((jnp.cumsum(flat, -2) - 1) * flat).sum(-1).reshape(chosen.shape[:-1])
    return gate, expert, jnp.swapaxes(place, -2, -1)


def room(x, top):
    return top * x.shape[-2] // EXPERTS


def masks(router, x, top):
    """Returns the masks [..., token, expert, place] of GShard: where tokens go, and with which gate they come back."""
    gate, expert, place = route(router, x, top)
    slot = jax.nn.one_hot(expert, EXPERTS)[..., None] * jax.nn.one_hot(place, room(x, top))[..., None, :]
    return slot.sum(-3), (gate[..., None, None] * slot).sum(-3)


def experts(params, sent):
    """The experts, on [expert, group, place, width]."""
    h = jax.nn.gelu(jnp.einsum("egcm,emh->egch", sent, params["up"]))
    return jnp.einsum("egch,ehm->egcm", h, params["down"])


def one_hot(params, x, top=2):
    """As in GShard."""
    dispatch, combine = masks(params["router"], x, top)
    back = experts(params, jnp.einsum("gsec,gsm->egcm", dispatch, x))
    return jnp.einsum("gsec,egcm->gsm", combine, back)


def switch(params, x):
    """One expert for each token, as in Switch Transformer."""
    return one_hot(params, x, 1)


def mapped(params, x):
    """Written for one group, and mapped over the groups."""
    combine = jax.vmap(lambda x: masks(params["router"], x, 2)[1])(x)
    sent = jax.vmap(lambda combine, x: jnp.einsum("sec,sm->ecm", (combine > 0).astype(x.dtype), x))(combine, x)
    back = experts(params, sent.swapaxes(0, 1)).swapaxes(0, 1)
    return jax.vmap(lambda combine, back: jnp.einsum("sec,ecm->sm", combine, back))(combine, back)


def scattered(params, x):
    """Without masks: tokens are written to their places, and read from there."""
    gate, expert, place = route(params["router"], x, 2)
    slots = EXPERTS * room(x, 2)
    slot = jnp.where(place < room(x, 2), expert * room(x, 2) + place, slots)

    def put(x, slot):
        return jnp.zeros((slots, x.shape[-1]), x.dtype).at[slot.reshape(-1)].set(jnp.repeat(x, 2, 0), mode="drop")

    sent = jax.vmap(put)(x, slot).reshape(len(x), EXPERTS, -1, x.shape[-1])
    back = experts(params, sent.swapaxes(0, 1)).swapaxes(0, 1).reshape(len(x), slots, -1)
    found = jax.vmap(lambda back, slot: back.at[slot].get(mode="fill", fill_value=0))(back, slot)
    return (gate[..., None] * found).sum(-2)


def one_group(function):
    """The function for tokens that are one group: [token, width]."""
    return lambda params, x: function(params, x[None])[0]


def sorted_tokens(params, x, top):
    """Returns (gate, order, sizes): the gates, all choices in the order of their experts, and how many each expert has."""
    gate, expert = lax.top_k(jax.nn.softmax((x @ params["router"]).astype(jnp.float32)), top)
    return gate.astype(x.dtype), jnp.argsort(expert.reshape(-1)), jnp.bincount(expert.reshape(-1), length=EXPERTS)


def ragged_experts(params, rows, sizes):
    h = jax.nn.gelu(lax.ragged_dot(rows, params["up"], sizes))
    return lax.ragged_dot(h, params["down"], sizes)


def by_inverse(params, x, top=2):
    """Tokens sorted by expert come back through the inverse of the order."""
    gate, order, sizes = sorted_tokens(params, x, top)
    back = ragged_experts(params, x[order // top], sizes)[jnp.argsort(order)]
    return (gate[..., None] * back.reshape(*gate.shape, -1)).sum(-2)


def by_set(params, x, top=2):
    """They are written to their places."""
    gate, order, sizes = sorted_tokens(params, x, top)
    found = ragged_experts(params, x[order // top], sizes)
    return (gate[..., None] * jnp.zeros_like(found).at[order].set(found).reshape(*gate.shape, -1)).sum(-2)


def by_add(params, x, top=2):
    """They are weighted where they are, and added to their tokens."""
    gate, order, sizes = sorted_tokens(params, x, top)
    found = ragged_experts(params, x[order // top], sizes) * gate.reshape(-1)[order][:, None]
    return jnp.zeros_like(x).at[order // top].add(found)


def by_loops(params, x, top, limited=True):
    """The same in numpy, token by token, in f64. Not `limited`: experts have room for all tokens."""
    params = {name: w.astype(numpy.float64) for name, w in params.items()}
    gelu = lambda v: 0.5 * v * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))
    found = numpy.zeros(x.shape)
    for group, tokens in enumerate(x.astype(numpy.float64)):
        scores = numpy.exp(tokens @ params["router"])
        scores /= scores.sum(-1, keepdims=True)
        order = numpy.argsort(-scores, -1, kind="stable")
        taken = [0] * EXPERTS
        for choice in range(top):
            for t, token in enumerate(tokens):
                e = order[t, choice]
                taken[e] += 1
                if not limited or taken[e] <= room(x, top):
                    found[group, t] += scores[t, e] * (gelu(token @ params["up"][e]) @ params["down"][e])
    return found.astype(numpy.float32)


def training(function):
    """A step: the new weights, the gradient of the tokens, and the loss."""

    def step(params, x, target):
        loss = lambda params, x: ((function(params, x) - target) ** 2).mean()
        value, (of_params, of_x) = jax.value_and_grad(loss, (0, 1))(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, of_params), of_x, value

    return step


def arguments(width, *shape):
    draw = Draw("experts")
    params = {
        "router": draw.normal(width, EXPERTS, scale=0.3),
        "up": draw.weight(EXPERTS, width, HIDDEN),
        "down": draw.weight(EXPERTS, HIDDEN, width),
    }
    return params, draw.normal(*shape, width), draw.normal(*shape, width)


def planned(function, args, mesh=None, trains=False, **options):
    """Experts are split over "ep", tokens over all axes, and so are their results."""
    mesh = mesh or {"ep": 8}
    pin = {"params/up": P("ep"), "params/down": P("ep"), "x": P(tuple(mesh)), "target" if trains else "result": P(tuple(mesh))}
    if not trains:
        return tps.plan(function, shapes(args), mesh, pin=pin, **options)
    return tps.plan(training(function), shapes(args), mesh, pin=pin, donate_argnums=0, **options)


def sent(plan):
    """Bytes of all collectives that leave their devices, of all devices together."""
    return plan.devices * sum(one["bytes_per_device"] for one in plan.collectives)


def needed(width, top, trains, tokens=TOKENS):
    """Each choice of each token goes to its expert and comes back, and so do the gradients."""
    return (2 if trains else 1) * 2 * tokens * top * width * 4


def large(plan, width, top, trains, tokens=TOKENS):
    """The kinds of those that send a twentieth of the bytes or more."""
    least = needed(width, top, trains, tokens) / 20 / plan.devices
    return [one["kind"] for one in plan.collectives if one["bytes_per_device"] >= least]


GROUPED = {"one_hot": (one_hot, 2), "switch": (switch, 1), "mapped": (mapped, 2), "scattered": (scattered, 2)}


class Groups(unittest.TestCase):
    """Each device has a group of tokens, and room for the tokens of each group in each expert."""

    WIDTH = 32
    ARGS = arguments(WIDTH, GROUPS, TOKENS // GROUPS)

    def each(self):
        for name, (function, top) in GROUPED.items():
            for trains in False, True:
                yield "%s%s" % (name, ", training" * trains), function, top, trains, self.ARGS[: 3 if trains else 2]

    def test_bytes(self):
        for name, function, top, trains, args in self.each():
            for options in {}, {"objective": "bytes"}:
                with self.subTest(name, **options):
                    plan = planned(function, args, trains=trains, **options)
                    self.assertLess(sent(plan), 1.1 * needed(self.WIDTH, top, trains))
                    self.assertEqual(large(plan, self.WIDTH, top, trains), ["all_to_all"] * (4 if trains else 2))

    def test_bytes_of_gpus(self):
        """Sizes for which bandwidth counts more than latency; nothing is computed."""
        tokens, width = 2048, 4096
        f32 = lambda *shape: jax.ShapeDtypeStruct(shape, numpy.float32)
        params = {"router": f32(width, EXPERTS), "up": f32(EXPERTS, width, 4 * width), "down": f32(EXPERTS, 4 * width, width)}
        args = params, *[f32(GROUPS, tokens, width)] * 2
        for trains in False, True:
            plan = planned(one_hot, args[: 3 if trains else 2], trains=trains, topology="h100")
            self.assertLess(sent(plan), 1.1 * needed(width, 2, trains, GROUPS * tokens))
            self.assertEqual(large(plan, width, 2, trains, GROUPS * tokens), ["all_to_all"] * (4 if trains else 2))

    def test_data_and_experts(self):
        """Tokens stay on their part of an axis that does not split the experts."""
        for name, function, top, trains, args in self.each():
            if not trains:
                plan = planned(function, args, mesh={"dp": 2, "ep": 4})
                self.assertEqual({one["axes"] for one in plan.collectives}, {"ep"}, name)
                self.assertEqual(large(plan, self.WIDTH, top, trains), ["all_to_all"] * 2, name)
                self.assertEqual(sent(plan), needed(self.WIDTH, top, trains) * 3 // 4, name)

    def test_equal(self):
        """Ranks of this machine and XLA's devices give what one device gives; forward, also what numpy gives."""
        for name, function, top, trains, args in self.each():
            with self.subTest(name):
                plan = planned(function, args, trains=trains)
                expected = equality.leaves(jax.jit(training(function) if trains else function)(*args))
                if not trains:
                    equality.difference(expected, {"": by_loops(*args, top)})
                equality.difference(equality.leaves(plan.run_here(*args)), expected)
                on_devices = plan.jit(jax.devices()[: plan.devices])
                equality.difference(equality.leaves(on_devices(*jax.tree.map(jnp.array, args))), expected)

    def test_communication(self):
        """XLA's program sends the bytes that the plan counts."""
        for trains in False, True:
            args = self.ARGS[: 3 if trains else 2]
            plan = planned(one_hot, args, trains=trains)
            self.assertEqual(communication.compared(plan, communication.compiled(plan, args)).wrong, [])


class OneGroup(unittest.TestCase):
    """The room of an expert is for the tokens of all devices. A token's place depends on all tokens before it, so the place may be
    on any device: tokens are split along the width first, where they are put to their places, and then by experts. That sends
    each token once more, in each direction."""

    WIDTH = 512
    ARGS = arguments(WIDTH, TOKENS)

    def test_bytes(self):
        for name, function, options in (
            ("scattered", scattered, {}), ("scattered", scattered, {"objective": "bytes"}), ("one_hot", one_hot, {"objective": "bytes"}),
        ):
            for trains in False, True:
                with self.subTest(name, trains=trains, **options):
                    plan = planned(one_group(function), self.ARGS[: 3 if trains else 2], trains=trains, **options)
                    self.assertLess(sent(plan), (1.15 if trains else 1.35) * needed(self.WIDTH, 2, trains))
                    self.assertEqual(set(large(plan, self.WIDTH, 2, trains)), {"all_to_all"})

    def test_equal(self):
        for name, function in ("scattered", scattered), ("one_hot", one_hot):
            with self.subTest(name):
                plan = planned(one_group(function), self.ARGS[:2], objective="bytes")
                found = plan.run_here(*self.ARGS[:2])
                params, x = self.ARGS[:2]
                equality.difference({"": found}, {"": by_loops(params, x[None], 2)[0]})


class Sorted(unittest.TestCase):
    """Tokens are sorted by expert, and multiplied with jax.lax.ragged_dot. They go to their experts, and come back, in all-to-alls whose
    sizes are known when the program runs; plans count those for experts with equally many tokens."""

    WIDTH = 128
    ARGS = arguments(WIDTH, TOKENS)
    FORMS = {"by_inverse": by_inverse, "by_set": by_set, "by_add": by_add}

    def each(self):
        for name, function in self.FORMS.items():
            for trains in False, True:
                yield "%s%s" % (name, ", training" * trains), function, trains, self.ARGS[: 3 if trains else 2]

    def test_bytes(self):
        for name, function, trains, args in self.each():
            for options in {}, {"objective": "bytes"}:
                with self.subTest(name, **options):
                    plan = planned(function, args, trains=trains, **options)
                    # the gradient of .at[].set exchanges, by time, also the rows that it replaces, which are zeros
                    more = 2 if function is by_set and trains and not options else 0
                    self.assertLess(sent(plan), (1.45 if more else 1.1) * needed(self.WIDTH, 2, trains))
                    kinds = ["all_to_all"] * ((4 if trains else 2) + more)
                    kinds[:1] = ["all_gather"] if more else kinds[:1]  # by time, one of them gathers
                    self.assertEqual(sorted(large(plan, self.WIDTH, 2, trains)), kinds)

    def test_bytes_of_two_axes(self):
        """Experts are split over one axis, and devices with the same experts share their tokens; gradients of experts are added besides."""
        for mesh in {"dp": 2, "ep": 4}, {"dp": 2, "ep": 8}:
            for name, function, trains, args in self.each():
                with self.subTest(name, mesh=mesh):
                    plan = planned(function, args, mesh, trains, objective="bytes")
                    exchanges = [one for one in plan.collectives if one["axes"] == "dp,ep" and one["kind"] == "all_to_all"]
                    self.assertGreaterEqual(len(exchanges), 4 if trains else 2)
                    weights = trains * 2 * 2 * 4 * (mesh["dp"] - 1) * sum(self.ARGS[0][name].size for name in ("up", "down"))
                    self.assertLess(sent(plan), 1.1 * (needed(self.WIDTH, 2, trains) + weights))

    def test_bytes_of_gpus(self):
        tokens, width = 16384, 4096
        f32 = lambda *shape: jax.ShapeDtypeStruct(shape, numpy.float32)
        params = {"router": f32(width, EXPERTS), "up": f32(EXPERTS, width, 4 * width), "down": f32(EXPERTS, 4 * width, width)}
        for trains in False, True:
            plan = planned(by_inverse, (params, *[f32(tokens, width)] * 2)[: 3 if trains else 2], trains=trains, topology="h100")
            self.assertLess(sent(plan), 1.1 * needed(width, 2, trains, tokens))
            self.assertEqual(large(plan, width, 2, trains, tokens), ["all_to_all"] * (4 if trains else 2))

    def test_equal(self):
        """With several experts on each device, and as many tokens as devices do not divide."""
        for devices, tokens, trains in (8, 160, True), (4, 180, False), (2, 173, True):
            params, x, target = arguments(16, tokens)
            for name, function in self.FORMS.items():
                with self.subTest(name, devices=devices):
                    args = (params, x, target)[: 3 if trains else 2]
                    plan = planned(function, args, {"ep": devices}, trains, objective="bytes")
                    self.assertGreater(len([one for one in plan.collectives if one["kind"] == "all_to_all"]), 1)
                    found = equality.leaves(plan.run_here(*args))
                    equality.difference(found, equality.leaves(jax.jit(training(function) if trains else function)(*args)))
                    if not trains:
                        equality.difference(found, {"": by_loops(params, x[None], 2, limited=False)[0]})

    def test_two_axes_equal(self):
        """Two devices have the same experts, of which some have no tokens or one has all."""
        for tokens, trains, name in (320, True, "by_inverse"), (160, False, "by_add"):
            params, x, target = arguments(16, tokens)
            function = self.FORMS[name]
            plan = planned(function, (params, x, target)[: 3 if trains else 2], {"dp": 2, "ep": 2}, trains, objective="bytes")
            self.assertIn("all_to_all", {one["kind"] for one in plan.collectives if one["axes"] == "dp,ep"})
            for chosen in None, 5:
                with self.subTest(name, chosen=chosen):
                    if chosen is not None:
                        params["router"][:] = -1
                        params["router"][:, chosen] = params["router"][:, 0] = 1
                        x = numpy.abs(x)
                    args = (params, x, target)[: 3 if trains else 2]
                    found = equality.leaves(plan.run_here(*args))
                    equality.difference(found, equality.leaves(jax.jit(training(function) if trains else function)(*args)))
                    if not trains:
                        equality.difference(found, {"": by_loops(params, x[None], 2, limited=False)[0]})

    def test_axis_that_does_not_divide_experts(self):
        """Rows that meet no weights, as those of gates, could be exchanged along it."""
        args = arguments(16, 192)
        first = lambda params, x: by_add(params, x, 1)
        plan = tps.plan(training(first), shapes(args), {"ep": 3}, objective="bytes")
        equality.difference(equality.leaves(plan.run_here(*args)), equality.leaves(jax.jit(training(first))(*args)))

    @unittest.mock.patch.multiple(sys.modules[__name__], EXPERTS=6, HIDDEN=32)
    def test_half_of_an_axis(self):
        """Half of the devices divide the experts. One op alone reads rows from a copy that is whole along this half of the axis."""
        args = arguments(64, 160)
        plan = tps.plan(training(by_add), shapes(args), {"ep": 4}, objective="bytes")
        self.assertIn("ep:(2)2", {one["axes"] for one in plan.collectives if one["kind"] == "all_to_all"})
        equality.difference(equality.leaves(plan.run_here(*args)), equality.leaves(jax.jit(training(by_add))(*args)))

    def test_one_expert_has_all(self):
        """Buffers have room for that; other devices then have no rows."""
        params, x, _ = arguments(16, 160)
        for chosen in 0, 5:
            params["router"][:] = -1
            params["router"][:, chosen] = params["router"][:, (chosen + 1) % EXPERTS] = 1
            x = numpy.abs(x)
            plan = planned(by_add, (params, x), objective="bytes")
            equality.difference({"": plan.run_here(params, x)}, {"": by_loops(params, x[None], 2, limited=False)[0]})

    def test_same_bits(self):
        args = arguments(16, 160)
        plan = planned(by_add, args, trains=True, objective="bytes")
        first, second = (equality.leaves(plan.run_here(*args)) for _ in range(2))
        for name, value in first.items():
            self.assertEqual(numpy.asarray(value).tobytes(), numpy.asarray(second[name]).tobytes(), name)

    def test_bf16(self):
        params, x, _ = arguments(16, 160)
        narrow = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (params, x))
        plan = planned(by_inverse, narrow, objective="bytes")
        found = numpy.asarray(plan.run_here(*narrow)).astype(numpy.float32)
        self.assertLess(abs(found - numpy.asarray(jax.jit(by_inverse)(*narrow)).astype(numpy.float32)).max(), 0.02)

    def test_xla(self):
        """StableHLO has no such exchanges: its program gathers the rows."""
        args = arguments(16, 160)
        for name, function in self.FORMS.items():
            with self.subTest(name):
                plan = planned(function, args, trains=True, objective="bytes")
                found = plan.jit(jax.devices()[: plan.devices])(*jax.tree.map(jnp.array, args))
                equality.difference(equality.leaves(found), equality.leaves(jax.jit(training(function))(*args)))


if __name__ == "__main__":
    unittest.main()
