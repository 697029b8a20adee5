"""Checks whether an agent can be trained as it is: plays a toy task at a play's own endpoint, with an expert as the
policy, and reports what it observed. Nothing is judged, and no model is loaded.
"""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strop.config.schema import Recipe
from strop.environments.harness import Harness
from strop.environments.registry import played_by
from strop.evaluation.answering import Unjudged
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import rng
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task

TASK = Task(
    id="agent-check",
    statement="The function double in the file solution.py is wrong: double(x) must return 2 * x. Mend the file.",
    signature="def double(x: int) -> int:",
    reference="def double(x: int) -> int:\n    return 2 * x\n",
    check=CasesCheck(entry_point="double", cases=[Case(args=[3], expected=6)]),
    metadata={"broken": "def double(x: int) -> int:\n    return x\n"},
)
_KEY = re.compile(r"\b(?!OPENAI_API_KEY)[A-Z][A-Z0-9_]*_(?:API_KEY|TOKEN)\b")
_NO_KEY = re.compile(r"api[_ -]?key|credentials", re.IGNORECASE)
_URL = re.compile(r"https?://(?!127\.0\.0\.1)[\w.-]+(?::\d+)?[\w/.-]*")
_UNREACHED = re.compile(
    r"connection ?(?:error|refused)|connect ?error|name or service not known|name resolution|network is unreachable|"
    r"Errno 13\] permission denied(?!:)",
    re.IGNORECASE,
)
_NO_MODULE = re.compile(r"No module named '?([\w.]+)")
_NO_FILE = re.compile(r"(?:No such file or directory|Permission denied)[^/\n]{0,20}(/[^\s'\":]+)")
_TAIL = 400


@dataclass(frozen=True)
class AgentFinding:
    """One check: its name, whether it passed, and what was observed."""

    what: str
    right: bool
    said: str

    def __str__(self) -> str:
        return f"{'ok' if self.right else 'missing':<9}{self.what}: {self.said}"


@dataclass
class HeardRequest:
    """A request, and how it was answered.

    at      seconds after the play began
    refused the endpoint's reason for not answering
    """

    path: str
    at: float
    key: bool
    body: bytes = b""
    status: int = 0
    refused: bytes = b""

    @property
    def data(self) -> Mapping[str, Any]:
        """Its body; empty unless that is a JSON object."""
        try:
            found = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def results(self) -> int:
        """Number of tool results in it."""
        messages, items = (self.data.get(name) for name in ("messages", "input"))
        said = [one for some in (messages, items) if isinstance(some, list) for one in some]
        told = [one for one in said if isinstance(one, dict)]
        return sum(one.get("role") == "tool" or one.get("type") == "function_call_output" for one in told)

    @property
    def tools(self) -> list[str]:
        """Names of the tools that it offers."""
        listed = [one for one in self.data.get("tools") or () if isinstance(one, dict)]
        return [str((one.get("function") or one).get("name")) for one in listed]


