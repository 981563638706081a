"""Planned modules and functions on ranks of torch.distributed, which talk over gloo."""
import copy
import gc
import os
import socket
import sys
import traceback
import unittest
import warnings
import weakref

warnings.filterwarnings("ignore", category=FutureWarning)

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch_gradients as gradients
import torch_models as models
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

RANKS, SHAPE, AXES = 4, (2, 2), ("dp", "tp")


def close(found, wanted):
    found = found.full_tensor() if isinstance(found, DTensor) else found
    torch.testing.assert_close(found, wanted.detach(), atol=1e-5, rtol=1e-5, equal_nan=True)


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
        return
    raise AssertionError("nothing was raised; expected: " + text)


# ---- what each rank does ----


def a_module(mesh, tps):
    torch.manual_seed(0)
    model, ids = models.Decoder(tied=True), models.ids()
    plan = tps.plan(model, (ids,), mesh=mesh)
    parallel = plan.parallelize(mesh)
    assert list(parallel.state_dict()) == list(model.state_dict())
    for name, parameter in parallel.named_parameters():
        assert tuple(parameter.placements) == plan.placements[name], name
    assert parallel.head.weight is parallel.embedding.weight
    wanted = model(ids)
    for given in (ids, distribute_tensor(ids, mesh, [Shard(0), Replicate()]), distribute_tensor(ids, mesh, [Replicate(), Shard(1)])):
        found = parallel(given)
        assert tuple(found.placements) == plan.placements["result"] and not found.requires_grad
        close(found, wanted)
    parallel.program.graph = torch.compile(parallel.program.graph, backend="aot_eager")
    close(parallel(ids), wanted)
    raises(Exception, "the module was planned in train mode; plan again", lambda: parallel.eval()(ids))
    raises(ValueError, 'forward: "ids" is torch.int64[4, 8], but the plan is for torch.int64[4, 16]', lambda: parallel.train()(ids[:, :8]))


def random_numbers(mesh, tps):
    """All ranks draw the seed of rank 0, and what they drop is what one device drops."""
    from tpshard.torch._random import Drawn, new_seed

    torch.manual_seed(0)
    model, x = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.2, batch_first=True), models.normal(4, 8, 16)
    plan = tps.plan(model, (x,), mesh=mesh, backward=True, pin={"src": ("dp", None, None)})
    torch.manual_seed(dist.get_rank())
    parallel, before = plan.parallelize(mesh), None
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(new_seed().item())
    for _ in range(2):
        found = parallel(x)
        (found.full_tensor() * x).sum().backward()
        with Drawn(new_seed(generator)):
            wanted = model(x)
        (wanted * x).sum().backward()
        close(found, wanted)
        for name, parameter in model.named_parameters():
            close(parallel.get_parameter(name).grad, parameter.grad)
        assert before is None or not torch.equal(wanted, before)
        before = wanted


def copies(mesh, tps):
    """Hooks run once, a copy has parameters of its own, and the whole module does not live on."""
    x, layer = models.normal(4, 8), nn.Linear(8, 8)
    layer.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    layer.register_forward_hook(lambda m, args, result: result + 1)
    wanted, kept = layer(x), weakref.ref(layer)
    parallel = tps.plan(layer, (x,), mesh=mesh).parallelize(mesh)
    close(parallel(x), wanted)
    close(parallel(input=x), wanted)
    other = copy.deepcopy(parallel)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    close(other(x), torch.ones(4, 8))
    close(parallel(x), wanted)
    assert isinstance(parallel, nn.Linear) and repr(parallel) == repr(layer)
    del layer
    gc.collect()
    assert kept() is None, gc.get_referrers(kept())
    same = tps.plan(lambda x: (x, x[:2], x.reshape(-1)), (x,), mesh=mesh, pin={"*": ()}).parallelize(mesh)
    given = distribute_tensor(x, mesh, [Replicate(), Replicate()])
    for result in same(given):
        result.to_local().zero_()
    close(given, x)


def from_meta(mesh, tps):
    torch.manual_seed(0)
    model, ids = models.Decoder(), models.ids()
    with torch.device("meta"):
        empty = models.Decoder()
    parallel = tps.plan(empty, (ids,), mesh=mesh).parallelize(mesh)
    assert parallel.head.weight.is_meta
    raises(ValueError, 'lies on torch.device("meta") and has no values', lambda: parallel(ids))
    parallel.to_empty(device="cpu")
    whole = model.state_dict()
    parallel.load_state_dict({n: distribute_tensor(whole[n], mesh, p.placements) for n, p in parallel.state_dict().items()})
    close(parallel(ids), model(ids))


