"""Plays environments of other projects that speak OpenEnv's protocol; their package is not needed.

    tasks: {source: "openenv:http://HOST:PORT", environment: openenv}
    rewards: [{name: openenv}]

A source is a URL, with the episodes after `#`: a split of the server's task API, or, for a server without one, a number
of seeds from 0. A completion is an action: its text if the action has one text field, else the JSON object in it.
Observations become messages; the reward is the environment's last one in the play. If the server refuses an action, the
policy is told why; if the server fails, the play ends unscored.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from strop_verify.core.checks import NoneCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.optional_packages import require
from strop_verify.core.play import Call, Do, Done, Next, Opening, Say
from strop_verify.core.rollout import Completion, Message, Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

_KEY = "openenv"
_SECONDS = 900.0
"""Seconds in which the server must answer."""
_MOST_BYTES = 16 << 20
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_CHARS = 20_000
"""Maximum characters of an observation that is not a list of messages."""


def load(rest: str) -> Iterator[Task]:
    """The episodes of `URL[#SPLIT]` or `URL#COUNT`. Raises UserError if the server does not respond as expected."""
    url, _, which = rest.partition("#")
    if not url.startswith(("http://", "https://")):
        raise UserError(
            f"openenv:{rest}: not the URL of a server; write openenv:http://HOST:PORT[#SPLIT or #COUNT]"
        )
    url = url.rstrip("/")
    if which.isdigit():
        for seed in range(int(which)):
            yield _episode(url, {"seed": seed}, f"seed {seed}")
        return
    name = _asked(url, "list_environments")[0]
    splits = [str(split["name"]) for split in _asked(url, f"{name}/splits")]
    split = which or splits[0]
    if split not in splits:
        raise UserError(f"openenv:{rest}: no split {split!r}; there are {', '.join(splits)}")
    for index in range(int(_asked(url, f"{name}/num_tasks", {"split": split})["num_tasks"])):
        yield _episode(url, {"split": split, "index": index}, f"{split} {index}")


class RemoteEnvironment:
    """Environment `openenv`: an episode of a remote server.

    action  the field of an action that holds the policy's text; by default its only text field
    rules   system prompt before the first observation
    """

    def __init__(
        self, task: Task, opening: Opening, read: object, *, action: str = "", rules: str = ""
    ) -> None:
        episode: Any = task.metadata.get(_KEY)
        if episode is None:
            raise UserError(
                f"task {task.id} is not an episode of a server; load such tasks with tasks.source=openenv:URL"
            )
        self._url, self._reset = str(episode["url"]), dict(episode["reset"])
        self._opening, self._field, self._rules = opening, action, rules
        self._reward: float | None = None
        self._socket: Any = None
        self._session = ExitStack()

    def setup(self) -> None:
        """Opens a session and gets the first observation. Raises VerificationError if the server fails."""
        client = _library("websockets.sync.client", "websockets")
        faults = _library("websockets.exceptions", "websockets")
        address = re.sub("^http", "ws", self._url) + "/ws"
        try:
            opened = client.connect(address, max_size=_MOST_BYTES, open_timeout=60)
            self._socket = self._session.enter_context(opened)
        except (OSError, TimeoutError, faults.InvalidHandshake) as error:
            raise VerificationError(f"{address} refused a session: {error}") from error
        if not self._field:
            self._field = _text_field(_asked(self._url, "schema").get("action") or {})
        self._first = self._sent("reset", self._reset)

    def begin(self) -> Opening:
        """Opens the play with the first observation. Raises VerificationError if the reset failed."""
        if isinstance(self._first, str):
            raise VerificationError(f"{self._url} failed to reset: {self._first}")
        rules = (Message(role="system", content=self._rules),) if self._rules else ()
        return Opening(messages=(*rules, *_said(self._first)), max_tokens=self._opening.max_tokens)

    def step(self, completion: Completion) -> Next:
        """Sends the action, or tells the policy why there is none."""
        if self._field:
            return Do(Call(self._sent, "step", {self._field: completion.text}))
        try:
            action = json.loads(found[0] if (found := _OBJECT.search(completion.text)) else "")
        except (ValueError, RecursionError):
            return Say((Message(role="user", content="An action is one JSON object."),))
        return Do(Call(self._sent, "step", action))

    def result(self, effect: Any, result: Any) -> Next:
        """Shows the next observation or the fault of the action, or ends the play."""
        if isinstance(result, str):
            return Say((Message(role="user", content=result),))
        if isinstance(reward := result.get("reward"), int | float):
            self._reward = float(reward)
        if result.get("done"):
            return Done(json.dumps({"reward": self._reward}))
        return Say(_said(result))

    def close(self) -> None:
        """Ends the session with the server."""
        self._session.close()

    def _sent(self, kind: str, data: dict[str, Any]) -> dict[str, Any] | str:
        """The observation that answers a message, or the reason why the server refuses it. Raises VerificationError."""
        try:
            self._socket.send(json.dumps({"type": kind, "data": data}))
            reply = json.loads(self._socket.recv(timeout=_SECONDS))
            said: dict[str, Any] = reply["data"]
        except Exception as error:  # the library's errors, and replies without the expected fields
            raise VerificationError(f"{self._url} failed: {type(error).__name__}: {error}") from error
        if reply.get("type") == "observation":
            return said
        code, text = said.get("code"), str(said.get("message", ""))[:_CHARS]
        if code == "VALIDATION_ERROR":
            faults = [f"{one.get('loc')}: {one.get('msg')}" for one in said.get("errors") or ()]
            return "\n".join(["The action was refused: " + text, *faults])[:_CHARS]
        raise VerificationError(f"{self._url}: {code}: {text}")


def score(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
    """Reward `openenv`: the server's last reward; 0 for a play that the server did not end."""
    if rollout.stop_reason != "answered":
        return 0.0
    reward: float | None = json.loads(rollout.answer)["reward"]
    return reward


def _episode(url: str, reset: dict[str, Any], name: str) -> Task:
    return Task(
        family=_KEY,
        language="text",
        statement=f"{name} at {url}",
        check=NoneCheck(),
        source=f"openenv:{url}",
        metadata={_KEY: {"url": url, "reset": reset}},
    )


def _said(observation: dict[str, Any]) -> tuple[Message, ...]:
    """An observation as messages: its own messages, its only text field, or all of it as JSON."""
    held = observation.get("observation") or {}
    messages = held.get("messages")
    if isinstance(messages, list) and messages:
        return tuple(Message(role=one["role"], content=str(one["content"])) for one in messages)
    texts = [value for key, value in held.items() if isinstance(value, str) and key not in ("done", "reward")]
    return (Message(role="user", content=(texts[0] if len(texts) == 1 else json.dumps(held))[:_CHARS]),)


def _text_field(schema: dict[str, Any]) -> str:
    """The only required field of an action if it is text, else ""."""
    fields, needed = schema.get("properties") or {}, schema.get("required") or []
    return needed[0] if len(needed) == 1 and fields.get(needed[0], {}).get("type") == "string" else ""


def _asked(url: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The JSON that a route of the server returns. Raises UserError if it fails."""
    httpx = _library("httpx", "httpx")
    try:
        how = httpx.post(f"{url}/{path}", json=body) if body is not None else httpx.get(f"{url}/{path}")
        return how.raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        raise UserError(
            f"openenv:{url}: {path} failed ({' '.join(str(error).split())[:120]}); start the server, or name "
            f"a number of seeds for one without a task API: openenv:{url}#100"
        ) from error


def _library(module: str, package: str) -> Any:
    return require(module, package=package, extra="openenv", purpose="openenv:URL")
