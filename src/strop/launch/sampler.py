"""vLLM's own OpenAI server for a recipe: its arguments, its process, and the file that holds its URL."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from strop.config.model import VllmServerPolicyConfig
from strop.config.schema import Recipe
from strop.policies.open import longest_answers, longest_play
from strop.policies.sampling_server import name_of_host, read_key
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.files import atomic, check_writable

_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts as the largest rank of adapters."""
_GRACE = 20.0
"""Seconds between SIGTERM and SIGKILL."""


def serve(recipe: Recipe, file: Path, host: str, port: int) -> None:
    """Runs a server until it is terminated, with its URL in `file` while it is healthy; leaves no process behind.

    Raises UserError for an unsuitable recipe or machine, StropError if the server ends or does not start in time.
    """
    config = recipe.policy
    if not isinstance(config, VllmServerPolicyConfig):
        raise UserError(f"policy.engine={config.engine} needs no server; add policy.engine=vllm-server")
    if find_spec("vllm") is None:
        how = "pip install vllm on a GPU, make vllm or pip install 'strop[vllm]' on a CPU"
        raise UserError(f"serve-sampler needs vllm: {how}")
    import torch

    check_writable(file)
    key = read_key(os.environ)
    port = port or _free_port(host)
    eager = config.enforce_eager and not torch.cuda.is_available()
    url = f"http://{name_of_host(host)}:{port}"
    file.unlink(missing_ok=True)  # left by an earlier server
    with _running([*_arguments(recipe, config), "--host", host, "--port", str(port)], key, eager) as server:
        try:
            _until_well(server, f"http://{_near(host)}:{port}", config.wait_seconds)
            with atomic(file) as out:
                out.write(f"{url}\n".encode())
            print(f"sampling on {url}", flush=True)
            raise StropError(f"vLLM ended unexpectedly with code {server.wait()}; its last output is above")
        finally:
            file.unlink(missing_ok=True)


def _arguments(recipe: Recipe, config: VllmServerPolicyConfig) -> list[str]:
    """The arguments of `vllm serve` that the policy needs."""
    import torch

    from strop.policies.loading import model_path, resolve_dtype

    model, longest = recipe.model, longest_play(longest_answers(recipe))
    options: dict[str, Any] = {
        **config.arguments(longest, gpu=torch.cuda.is_available()),
        "model": model_path(model.name, model.revision),
        "served_model_name": model.name,
        "revision": model.revision,
        "dtype": str(resolve_dtype(model.sampling_dtype)).removeprefix("torch."),
        "worker_extension_cls": "strop.policies.vllm_worker.WeightFiles",
        "middleware": "strop.policies.vllm_worker.ApiKeyMiddleware",
        "enable_scale_out": True,
        "disable_uvicorn_access_log": True,
    }
    if recipe.sends_adapters:
        rank = next((one for one in _RANKS if one >= model.lora.rank), None)
        if rank is None:
            raise UserError(
                f"model.lora.rank={model.lora.rank}: vLLM supports at most {_RANKS[-1]}; lower it, or set "
                "policy.sync=files"
            )
        options |= {"enable_lora": True, "max_lora_rank": rank, "max_loras": 1, "max_cpu_loras": 2}
    given = {f"--{name.replace('_', '-')}": value for name, value in options.items() if value is not None}
    return [
        name if value is True else f"{name}={value}" for name, value in given.items() if value is not False
    ]


@contextmanager
def _running(arguments: list[str], key: str, eager: bool) -> Iterator["subprocess.Popen[bytes]"]:
    """The server's process, which is ended on exit with all its descendants."""
    environment = {
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        **os.environ,
        "VLLM_API_KEY": key,
        "VLLM_SERVER_DEV_MODE": "1",  # enables the routes that load weights
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    if eager:  # also skips the compilation of the sampler, which delays the first token by many seconds
        environment["TORCHDYNAMO_DISABLE"] = "1"
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *arguments]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        try:
            process.terminate()  # vLLM ends its own processes
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _until_well(server: "subprocess.Popen[bytes]", url: str, seconds: float) -> None:
    import httpx

    end = time.monotonic() + seconds
    with httpx.Client(timeout=10, trust_env=False) as client:
        while True:
            with suppress(httpx.TransportError):
                if client.get(f"{url}/health").status_code == 200:
                    return
            if time.monotonic() > end:
                raise StropError(f"vLLM was not ready within policy.wait_seconds={seconds:g}; raise it")
            with suppress(subprocess.TimeoutExpired):
                code = server.wait(0.5)
                raise StropError(
                    f"vLLM ended before it was ready, with code {code}; its last output is above"
                )


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, 0), family=family) as found:
            return int(found.getsockname()[1])
    except OSError as error:
        raise UserError(f"--host {host}: cannot listen there ({error.strerror or error})") from None


def _near(host: str) -> str:
    """The host of a URL by which this machine reaches a server bound to `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
