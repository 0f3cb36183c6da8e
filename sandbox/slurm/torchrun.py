"""`torchrun` for machines without PyTorch: starts the processes of a node once.

It has no rendezvous: the rank of the node comes from the scheduler, and a program that fails is not
started again.

Source:
    https://docs.pytorch.org/docs/stable/elastic/run.html: environment variables, `PET_` variables,
        `--no-python`, `-m`
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/elastic/multiprocessing/api.py
        (`close`): 30 seconds from SIGTERM to SIGKILL
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

_GRACE_SECONDS = 30.0
_POLL_SECONDS = 0.05


def main(arguments: list[str]) -> int:
    """Run a program once for each process of this node, and return the exit code of torchrun."""
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    if int(os.environ.get("PET_MAX_RESTARTS", "0")):
        _say("does not start a program again that fails")
    count = int(os.environ["PET_NPROC_PER_NODE"])
    processes = [
        subprocess.Popen(_command(arguments), env={**os.environ, **_variables(local, count)})
        for local in range(count)
    ]
    while not stopped and not _failed(processes) and any(each.poll() is None for each in processes):
        time.sleep(_POLL_SECONDS)
    failed = _failed(processes)
    _end(processes)
    for rank, code in failed:
        _say(f"the process with local rank {rank} ended with exit code {code}")
    return 1 if stopped or failed else 0


def _command(arguments: list[str]) -> list[str]:
    if arguments[:1] == ["--no-python"]:
        return arguments[1:]
    return [shutil.which("python3") or sys.executable, "-u", *arguments]


def _variables(local: int, count: int) -> dict[str, str]:
    nodes, node = int(os.environ["PET_NNODES"]), int(os.environ["PET_NODE_RANK"])
    rank, world = str(node * count + local), str(nodes * count)
    return {
        "LOCAL_RANK": str(local),
        "RANK": rank,
        "ROLE_RANK": rank,
        "GROUP_RANK": str(node),
        "LOCAL_WORLD_SIZE": str(count),
        "WORLD_SIZE": world,
        "ROLE_WORLD_SIZE": world,
        "MASTER_ADDR": os.environ["PET_MASTER_ADDR"],
        "MASTER_PORT": os.environ["PET_MASTER_PORT"],
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }


def _failed(processes: list[subprocess.Popen[bytes]]) -> list[tuple[int, int]]:
    """Return local rank and exit code of the processes that have failed."""
    codes = [(rank, each.poll()) for rank, each in enumerate(processes)]
    return [(rank, code) for rank, code in codes if code]


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for each in processes:
        each.terminate()
    deadline = time.monotonic() + _GRACE_SECONDS
    for each in processes:
        try:
            each.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait()


def _say(text: str) -> None:
    print(f"torchrun of the sandbox: {text}", file=sys.stderr, flush=True)  # noqa: T201 - in the log of a job


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
