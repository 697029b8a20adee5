"""Code that runs inside a vLLM server: workers that read weights from files, and a check of every caller's key."""

import hmac
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

_OPEN = ("/health",)
"""Paths that need no key."""


class WeightFiles:
    """A worker extension for vLLM (`--worker-extension-cls`) that loads weights from files."""

    def load_weight_files(self: Any, folder: str) -> int:
        """Loads the weights from a folder of safetensors files, then compares those that vLLM keeps in the same shape
        with the files; returns the number compared. Raises RuntimeError if one differs.
        """
        with torch.no_grad():
            self.reload_weights(weights_iterator=_tensors(Path(folder)))
            model = self.model_runner.get_model()
            repack_heads(model)
            held, same = dict(model.named_parameters()), 0
            for name, tensor in _tensors(Path(folder)):
                mine = held.get(name)
                if mine is not None and mine.shape == tensor.shape:
                    if not torch.equal(mine, tensor.to(mine)):
                        raise RuntimeError(f"{name} differs from the file in {folder}")
                    same += 1
        return same


def repack_heads(model: torch.nn.Module) -> None:
    """Repacks the weights of the head on a CPU.

    `reload_weights` of vLLM 0.32 skips a head that is tied to the embedding, which would keep the old weights.
    """
    for module in model.modules():
        weight = getattr(module, "weight", None)
        if hasattr(module, "cpu_linear") and isinstance(weight, torch.Tensor) and weight.numel():
            method: Any = getattr(module, "quant_method", None)
            if method is not None:
                method.process_weights_after_loading(module)


class ApiKeyMiddleware:
    """An ASGI middleware (`--middleware`): every path but /health needs the key in VLLM_API_KEY. vLLM itself checks it
    only on some paths, not on those that load weights.
    """

    def __init__(self, app: Any) -> None:
        self._app, self._key = app, f"Bearer {os.environ['VLLM_API_KEY']}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request without the key with status 401; passes on all others."""
        if scope["type"] in ("http", "websocket") and scope["path"] not in _OPEN:
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._key):
                if scope["type"] == "http":
                    head = {"type": "http.response.start", "status": 401}
                    await send({**head, "headers": [(b"content-type", b"application/json")]})
                    await send({"type": "http.response.body", "body": b'{"error": "Unauthorized"}'})
                return
        await self._app(scope, receive, send)


def _tensors(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    from safetensors import safe_open

    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118  (it is not a mapping)
                yield name, file.get_tensor(name)
