"""A policy behind the endpoint of `strop serve-policy`, in this process, and OpenAI's client of it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from openai import OpenAI

from strop.policies.chat_options import ChatTerms
from strop.policies.chat_server import ChatServer
from strop.policies.model_calls import MODEL_FORMS
from strop.serve.policy_service import MOST_CHOICES, PolicyService
from strop_verify.core.listening import listen
from strop_verify.core.protocols import Policy
from strop_verify.core.rollout import SamplingParams

CALL_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}
LOOK: dict[str, Any] = {"type": "function", "function": {"name": "look", "parameters": CALL_SCHEMA}}
PUT: dict[str, Any] = {"type": "function", "function": {"name": "put", "parameters": CALL_SCHEMA}}


@dataclass
class Served:
    """A server that runs."""

    url: str
    client: OpenAI

    def post(self, path: str, body: Any) -> httpx.Response:
        """As no client would send it."""
        content = body if isinstance(body, bytes) else None
        data = None if content is not None else body
        return httpx.post(self.url + path, content=content, json=data, timeout=60, trust_env=False)


@contextmanager
def served(policy: Policy, *, calls: str = "hermes", max_tokens: int = 64, **terms: Any) -> Iterator[Served]:
    """Serves a policy while it is used."""
    service = PolicyService(policy, SamplingParams(max_tokens=max_tokens), 1)
    given = {"choices": MOST_CHOICES, "logprobs": True, "calls": MODEL_FORMS[calls], **terms}
    server = ChatServer(
        listen("127.0.0.1", 0),
        service.ask,
        model=policy.name,
        terms=ChatTerms(policy.name, **given),
        connections=256,
    )
    threading.Thread(target=service.run, daemon=True).start()
    client = OpenAI(
        base_url=server.url, api_key="x", max_retries=0, http_client=httpx.Client(trust_env=False, timeout=20)
    )
    try:
        yield Served(server.url, client)
    finally:
        client.close()
        server.close()


def user(text: str) -> Any:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]
