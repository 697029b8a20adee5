"""Agents that talk to a play's endpoint by plain HTTP, and plays with them."""

import http.client
import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from strop.environments.registry import bind, find_environment
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.play import JailedFolder, PlayLimits
from strop_verify.core.protocols import Policy
from strop_verify.core.rollout import Message, Rollout, SamplingParams
from strop_verify.core.task import Task

WIRE = WireTokenizer()
Agent = Callable[[str, Task, JailedFolder], object]


def task(number: int = 0) -> Task:
    """Return x + 1."""
    check = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=2), Case(args=[5], expected=6)])
    return Task(id=f"t{number:03}", statement="Return x + 1.", check=check, signature="def f(x: int) -> int:")


RIGHT = "def f(x):\n    return x + 1\n"


def post(url: str, data: Any, *, path: str = "/chat/completions", seconds: float = 60) -> tuple[int, Any]:
    """(status, body): JSON, or the events of a stream as a list."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
    body = data if isinstance(data, bytes | str) else json.dumps(data)
    connection.request("POST", parts.path + path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if text.startswith(("data: ", ": ")):
        lines = [line[6:] for line in text.split("\n\n") if line.startswith("data: ")]
        return answer.status, [json.loads(line) for line in lines if line != "[DONE]"]
    return answer.status, json.loads(text) if text.startswith("{") else text


def user(text: str) -> dict[str, str]:
    """A message."""
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    """A message of the assistant."""
    return {"role": "assistant", "content": text}


def ask(url: str, messages: Sequence[dict[str, Any]], **more: Any) -> str:
    """What the policy says; fails where that is an error."""
    status, body = post(url, {"model": "policy", "messages": list(messages), **more})
    assert status == 200, body
    if more.get("stream"):
        return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in body)
    return str(body["choices"][0]["message"]["content"])


def echo(prompt: Sequence[int], seed: int, index: int) -> str:
    """A script: what was said last, and that it was heard."""
    messages = WIRE.messages(prompt)
    assert messages
    return f"heard {messages[-1].content}"


def shown(rollout: Rollout, row: int = 0) -> list[Message]:
    """The conversation in a row's tokens, by a scripted policy."""
    ids = [
        number for turn in rollout.rows()[row] for number in (*turn.prompt_ids, *turn.completion.token_ids)
    ]
    return WIRE.messages(ids) or []


def dispatcher_of(
    verifier: Any, agent: Agent | None = None, *, policy: Policy | None = None, limits: PlayLimits | None = None,
    order: Any = "as-ready", **options: Any,
) -> Dispatcher:  # fmt: skip
    """Plays with an agent, a function here or a `command`."""
    from strop.config.tasks import EnvironmentConfig

    kind = find_environment(
        EnvironmentConfig(type="harness", **({"play": agent} if agent else {}), **options)
    )
    return Dispatcher(
        policy or ScriptedPolicy(echo), verifier, bind(kind, "chat"), limits=limits, order=order,
    )  # fmt: skip


def play(verifier: Any, agent: Agent | None = None, *, max_tokens: int = 4000, **more: Any) -> Rollout:
    """One play."""
    (found,) = dispatcher_of(verifier, agent, **more).play(
        [task()], 1, SamplingParams(max_tokens=max_tokens), seed=1
    )
    return found