@dataclass
class RequestLog:
    """Records an endpoint's requests, as ASGI middleware."""

    began: float = field(default_factory=time.monotonic)
    heard: list[HeardRequest] = field(default_factory=list)
    late: bool = False
    """Whether the agent was ended because it sent nothing."""

    @property
    def asked(self) -> list[HeardRequest]:
        """The requests that ask for an answer."""
        return [one for one in self.heard if one.path.startswith("POST")]

    def over(self, app: Any) -> Any:
        """The application with this recorder around it."""

        async def listening(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            key = any(name == b"authorization" for name, _ in scope["headers"])
            place = re.sub(r"^/[\w-]{32}(?=/)", "", scope["path"])
            one = HeardRequest(f"{scope['method']} {place}", time.monotonic() - self.began, key)
            self.heard.append(one)

            async def received() -> Any:
                event = await receive()
                one.body += event.get("body", b"")
                return event

            async def sent(event: Any) -> None:
                one.status = event.get("status", one.status)
                one.refused += event.get("body", b"") if one.status >= 400 else b""
                await send(event)

            await app(scope, received, sent)

        return listening


def check_agent(recipe: Recipe) -> Iterator[AgentFinding]:
    """The checks of the recipe's agent. Raises UserError if its environment is not `harness`."""
    if recipe.task_set.environment.type != "harness":
        raise UserError(
            f"tasks.environment.type={recipe.task_set.environment.type}: only the environment harness has agents"
        )
    # No model counts the prompts' tokens; an agent that sends nothing is ended here, to keep its output.
    most = recipe.play.setup_seconds
    changes = {"max_tokens": None, "setups": 1, "order": "as-ready", "setup_seconds": most + 60}
    recipe = recipe.model_copy(update={"play": recipe.play.model_copy(update=changes)})
    environment, log, made = played_by(recipe), RequestLog(), list[Any]()

    def agent(task: Task) -> Any:
        harness: Any = environment(task)
        harness.over = log.over
        made.append((harness, harness.demonstrate(rng(recipe.seed))))
        timer.start()
        return harness

    def give_up() -> None:
        if not log.asked:
            log.late = True
            made[0][0].stop()

    timer = threading.Timer(most, give_up)
    policy = ScriptedPolicy(lambda *_: next(made[-1][1]))
    player = dispatcher_of(recipe, policy, Unjudged(), agent, prompt=1 << 40)
    try:
        (rollout,) = player.play([TASK], 1, SamplingParams(max_tokens=1 << 20), seed=recipe.seed, tag="check")
    except UserError as error:
        yield AgentFinding("start", False, str(error))
        return
    finally:
        timer.cancel()
    harness: Harness = made[0][0]
    if not log.asked:
        what = f"none came in {most:g} s" if log.late else "none came, and it ended"
        yield AgentFinding("request", False, f"{what}{_silent(harness, log.heard)}")
        return
    changed = _changed(harness, rollout)
    yield from _asked(log.asked, changed.right)
    yield changed
    yield _ended(harness, rollout, log.asked)


def _asked(asked: Sequence[HeardRequest], changed: bool) -> Iterator[AgentFinding]:
    """Requests, the key, calls of tools."""
    answered = [one for one in asked if one.status < 400]
    paths = ", ".join(dict.fromkeys(one.path for one in asked))
    yield AgentFinding(
        "request", bool(answered), f"{paths}, {len(answered)} answered, the first after {asked[0].at:.1f} s"
    )
    for said in dict.fromkeys(_refusal(one) for one in asked if one.status not in (200, 403)):
        yield AgentFinding("refused", False, said)
    how = "is sent" if any(one.key for one in asked) else "none is sent, and a play's endpoint needs none"
    yield AgentFinding("key", True, how)
    tools = next((one.tools for one in answered if one.tools), [])
    results = max((one.results for one in asked), default=0)
    if not tools:
        yield AgentFinding("tools", True, "none is offered; the answer is read as text")
    elif results or len(answered) > 1:
        told = f"results of calls returned: {results or ('written as text' if changed else 0)}"
        yield AgentFinding("tools", bool(results) or changed, f"{', '.join(tools)[:200]}; {told}")


def _changed(harness: Harness, rollout: Rollout) -> AgentFinding:
    wanted, broken = TASK.reference.strip(), str(TASK.metadata["broken"]).strip()
    what = "answer" if harness.by == "message" else "files"
    if rollout.answer.strip() == wanted:
        return AgentFinding(what, True, "as in the policy's answer")
    if rollout.answer.strip() in ("", broken):
        why = "" if rollout.stop_reason == "answered" else f" (the play ended: {rollout.stop_reason})"
        fault = f"nothing was changed in the folder{why}: the agent did not understand or carry out the policy's answer"
        return AgentFinding(what, False, f"{fault}. {_printed(harness)}")
    return AgentFinding(
        what, False, f"solution.py differs from the policy's answer: {rollout.answer[:200]!r}"
    )


def _ended(harness: Harness, rollout: Rollout, asked: Sequence[HeardRequest]) -> AgentFinding:
    ran = harness.ended.ran if harness.ended else None
    own = sum(event.seconds for turn in rollout.turns for event in turn.events)
    said = [f"{len(rollout.turns)} turns", f"start {asked[0].at:.1f} s", f"between turns {own:.1f} s"]
    said += [f"status {ran.status}"] if ran else []
    said += ["it kept asking after its last turn"] if any(one.status == 403 for one in asked) else []
    return AgentFinding("end", True, ", ".join(said))


def _refusal(one: HeardRequest) -> str:
    try:
        said = json.loads(one.refused)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        said = one.refused.decode(errors="replace")[:200]
    hint = "; its base URL must end in /v1" if one.status == 404 else ""
    return f"{one.path}, status {one.status}: {said}{hint}"


def _silent(harness: Harness, heard: Sequence[HeardRequest]) -> str:
    """Why no request came, as far as its output shows."""
    printed = str(harness.ended or "")
    other = f" (it requested {heard[0].path})" if heard else ""
    hints = [
        f"it needs a key: tasks.environment.variables={{{one[0]}: none}}"
        if (one := _KEY.search(printed))
        else "no API key was read: its settings must take OPENAI_API_KEY"
        if _NO_KEY.search(printed)
        else "",
        f"it connects to {one[0]}, but can only reach its play's address: pass it {{url}}, or OPENAI_BASE_URL"
        if (one := _URL.search(printed))
        else "it connects to another endpoint, but can only reach its play's: pass it {url}, or OPENAI_BASE_URL"
        if _UNREACHED.search(printed)
        else "",
        f"package {one[1]} is not in the jail: tasks.environment.reads"
        if (one := _NO_MODULE.search(printed))
        else "",
        f"{one[1]} is not in the jail: tasks.environment.reads" if (one := _NO_FILE.search(printed)) else "",
    ]
    return f"{other}. {''.join(f'{hint}. ' for hint in hints if hint)}{_printed(harness)}"


def _printed(harness: Harness) -> str:
    text = str(harness.ended or "nothing").strip()
    return f"It left: {text[-_TAIL:]}"
