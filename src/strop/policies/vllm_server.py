"""The `vllm-server` engine: samples with vLLM servers that `strop serve-sampler` started, by token ids.

1. Rows of one group, and all turns of one play, go to one server, to use its prefix cache; the first row of a group
   goes to the server with the fewest rows.
2. Nothing is sampled until every server reports the weights of `update`. A completion says which weights sampled it; it
   is discarded if they are not those.
3. A lost server gets the current weights when it is back, before it samples again; meanwhile its rows go to others.
4. A completion contains every sampled token and log-probs under the sampling distribution (`processed_logprobs`).
"""

import asyncio
import contextlib
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any
from weakref import WeakKeyDictionary

from strop.config.model import VllmServerPolicyConfig as ServerConfig
from strop.policies.remote_policy import AskingPolicy
from strop.policies.sampling_server import SamplingServer, ServerLost, ServerRefused, open_client
from strop.policies.tokenizer import HubTokenizer
from strop.policies.vllm_engine import check_room, completion_of, sampling_of
from strop.policies.weight_sync import UNTRAINED, Processes, Published, Weights, WeightSync
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import CacheHandle, Request, Tokenizer
from strop_verify.core.rollout import Completion

_TRIES = 5
"""Maximum number of times that a row is requested if its server is lost each time."""
_PLACES = 100_000
"""Maximum number of prompts whose server is remembered."""


