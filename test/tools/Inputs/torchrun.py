"""torchrun.py [--agent] [--hosts] [--own-device] N COMMAND...: starts a command N times with the
variables that torchrun sets, on this host.

--agent: a process already listens at MASTER_PORT, like the store of torchrun's agent. --hosts: each
rank is told that it is alone on its host. --own-device: each rank sees one GPU."""
import itertools
import os
import socket
import subprocess
import sys


def two_ports():
    """Returns sockets at two consecutive ports; the caller closes them."""
    while True:
        first = socket.create_server(("127.0.0.1", 0))
        try:
            return first, socket.create_server(("127.0.0.1", first.getsockname()[1] + 1))
        except OSError:
            first.close()


def main():
    flags = set(itertools.takewhile(lambda word: word.startswith("--"), sys.argv[1:]))
    agent = "--agent" in flags
    n, command = int(sys.argv[1 + len(flags)]), sys.argv[2 + len(flags):]
    first, second = two_ports()
    port = first.getsockname()[1]
    second.close()
    if not agent:
        first.close()
    ranks = []
    for rank in range(n):
        launch = {"RANK": rank, "WORLD_SIZE": n, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": n, "MASTER_ADDR": "127.0.0.1",
                  "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "test", "TORCHELASTIC_RESTART_COUNT": 0,
                  "TORCHELASTIC_USE_AGENT_STORE": agent}
        if "--hosts" in flags:
            launch |= {"LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1}
        if "--own-device" in flags:
            launch["CUDA_VISIBLE_DEVICES"] = rank
        environment = {**os.environ, **{name: str(value) for name, value in launch.items()}}
        ranks.append(subprocess.Popen(command, env=environment))
    return max(abs(rank.wait()) for rank in ranks)


sys.exit(main())
