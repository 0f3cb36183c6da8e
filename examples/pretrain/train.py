"""Pretrains a transformer with FSDP2 on NVIDIA GPUs, Trainium or CPUs.

torchrun starts it once per accelerator: `./trainyard run STACK --file examples/pretrain/gpu.yaml`.

It survives what happens to a cluster:

- It continues from the newest complete checkpoint when it starts.
- On SIGTERM (a drained node, the end of a Capacity Block), all processes save a checkpoint and end.
- A run that has finished ends with 0, also when threads of Gloo still run (`leave`).
- The data depend on the step only, and the global batch is fixed. The loss curve after a restart is
  that of a run without one, also with another number of processes.

Source:
    https://docs.pytorch.org/tutorials/intermediate/FSDP_tutorial.html (FSDP2)
    https://docs.pytorch.org/tutorials/recipes/distributed_checkpoint_recipe.html
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/torch/guides/torch-distributed.html
        (TorchNeuron: device and backend `neuron`, the same API)
    https://github.com/pytorch/pytorch/pull/179291 (threads of Gloo at the end of the interpreter)
"""

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from model import Transformer
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional as F

BACKENDS = {"cuda": "nccl", "neuron": "neuron", "cpu": "gloo"}
TERMINATED = 128 + signal.SIGTERM


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pretrain a transformer on synthetic data.")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--global-batch", type=int, default=256, help="sequences per step")
    parser.add_argument("--length", type=int, default=512, help="tokens per sequence")
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--checkpoint-every", type=int, default=100, help="steps")
    parser.add_argument("--keep", type=int, default=2, help="number of checkpoints to keep")
    parser.add_argument(
        "--checkpoints",
        type=Path,
        default=os.environ.get("CHECKPOINT_DIRECTORY", "checkpoints"),
        help="a directory on shared storage; default: CHECKPOINT_DIRECTORY",
    )
    return parser.parse_args()


class Batches:
    """Sequences of numbers with a constant difference, which a small model learns to continue."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.share = given.global_batch // dist.get_world_size()
        self.first = self.share * dist.get_rank()

    def __getitem__(self, step: int) -> Tensor:
        indices = range(self.first, self.first + self.share)
        return torch.stack([self._sequence(step * self.given.global_batch + i) for i in indices])

    def _sequence(self, index: int) -> Tensor:
        random = torch.Generator().manual_seed(index)
        start = torch.randint(self.given.vocabulary, (1,), generator=random)
        difference = torch.randint(1, 8, (1,), generator=random)
        return (start + difference * torch.arange(self.given.length + 1)) % self.given.vocabulary


def states(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, object]:
    of_model, of_optimizer = get_state_dict(model, optimizer)
    return {"model": of_model, "optimizer": of_optimizer}


class Checkpoints:
    """Checkpoints of all processes in one directory, `step-N` for each."""

    def __init__(self, directory: Path, keep: int, group: dist.ProcessGroup) -> None:
        self.directory, self.keep, self.group = directory, keep, group

    def complete(self) -> list[Path]:
        """Return the complete checkpoints, the oldest first; `.metadata` is written last."""
        return sorted(path.parent for path in self.directory.glob("step-*/.metadata"))

    def save(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        path = self.directory / f"step-{step:08d}"
        dcp.save(states(model, optimizer), checkpoint_id=path, process_group=self.group)
        if dist.get_rank() == 0:
            print(f"checkpoint {path}", flush=True)
            for old in self.complete()[: -self.keep]:
                shutil.rmtree(old)

    def load(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Load the newest checkpoint, and return its step; 0 without one."""
        newest = [self.complete()[-1:] if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(newest, src=0, group=self.group)
        if not newest[0]:
            return 0
        (path,) = newest[0]
        loaded = states(model, optimizer)
        dcp.load(loaded, checkpoint_id=path, process_group=self.group)
        set_state_dict(
            model,
            optimizer,
            model_state_dict=loaded["model"],
            optim_state_dict=loaded["optimizer"],
        )
        if dist.get_rank() == 0:
            print(f"continues from {path}", flush=True)
        return int(path.name.removeprefix("step-"))


class Stop:
    """Notices SIGTERM; the processes agree on it after each step, so that all save the same one."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.received, self.group = False, group
        signal.signal(signal.SIGTERM, self._receive)

    def _receive(self, *_: object) -> None:
        self.received = True

    def agreed(self) -> bool:
        received = torch.tensor(int(self.received))
        dist.all_reduce(received, op=dist.ReduceOp.MAX, group=self.group)
        return bool(received)


def build(given: argparse.Namespace, device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    model = Transformer(
        vocabulary=given.vocabulary, layers=given.layers, width=given.width, heads=given.heads
    ).to(device)
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    on_cpu = device.type == "cpu"
    policy = MixedPrecisionPolicy(
        param_dtype=None if on_cpu else torch.bfloat16, reduce_dtype=torch.float32
    )
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    return fully_shard(model, mesh=mesh, mp_policy=policy)


def train(given: argparse.Namespace, device: torch.device) -> int:
    model = build(given, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.learning_rate)
    # Checkpoints and SIGTERM are coordinated on CPUs, separately from the accelerators.
    group = dist.new_group(backend="gloo")
    checkpoints, stop = Checkpoints(given.checkpoints, given.keep, group), Stop(group)
    first, batches = checkpoints.load(model, optimizer), Batches(given)
    for step in range(first + 1, given.steps + 1):
        started = time.monotonic()
        tokens = batches[step].to(device)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        report(given, step, loss.detach(), started)
        stopped = stop.agreed()
        if stopped or step % given.checkpoint_every == 0 or step == given.steps:
            checkpoints.save(step, model, optimizer)
        if stopped:
            return TERMINATED
    return 0


def report(given: argparse.Namespace, step: int, loss: Tensor, started: float) -> None:
    dist.all_reduce(loss)
    mean = loss.item() / dist.get_world_size()
    if dist.get_rank() == 0:
        speed = given.global_batch * given.length / (time.monotonic() - started)
        print(f"step {step} loss {mean:.6f} tokens/s {speed:.0f}", flush=True)


def main() -> int:
    given = arguments()
    kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    device = kind or torch.device("cpu")
    if kind is not None:
        torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(BACKENDS[device.type])
    if given.global_batch % dist.get_world_size():
        sys.exit(f"--global-batch must be a multiple of {dist.get_world_size()}, the processes")
    try:
        return train(given, device)
    finally:
        dist.destroy_process_group()


def leave(code: int) -> NoReturn:
    """End the process without finalizing the interpreter.

    A thread of Gloo that has finished an operation still has to release its tensors, which takes
    the GIL. If it waits for the GIL when Python begins to finalize, Python ends the thread, C++
    calls `std::terminate`, and a run without an error ends with SIGABRT. `destroy_process_group`
    does not wait for these threads: they end with the last reference to the group, and FSDP2's
    caches keep the mesh with its group. Everything is saved, so that nothing is left for Python to
    do.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main())