def a_training_step(mesh, tps):
    torch.manual_seed(0)
    step, params = models.training_step(models.Decoder())
    ids = models.ids()
    plan = tps.plan(step, (params, ids), mesh=mesh, params="params", donate_argnums=0)
    planned, here, there = plan.parallelize(mesh), params, params
    for _ in range(3):
        (here, loss), (there, wanted) = planned(here, ids), step(there, ids)
        close(loss, wanted)
    for name in params:
        close(here[name], there[name])


def a_backward_pass(mesh, tps):
    """Training with an optimizer and a loss outside of the plan; gradients add up, and both graphs may be compiled."""
    torch.manual_seed(0)
    model, ids = models.Decoder(tied=True), models.ids()
    plan = tps.plan(model, (ids,), mesh=mesh, backward=True, pin={"*gate.weight": [Replicate(), Shard(0)]})
    parallel = plan.parallelize(mesh)
    program = parallel.program

    def loss(logits):
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    both = [(m, torch.optim.AdamW(m.parameters(), lr=1e-2)) for m in (parallel, model)]
    for turn in range(3):
        for m, optimizer in both:
            optimizer.zero_grad()
            for _ in range(turn + 1):
                logits = m(ids)
                loss(logits.full_tensor() if m is parallel else logits).backward()
            nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        for (name, mine), other in zip(parallel.named_parameters(), model.parameters()):
            assert tuple(mine.grad.placements) == plan.placements[name], name
            close(mine.grad, other.grad)
        for _, optimizer in both:
            optimizer.step()
        program.graph, program.backward = (torch.compile(graph, backend="aot_eager") for graph in (program.graph, program.backward))
    for mine, other in zip(parallel.parameters(), model.parameters()):
        torch.testing.assert_close(mine.full_tensor(), other.detach(), atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        assert not parallel(ids).requires_grad
    whole = parallel(ids).full_tensor()
    raises(Exception, "has no gradient itself", lambda: torch.autograd.grad(whole.sum(), parallel.norm.weight, create_graph=True))


def gradients_of_results(mesh, tps):
    """Several results, of which some have no gradient; a loss on DTensors; gradients of arguments; a loss inside."""
    torch.manual_seed(0)
    x = models.normal(4, 8).requires_grad_()
    layers = gradients.Layers(lambda self, x: {"y": self.a(x), "at": self.a(x).argmax(-1), "z": (self.b(x * self.kept), x * 1), "n": 3}, kept=torch.ones(8))
    parallel = tps.plan(layers, (x,), mesh=mesh, backward=True).parallelize(mesh)
    placed = distribute_tensor(x.detach(), mesh, [Shard(0), Replicate()]).requires_grad_()
    found, wanted = parallel(placed), layers(x)
    assert found["n"] == 3 and not found["at"].requires_grad
    close(found["at"], wanted["at"])
    (found["y"] * 2).sum().backward()
    (wanted["y"] * 2).sum().backward()
    close(placed.grad, x.grad)
    assert tuple(placed.grad.placements) == (Shard(0), Replicate())
    assert parallel.unused.weight.grad is None
    close(parallel.a.weight.grad, layers.a.weight.grad)
    close(parallel.b.weight.grad, torch.zeros(8, 8))
    whole = x.detach().clone().requires_grad_()  # the same on all ranks
    parallel(whole)["z"][0].full_tensor().sum().backward()
    close(whole.grad, torch.autograd.grad(layers(x)["z"][0].sum(), x)[0])
    model, ids = gradients.Loss(models.Decoder()), models.ids()
    parallel = tps.plan(model, (ids,), mesh=mesh, backward=True).parallelize(mesh)
    value = parallel(ids)
    value.backward()
    wanted = model(ids)
    wanted.backward()
    close(value.full_tensor().detach(), wanted)
    for mine, other in zip(parallel.parameters(), model.parameters()):
        close(mine.grad, other.grad)
    layer, x = models.Layer(32, 4), models.normal(4, 16, 32)
    with torch.autocast("cpu", dtype=torch.bfloat16):  # when it is planned, and when it is called
        parallel = tps.plan(layer, (x,), mesh=mesh, backward=True).parallelize(mesh)
        result, wanted = parallel(x), layer(x)
    result.sum().backward()
    wanted.sum().backward()
    torch.testing.assert_close(result.full_tensor().detach(), wanted.detach(), atol=2e-2, rtol=2e-2)
    for mine, other in zip(parallel.parameters(), layer.parameters()):
        torch.testing.assert_close(mine.grad.full_tensor(), other.grad, atol=2e-2 * other.grad.abs().max().item(), rtol=0)
    x = models.normal(4, 8)
    layers = gradients.Layers(gradients.set_buffer, kept=torch.ones(8))
    parallel = tps.plan(layers, (x,), mesh=mesh, backward=True).parallelize(mesh)
    for _ in range(2):
        close(parallel(x).detach(), layers(x))
        close(parallel.kept, layers.kept)


def buffers(mesh, tps):
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).train(), models.normal(4, 3, 8, 8)
    parallel = tps.plan(model, (x,), mesh=mesh).parallelize(mesh)
    for _ in range(2):
        close(parallel(x), model(x))
    for name, buffer in parallel.named_buffers():
        close(buffer, dict(model.named_buffers())[name])
    cache, x = models.Cache(), models.normal(4, 1, 8)
    parallel = tps.plan(cache, (x, torch.tensor([1])), mesh=mesh).parallelize(mesh)
    for at in (3, 7):
        close(parallel(x + at, torch.tensor([at])), cache(x + at, torch.tensor([at])))
    close(parallel.kept, cache.kept)


