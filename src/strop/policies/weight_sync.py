"""Sends weights to vLLM servers: as LoRA files, or as files of the whole model.

Weights are published under a unique name, so that a server that was restarted, or used by another run, is known to hold
other weights. Published files stay until the next ones replace them, for servers that come back.
"""

import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from strop.policies.loading import full
from strop.policies.sampling_server import SamplingServer, ServerRefused
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.files import writing
from strop_verify.core.progress import PROGRESS

T = TypeVar("T")
Weights = Iterable[tuple[str, torch.Tensor]]
UNTRAINED = "default"
"""vLLM's version name for the weights that it loaded at startup."""
_SHARD = 4 * 2**30
"""Bytes of weights held in memory at a time, and per file."""


@dataclass(frozen=True)
class Published:
    """Weights that are ready for servers.

    name     their unique name
    model    the model name in requests for them
    version  the version that a server must report for its samples
    folder   folder of their files; None without files
    """

    name: str
    model: str
    version: str = UNTRAINED
    folder: Path | None = None


class Processes:
    """The training processes; only the first writes. Without torch.distributed there is one."""

    def __init__(self) -> None:
        there = torch.distributed.is_available() and torch.distributed.is_initialized()
        self._world = torch.distributed.get_world_size() if there else 1
        self.main = not there or torch.distributed.get_rank() == 0

    def gather(self, value: Any) -> list[Any]:
        """Collects the values of all processes, in order of rank. Collective."""
        found: list[Any] = [value]
        if self._world > 1:
            found = [None] * self._world
            with PROGRESS.at("waiting for the other processes", waits=True):
                torch.distributed.all_gather_object(found, value)
        return found

    def agreed(self, work: Callable[[], T]) -> T:
        """Runs `work` in all processes at once; a StropError in one is raised in all. Collective."""
        fault: StropError | None = None
        try:
            done = work()
        except StropError as error:
            fault = error
        for one in self.gather(fault):
            if one is not None:
                raise fault or one
        return done

    def together(self, work: Callable[[], object]) -> None:
        """Runs `work` in the first process, then in the others; errors as for `agreed`. Collective."""
        for mains_turn in (True, False):
            self.agreed(work if self.main is mains_turn else lambda: None)


class WeightSync:
    """How weights get to servers. This base class sends none: an evaluation uses those that a server has loaded."""

    def publish(self, name: str, weights: Weights) -> Published:
        """Makes weights ready for servers: all processes read them, one writes. Collective. Raises StropError."""
        raise StropError("these vLLM servers take no weights")

    async def held(self, server: SamplingServer, weights: Published) -> bool:
        """Whether a server would sample with these weights."""
        found = await server.ask("GET", "/weight_info")
        return bool(found["weight_version"] == weights.version)

    async def send(self, server: SamplingServer, weights: Published) -> None:
        """Makes a server load these weights. Raises StropError, ServerLost."""
        raise UserError(f"{server.url} has weights of a training run; restart it")


class FileSync(WeightSync):
    """Writes the whole model to a folder that the servers' workers read (`vllm_worker.WeightFiles`)."""

    def __init__(self, folder: Path, model: str, dtype: torch.dtype, processes: Processes) -> None:
        self._folder, self._model, self._dtype, self._processes = folder, model, dtype, processes

    def publish(self, name: str, weights: Weights) -> Published:
        """Writes the whole model's files; see `WeightSync`."""
        folder = self._folder / name
        _written(folder, weights, self._processes.main, self._write)
        return Published(name, self._model, name, folder)

    async def send(self, server: SamplingServer, weights: Published) -> None:
        """Makes the server's workers read the files; see `WeightSync`."""
        body = {"method": "load_weight_files", "kwargs": {"folder": str(weights.folder)}}
        try:
            done = await server.ask("POST", "/collective_rpc", body)
        except ServerRefused as error:
            remedy = "start it with strop serve-sampler on a machine that sees policy.folder"
            raise StropError(f"a vLLM server did not take the weights ({error}); {remedy}") from None
        if not all(int(count) for count in done["results"]):
            raise StropError(f"{server.url} found no weights in {weights.folder}; can it see that folder?")
        await server.ask("POST", "/update_weight_version", {"new_version": weights.version})
        if not await self.held(server, weights):
            raise StropError(f"{server.url} loaded the weights {weights.name} but does not report them")

    def _write(self, folder: Path, weights: Weights) -> None:
        from safetensors.torch import save_file

        for number, shard in enumerate(_shards(weights, self._dtype)):
            save_file(dict(shard), folder / f"model-{number:05}.safetensors")