class VllmServerPolicy(AskingPolicy):
    """Samples from the servers of `config.urls`. Not thread-safe; all training processes open and update it."""

    def __init__(
        self, config: ServerConfig, tokenizer: HubTokenizer, *, key: str, name: str, processes: Processes
    ) -> None:
        """Waits until every server is healthy. Raises UserError, StropError. Set `sync` before `update`."""
        super().__init__()
        self.name, self.version = name, 0
        self.tokenizer: Tokenizer = tokenizer
        self.sync: WeightSync
        self._hub, self._config, self._processes = tokenizer, config, processes
        self._client = open_client(key)
        self._servers = [SamplingServer(place, self._client, config.timeout_seconds) for place in config.urls]
        self._gate = asyncio.Semaphore(config.max_num_seqs * len(self._servers))
        self._served: Published | None = None
        self._published: list[Published] = []
        self._places: dict[int, SamplingServer] = {}
        self._plays: WeakKeyDictionary[CacheHandle, SamplingServer] = WeakKeyDictionary()
        self._mending: dict[SamplingServer, asyncio.Task[None]] = {}
        self._number, self._once = 0, processes.gather(secrets.token_hex(4))[0]
        self.context: int | None = None
        try:
            self.context = min(self._run_each(self._look))
        except BaseException:
            self.close()
            raise

    def take_as_they_are(self) -> None:
        """Samples with the weights that the servers loaded at startup. Raises UserError if one has other weights."""
        self.sync, self._served = WeightSync(), Published(UNTRAINED, self.name)
        served = self._served
        self._run_each(lambda server: self._give(server, served))

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`. Raises UserError for a prompt that is too long, StropError before `update`."""
        check_room(request, self.context)
        if self._served is None:
            raise StropError("the vLLM servers do not have the weights of this step yet; call update first")
        return super().submit(request)

    def update(self, version: int, weights: Weights) -> None:
        """See `core.protocols.Trainable`. Returns when every server has the weights; nothing is sampled until then."""
        if any(not future.done() for future in self._in_flight):
            remedy = "wait for them or cancel them"
            raise StropError(f"weights cannot change while rows are being sampled; {remedy}")
        self._served = None
        self._begin(self._stop_mending()).result()
        self._processes.together(lambda: self._run_each(lambda server: server.find(self._deadline())))
        self._number += 1
        name = f"strop-{self._once}-{self._number}"
        served = self._processes.agreed(lambda: self.sync.publish(name, weights))
        self._published.append(served)
        self._processes.together(lambda: self._run_each(lambda server: self._give(server, served)))
        self._places.clear()
        self._served, self.version = served, version
        self._remove(self._published[:-1])

    def close(self) -> None:
        """Cancels all requests and removes the files of the last weights. Safe to call twice."""
        super().close()
        self._remove(self._published)

    async def _closing(self) -> None:
        await self._client.aclose()

    async def _look(self, server: SamplingServer) -> int:
        """A server's context length. Raises UserError if it serves another model."""
        await server.find(self._deadline())
        models = await server.models()
        if self.name not in models:
            remedy = "start it with the same recipe"
            raise UserError(f"{server.url} serves {', '.join(models)}, not model.name={self.name}; {remedy}")
        return int(models[self.name]["max_model_len"])

    async def _give(self, server: SamplingServer, weights: Published) -> None:
        """Returns once a server has these weights, even if it is lost repeatedly before the deadline."""
        end, server.holds = self._deadline(), ""
        while True:
            await server.find(end)
            try:
                if not await self.sync.held(server, weights):
                    await self.sync.send(server, weights)
                break
            except ServerLost:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.5)  # it reports health, but does not answer
        server.holds = weights.name

    async def _ask(self, request: Request) -> Completion:
        async with self._gate:
            lost: Exception | None = None
            for _ in range(_TRIES):
                served = self._served
                assert served is not None
                server = await self._server_for(request, served)
                server.rows += 1
                try:
                    return await self._sampled(server, request, served)
                except ServerLost as error:
                    lost = error
                    self._mend(server, served)
                finally:
                    server.rows -= 1
            raise StropError(f"a row was lost {_TRIES} times, last: {lost}") from lost

    async def _server_for(self, request: Request, served: Published) -> SamplingServer:
        """A server with these weights; waits for one. Raises UserError if every server is lost."""
        place = hash(tuple(request.prompt))
        while True:
            well = [server for server in self._servers if server.holds == served.name]
            if well:
                home = self._plays.get(request.play) if request.play is not None else None
                home = home or self._places.get(place)
                if home not in well:
                    home = min(well, key=lambda server: server.rows)
                if len(self._places) >= _PLACES:
                    self._places.clear()
                self._places[place] = home
                if request.play is not None:
                    self._plays[request.play] = home
                return home
            tasks = [self._mend(server, served) for server in self._servers]
            _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            faults = [error for task in tasks if task.done() and (error := task.exception()) is not None]
            for fault in faults:
                if isinstance(fault, UserError):  # waiting would not help
                    raise fault
            if not waiting and len(faults) == len(tasks):
                raise UserError(f"every vLLM server is lost; {faults[0]}") from faults[0]

    def _mend(self, server: SamplingServer, served: Published) -> "asyncio.Task[None]":
        """A task that waits for a lost server and gives it the weights; one per server."""
        server.holds = ""
        if server not in self._mending or self._mending[server].done():
            self._mending[server] = asyncio.ensure_future(self._give(server, served))
        return self._mending[server]

    async def _stop_mending(self) -> None:
        """Stops giving old weights to servers."""
        tasks = list(self._mending.values())
        self._mending.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _sampled(self, server: SamplingServer, request: Request, served: Published) -> Completion:
        body = {
            "model": served.model,
            "token_ids": list(request.prompt),
            "sampling_params": sampling_of(request, self._hub),
            "cache_salt": served.name,  # so that no prefix of other weights is used
        }
        try:
            choice = (await server.ask("POST", "/inference/v1/generate", body))["choices"][0]
            spans = {span["version"] for span in choice["weight_versions"] or ()}
            ids, tokens = choice["token_ids"], choice["logprobs"]["content"]
            ended = choice["finish_reason"], choice["stop_reason"]
        except ServerRefused as error:
            if error.status in (400, 413, 422):
                raise UserError(f"vLLM refuses a row: {error}") from None
            # It does not know the adapter, or failed.
            raise ServerLost(str(error)) from error
        except (LookupError, TypeError) as error:
            what = f"{server.url} answers unlike vLLM 0.32 ({type(error).__name__}: {error})"
            raise StropError(f"{what}; use the version in docs/gpu.md") from error
        if spans != {served.version}:
            raise ServerLost(f"{server.url} sampled with {', '.join(spans)}, not with {served.version}")
        logprobs = [float(token["logprob"]) for token in tokens]
        return completion_of(request, self._hub, self.version, ids, logprobs, ended)

    def _remove(self, old: Sequence[Published]) -> None:
        """Removes the files of weights that are no longer used."""
        for folder in [one.folder for one in old if one.folder is not None] if self._processes.main else ():
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # not empty
                folder.parent.rmdir()
        self._published = [one for one in self._published if one not in old]

    def _run_each(self, work: Callable[[SamplingServer], Any]) -> list[Any]:
        """Runs `work` for all servers at once, in the thread; raises the first error."""

        async def run() -> list[Any]:
            return await asyncio.gather(*(work(server) for server in self._servers))

        most = self._config.wait_seconds + self._config.timeout_seconds
        with PROGRESS.at("waiting for the vLLM servers", most=most):
            return self._begin(run()).result()

    def _deadline(self) -> float:
        return time.monotonic() + self._config.wait_seconds