def written_arguments(mesh, tps):
    def function(x, y):
        x.add_(y)
        return (x * y).sum(0)

    x, y = models.normal(8, 8), models.normal(8, 8, seed=1)
    parallel = tps.plan(function, (x, y), mesh=mesh, pin={"x": [Shard(0), Shard(1)]}).parallelize(mesh)
    wanted, whole, placed = x.clone(), x.clone(), distribute_tensor(x, mesh, [Shard(1), Replicate()])
    result = function(wanted, y)
    close(parallel(whole, y), result)
    close(whole, wanted)
    close(parallel(placed, y), result)
    close(placed, wanted)


def layouts(mesh, tps):
    """All kinds of collectives: each change of layout between an argument and the result."""
    x = models.normal(8, 8, 8)
    for source in (("dp", "tp", None), (None, "dp", "tp"), (("dp", "tp"), None, None), (None, None, None)):
        for target in ((None, ("dp", "tp"), None), ("tp", None, "dp"), (("tp", "dp"), None, None)):
            pin = {"x": source, "result": target}
            plan = tps.plan(lambda x: x * 2, (x,), mesh=mesh, pin=pin, boundary="any")
            if target == (("tp", "dp"), None, None):
                raises(Exception, "another order of the axes", lambda plan=plan: plan.parallelize(mesh))
            else:
                close(plan.parallelize(mesh)(x), x * 2)
    weights = models.normal(8, 8, seed=1)
    for target in ((None, None), ("dp", None), (None, ("dp", "tp"))):
        plan = tps.plan(lambda x, w: x @ w, (weights, weights), mesh=mesh, pin={"x": (None, ("dp", "tp")), "w": (("dp", "tp"),), "result": target})
        close(plan.parallelize(mesh)(weights, weights), weights @ weights)
    plan = tps.plan(lambda x: x.roll(1, 0), (weights,), mesh=mesh, pin={"x": (("dp", "tp"),), "result": (("dp", "tp"),)})
    assert any(c["kind"] == "permute" for c in plan.collectives), plan
    close(plan.parallelize(mesh)(weights), weights.roll(1, 0))


