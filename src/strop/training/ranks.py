"""Several processes that train as one: who this one is, and how they exchange values.

Every rank draws the same tasks and holds every group, so what is computed from them (advantages, batches, sizes) is the
same everywhere. Plays and micro-batches are shared out; rank 0 alone writes.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from strop_verify.core.errors import StropError, UserError
from strop_verify.core.progress import PROGRESS
from strop_verify.sandbox.kernel import die_with_parent

T = TypeVar("T")

MEETING = timedelta(hours=1)
"""In which all processes must have met, and in which an exchange ends that all of them enter together, of gradients and
weights."""
WHILE_IT_MOVES = timedelta(days=3650)
"""Of `gather`: a process waits for the others' plays as long as these move on, which `training.watch` looks at."""

LINGER = 0.2
"""Seconds from the last exchange to the end of the group."""


@dataclass(frozen=True)
class Ranks:
    """This process among `world` processes."""

    rank: int = 0
    world: int = 1
    channel: Any = None
    """The torch process group of `gather`, where there are several."""

    @property
    def main(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """This process's part: every `world`-th item."""
        return list(items[self.rank :: self.world])

    def gather(self, value: T) -> list[T]:
        """Everyone's value, by rank. All processes must call it."""
        if self.world == 1:
            return [value]
        import torch.distributed as dist

        found: list[Any] = [None] * self.world
        with PROGRESS.at("waiting for the other processes", waits=True):
            dist.all_gather_object(found, value, group=self.channel)
        return found

    def for_thread(self) -> "Ranks":
        """The same processes over a connection of their own, for a second thread. All processes must call it."""
        if self.world == 1:
            return self
        return Ranks(self.rank, self.world, _channel())

    def interleave(self, shares: Sequence[Sequence[T]]) -> list[T]:
        """The items that were shared out, in their first order again."""
        found: list[Any] = [None] * sum(map(len, shares))
        for rank, share in enumerate(shares):
            found[rank :: self.world] = share
        return found

    def from_main(self, make: Callable[[], T]) -> T:
        """What `make` returns in rank 0, in every process; a StropError that it raises there is raised in all."""
        if self.world == 1:
            return make()
        value: Any = None
        fault: StropError | None = None
        if self.main:
            try:
                value = make()
            except StropError as error:
                fault = error
        value, fault = self.gather((value, fault))[0]
        if fault is not None:
            fault.said = not self.main
            raise fault
        return value  # type: ignore[no-any-return]

    def barrier(self) -> None:
        """Waits for all processes."""
        self.gather(None)


def join() -> Ranks:
    """This process's place, from the variables that torchrun and srun set. Call it once, before a model is loaded. What
    torchrun started ends when torchrun does, even by kill -9.

    Raises UserError where a launcher was asked for several processes but started one.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if "TORCHELASTIC_RUN_ID" in os.environ:
        die_with_parent(0, signal.SIGKILL)
    if (
        world == 1
        and {"ACCELERATE_MIXED_PRECISION", "MASTER_ADDR"} <= os.environ.keys()
        and "RANK" not in os.environ
    ):
        # It sets an address only where it was asked for more than one process.
        raise UserError(
            "accelerate launch was asked for several processes and started one, as it does with --cpu; use: torchrun "
            "--nproc-per-node N -m strop.cli train ..."
        )
    if world == 1:
        return Ranks()
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        gpus = torch.cuda.is_available()
        if gpus:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        dist.init_process_group("cpu:gloo,cuda:nccl" if gpus else "gloo", timeout=MEETING)
    return Ranks(dist.get_rank(), dist.get_world_size(), _channel())


def _channel() -> Any:
    """A connection of all processes that waits as long as work moves on. Collective."""
    import torch.distributed as dist

    return dist.new_group(backend="gloo", timeout=WHILE_IT_MOVES)


def leave() -> None:
    """Ends the exchange, if there was one."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        # Gloo's threads let go of the last exchange's tensors, for which they need the interpreter's lock. The end of a
        # group joins them with that lock held: seen to hang for ever (torch 2.13).
        time.sleep(LINGER)
        dist.destroy_process_group()
