"""Processes that train together: this process's rank, and how they exchange values.

Every rank draws the same tasks and holds all groups, so what is computed from them (advantages, batches, sizes) is the
same everywhere. Plays and micro-batches are divided among the ranks; only rank 0 writes.
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
"""Time limit for all processes to join, and for an exchange of gradients or weights."""
WHILE_IT_MOVES = timedelta(days=3650)
"""Time limit of `gather`, effectively none: `training.watch` ends a run in which a process makes no progress."""
LINGER = 0.2
"""Seconds between the last exchange and the end of the group."""


@dataclass(frozen=True)
class Ranks:
    """This process among `world` processes."""

    rank: int = 0
    world: int = 1
    channel: Any = None
    """torch process group used by `gather`; None for a single process."""

    @property
    def main(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """This process's part: every `world`-th item."""
        return list(items[self.rank :: self.world])

    def gather(self, value: T) -> list[T]:
        """All processes' values, by rank. Collective."""
        if self.world == 1:
            return [value]
        import torch.distributed as dist

        found: list[Any] = [None] * self.world
        with PROGRESS.at("waiting for the other processes", waits=True):
            dist.all_gather_object(found, value, group=self.channel)
        return found

    def for_thread(self) -> "Ranks":
        """The same processes over a new connection, for a second thread. Collective."""
        if self.world == 1:
            return self
        return Ranks(self.rank, self.world, _channel())

    def interleave(self, shares: Sequence[Sequence[T]]) -> list[T]:
        """Puts the results of `share` back into their original order."""
        found: list[Any] = [None] * sum(map(len, shares))
        for rank, share in enumerate(shares):
            found[rank :: self.world] = share
        return found

    def from_main(self, make: Callable[[], T]) -> T:
        """Calls `make` in rank 0; all processes get its value or the StropError that it raises. Collective."""
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
    """This process's rank, from the variables that torchrun and srun set. Call it once, before a model is loaded. A
    process that torchrun started ends when torchrun does, even by kill -9.

    Raises UserError if a launcher was asked for several processes but started only one.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if "TORCHELASTIC_RUN_ID" in os.environ:
        die_with_parent(0, signal.SIGKILL)
    if (
        world == 1
        and {"ACCELERATE_MIXED_PRECISION", "MASTER_ADDR"} <= os.environ.keys()
        and "RANK" not in os.environ
    ):
        # accelerate sets an address only if it was asked for several processes.
        raise UserError(
            "accelerate launch was asked for several processes but started one, as it does with --cpu; use: torchrun "
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
    """A new connection of all processes. Collective."""
    import torch.distributed as dist

    return dist.new_group(backend="gloo", timeout=WHILE_IT_MOVES)


def leave() -> None:
    """Leaves the process group, if there is one."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        # Gloo's threads need the interpreter's lock to release the last exchange's tensors. Destroying the group joins
        # them with that lock held, which can hang forever (seen with torch 2.13).
        time.sleep(LINGER)
        dist.destroy_process_group()
