"""A decoder of PyTorch on ranks of torch.distributed (gloo, processors): the program of a plan against DTensor with
placements by hand, as torch.distributed.tensor.parallel has them, and against one process with all processors.

    measure.py [--ranks N] [--width W] [--layers N] [--tokens N] [--turns N] [--backward]

With --backward a call is a forward and a backward pass, and DistributedDataParallel is a peer, too. Prints the least
milliseconds of a call of each, in turns, and the ratios. All compute the same, which is checked."""
import argparse
import os
import pathlib
import socket
import sys
import time
import warnings

warnings.filterwarnings("ignore")
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python"), str(pathlib.Path(__file__).resolve().parents[2] / "python" / "tests")]

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch_gradients
import torch_models
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel


def by_hand(model, mesh):
    """Tensor parallelism as Megatron has it: projections by columns, then by rows."""
    layers = {}
    for i, layer in enumerate(model.layers):
        layer.attention.heads //= mesh.size()
        for name in ("attention.q", "attention.k", "attention.v", "gate", "up"):
            layers["layers.%d.%s" % (i, name)] = ColwiseParallel()
        for name in ("attention.o", "down"):
            layers["layers.%d.%s" % (i, name)] = RowwiseParallel()
    layers["head"] = ColwiseParallel(output_layouts=Replicate())
    return parallelize_module(model, mesh, layers)


def local_heads(model):
    """The width of a rank's heads, which the module takes from its input."""
    for layer in model.layers:
        own = layer.attention

        def forward(x, own=own):
            batch, length, _ = x.shape
            q, k, v = (f(x).view(batch, length, own.heads, -1).transpose(1, 2) for f in (own.q, own.k, own.v))
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return own.o(y.transpose(1, 2).reshape(batch, length, -1))

        own.forward = forward
    return model


def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x


def rank(number, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=number, world_size=args.ranks)
    import tpshard.torch as tps

    threads = max(1, (os.cpu_count() or 1) // args.ranks)
    mesh = init_device_mesh("cpu", (args.ranks,), mesh_dim_names=("tp",))
    ids = torch_models.ids(4, args.tokens // 4, 1024)

    def make():
        torch.manual_seed(0)
        model = torch_models.Decoder(1024, args.width, 8, args.layers)
        return torch_gradients.Loss(model) if args.backward else model.requires_grad_(False)

    model, hand = make(), make()
    local_heads(by_hand(hand.model if args.backward else hand, mesh))
    start = time.perf_counter()
    plan = tps.plan(model, (ids,), mesh=mesh, pin={"result": [Replicate()]}, backward=args.backward)
    seconds = time.perf_counter() - start
    planned, compiled = plan.parallelize(mesh), plan.parallelize(mesh)
    compiled.program.graph = torch.compile(compiled.program.graph)
    if args.backward:
        compiled.program.backward = torch.compile(compiled.program.backward)
    modules = {"one process": model, "DTensor by hand": hand, "plan": planned, "plan, compiled": compiled}
    own = ids
    if args.backward:  # each rank has a part of the batch
        modules["data parallel"] = DistributedDataParallel(make())
        own = ids.chunk(args.ranks)[number]

    def call(name):
        module = modules[name]
        result = module(own if name == "data parallel" else ids)
        if args.backward:
            result.backward()
        return whole(result.detach())

    def gradients(name):
        return [whole(p.grad) for p in modules[name].parameters()] if args.backward else []

    wanted = call("one process")
    for name in modules:
        if name != "one process":
            found = call(name)
            if name != "data parallel":  # whose loss is that of a part
                torch.testing.assert_close(found, wanted, atol=1e-3, rtol=1e-3)
            for mine, other in zip(gradients(name), gradients("one process")):
                torch.testing.assert_close(mine, other, atol=1e-3 * other.abs().max().item(), rtol=0)
    least = dict.fromkeys(modules, float("inf"))
    for _ in range(args.turns):
        for name, module in modules.items():
            module.zero_grad()
            alone = name == "one process"
            torch.set_num_threads(os.cpu_count() or 1 if alone else threads)
            dist.barrier()
            if alone and number > 0:
                continue
            start = time.perf_counter()
            call(name)
            least[name] = min(least[name], time.perf_counter() - start)
        dist.barrier()
    if number == 0:
        print("decoder of width %d, %d layers, %d tokens; %d ranks with %d threads; planned in %.1f s, modelled %.2f ms" % (args.width, args.layers, args.tokens, args.ranks, threads, seconds, 1e3 * plan.cost))
        print(plan)
        for name, value in least.items():
            print("%-16s %8.2f ms   %5.2f of DTensor by hand" % (name, 1e3 * value, value / least["DTensor by hand"]))
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("ranks", 2), ("width", 512), ("layers", 4), ("tokens", 1024), ("turns", 10)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--backward", action="store_true")
    args = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(rank, (port, args), nprocs=args.ranks)


if __name__ == "__main__":
    main()