class AdapterSync(WeightSync):
    """Sends LoRA adapters as PEFT saves them, loaded under the name of the weights; the base model stays.

    Before the model has adapters (an evaluation before training) the base model is sampled from.
    """

    def __init__(self, folder: Path, model: str, trained: Any, processes: Processes) -> None:
        """`trained`: the transformers model that has, or will have, the adapters."""
        self._folder, self._model, self._trained, self._processes = folder, model, trained, processes

    def publish(self, name: str, weights: Weights) -> Published:
        """Writes the adapters' files; `weights` are not read."""
        if not getattr(self._trained, "peft_config", None):
            return Published(name, self._model)
        folder = self._folder / name
        _written(folder, self._adapters(), self._processes.main, self._write)
        return Published(name, name, UNTRAINED, folder)

    async def held(self, server: SamplingServer, weights: Published) -> bool:
        """Whether the server has loaded these adapters."""
        return weights.model in await server.models()

    async def send(self, server: SamplingServer, weights: Published) -> None:
        """Replaces this run's earlier adapters on the server; see `WeightSync`."""
        for old in await server.models():
            if old.startswith(weights.name.rpartition("-")[0] + "-"):  # earlier ones of this policy
                await server.ask("POST", "/v1/unload_lora_adapter", {"lora_name": old})
        body = {"lora_name": weights.model, "lora_path": str(weights.folder)}
        try:
            await server.ask("POST", "/v1/load_lora_adapter", body)
        except ServerRefused as error:
            if await self.held(server, weights):  # another process already did
                return
            remedy = "start it with strop serve-sampler and this recipe on a machine that sees policy.folder"
            raise StropError(f"a vLLM server did not take the adapters ({error}); {remedy}") from None
        if not await self.held(server, weights):
            raise StropError(f"{server.url} loaded the adapters {weights.name} but does not report them")

    def _adapters(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The adapters under PEFT's names. Collective if they are sharded."""
        for name, weight in self._trained.named_parameters():
            if ".lora_" in name:
                yield f"base_model.model.{name.replace('.default.', '.')}", full(weight).detach()

    def _write(self, folder: Path, weights: Weights) -> None:
        from safetensors.torch import save_file

        tensors = {name: weight.cpu().contiguous() for name, weight in weights}
        save_file(tensors, folder / "adapter_model.safetensors")
        self._trained.peft_config["default"].save_pretrained(str(folder))


def _shards(weights: Weights, dtype: torch.dtype) -> Iterator[list[tuple[str, torch.Tensor]]]:
    """The weights in parts of about `_SHARD` bytes; floating-point ones converted to `dtype`."""
    shard: list[tuple[str, torch.Tensor]] = []
    size = 0
    for name, weight in weights:
        kind = dtype if weight.is_floating_point() else weight.dtype
        shard.append((name, weight.detach().to("cpu", kind).contiguous()))
        size += weight.numel() * shard[-1][1].element_size()
        if size >= _SHARD:
            yield shard
            shard, size = [], 0
    if shard:
        yield shard


def _written(folder: Path, weights: Weights, writes: bool, write: Callable[[Path, Weights], None]) -> None:
    """One process writes, completely or not at all; all read, since gathering sharded weights needs all processes."""
    if not writes:
        deque(weights, maxlen=0)
        return
    rest, part = iter(weights), folder.with_name(f"{folder.name}.part")
    try:
        with writing(folder):
            part.mkdir(parents=True)
            write(part, rest)
            part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        deque(rest, maxlen=0)
        raise