def exchanges(mesh, tps):
    """Each collective for each type, against what it is on whole tensors."""
    from tpshard.torch.program import exchange

    rank, name = dist.get_rank(), dist.group.WORLD.group_name
    types = (torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for dtype in (*types, torch.float8_e4m3fn, torch.complex64):
        every = [(models.normal(4, 8, seed=r) * 3).to(dtype) for r in range(RANKS)]
        x = every[rank]
        plain = lambda a: a.float() if dtype == torch.float8_e4m3fn else a
        same = lambda a, b: torch.testing.assert_close(plain(a), plain(b), rtol=0, atol=0)
        for dim in (0, 1):
            same(exchange.all_gather(x, dim, RANKS, name), torch.cat([plain(e) for e in every], dim).to(dtype))
        same(exchange.all_to_all(x, 1, 0, RANKS, name), torch.cat([plain(e).chunk(RANKS, 1)[rank] for e in every], 0).to(dtype))
        same(exchange.permute(x, (rank + 1) % RANKS, (rank - 1) % RANKS, RANKS, name), every[(rank + 1) % RANKS])
        found = exchange.permute(x, 0 if rank == 1 else None, 1 if rank == 0 else None, RANKS, name)
        same(found, every[0] if rank == 1 else torch.zeros(4, 8).to(dtype))
        same(exchange.all_gather(x[0, 0].reshape(1), 0, RANKS, name), torch.stack([plain(e)[0, 0] for e in every]).to(dtype))
        if dtype == torch.float8_e4m3fn:
            continue
        for op in ("sum", "max", "min", "product", "and", "or"):
            if dtype.is_complex and op != "sum" or op in ("and", "or") and (dtype.is_floating_point or dtype.is_complex):
                continue
            two = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum, "product": torch.mul, "and": torch.bitwise_and, "or": torch.bitwise_or}[op]
            wanted = every[0]
            for e in every[1:]:
                wanted = two(wanted, e)
            tolerance = {torch.float16: 2e-2, torch.bfloat16: 1e-1}.get(dtype, 1e-4) if dtype.is_floating_point or dtype.is_complex else 0
            torch.testing.assert_close(exchange.all_reduce(x, op, RANKS, name), wanted, rtol=tolerance, atol=tolerance)
            for dim in (0, 1):
                found = exchange.reduce_scatter(x, op, dim, RANKS, name)
                torch.testing.assert_close(found, wanted.chunk(RANKS, dim)[rank], rtol=tolerance, atol=tolerance)
    # NaN, infinities and zeros with a sign
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        some = torch.tensor([float("nan"), float("-inf"), -0.0, 1.0], dtype=dtype)
        x = some.roll(rank)
        close(exchange.all_reduce(x, "max", RANKS, name), torch.full_like(x, float("nan")))
        close(exchange.all_reduce(-x, "min", RANKS, name), torch.full_like(x, float("nan")))
        x = torch.where(x.isnan(), 2, x)
        close(exchange.all_reduce(x, "max", RANKS, name), torch.full_like(x, 2))
        close(exchange.all_reduce(x, "min", RANKS, name), torch.full_like(x, float("-inf")))


def wrong_meshes(mesh, tps):
    plan = tps.plan(nn.Linear(8, 8), (torch.zeros(4, 8),), mesh={"dp": 2, "tp": 2})
    raises(TypeError, "parallelize: mesh is {'dp': 2, 'tp': 2}; give a DeviceMesh", lambda: plan.parallelize({"dp": 2, "tp": 2}))
    other = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
    raises(ValueError, "the plan is for the mesh dp=2,tp=2, but this DeviceMesh is tp=4", lambda: plan.parallelize(other))
    unnamed = init_device_mesh("cpu", SHAPE)
    raises(ValueError, "is (2, 2) without names", lambda: plan.parallelize(unnamed))
    raises(ValueError, "the dimensions of this DeviceMesh have no names", lambda: tps.plan(nn.Linear(8, 8), (torch.zeros(4, 8),), mesh=unnamed))
    parallel = plan.parallelize(mesh)
    raises(ValueError, "is a DTensor on another mesh", lambda: parallel(distribute_tensor(torch.zeros(4, 8), other, [Shard(0)])))
    raises(ValueError, '"weight" is a DTensor; plan with the whole tensor', lambda: tps.plan(parallel, (torch.zeros(4, 8),), mesh=mesh))


JOBS = (a_module, random_numbers, copies, from_meta, a_training_step, a_backward_pass, gradients_of_results, buffers, written_arguments, layouts, exchanges, wrong_meshes)


def rank(number, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=number, world_size=RANKS)
    import tpshard.torch as tps

    mesh = init_device_mesh("cpu", SHAPE, mesh_dim_names=AXES)
    for job in JOBS:
        try:
            job(mesh, tps)
        except BaseException:
            print("rank %d, %s:" % (number, job.__name__), file=sys.stderr)
            traceback.print_exc()
            os._exit(1)  # the others wait in a collective
        if number == 0:
            print("%s: ok" % job.__name__, flush=True)
    dist.destroy_process_group()


class Ranks(unittest.TestCase):
    def test_ranks(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        multiprocessing.spawn(rank, (port,), nprocs=RANKS)


if __name__ == "__main__":
    unittest.main()
