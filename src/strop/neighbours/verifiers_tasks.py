"""Plays installed tasksets of verifiers 0.4 by name:

    tasks: {source: "verifiers:NAME", environment: verifiers}
    rewards: [{name: verifiers}]

A play is one question and one answer, scored by the taskset's own weighted rewards. Tasks that need more (a container,
tools, a simulated user, setup, rewards that inspect a runtime) are refused when they are loaded. A reward that raises
leaves its rollout unscored. The taskset's code runs in Strop's process, outside the jail, as in verifiers.
"""

import asyncio
import inspect
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from strop_verify.core.checks import NoneCheck
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.play import Done, Next, Opening
from strop_verify.core.protocols import JudgedRollout, batched
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task

_KEY = "verifiers"
"""Metadata key of the taskset's name and the task's own data."""
_SECONDS = 600.0
"""Time limit for scoring an answer if the task has none."""
_log = logging.getLogger(__name__)


def load(name: str) -> Iterator[Task]:
    """The tasks of an installed taskset. Raises UserError for one that cannot be played here."""
    vf = _library()
    try:
        taskset = vf.load_taskset(vf.taskset_config_type(name)(id=name))
        environment = vf.environment_class(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise UserError(
            f"verifiers:{name}: no taskset of verifiers 0.4 with this name is installed ({said})"
        ) from error
    if environment is not vf.SingleAgentEnv:
        raise _refused(name, f"its own environment, {environment.__name__}")
    if not taskset.bounded:
        raise _refused(name, "a limit, since it is infinite")
    if type(taskset).toolsets(taskset.config):
        raise _refused(name, "tools")
    for task in taskset:
        if lacking := _lacking(vf, task):
            raise _refused(name, lacking)
        yield Task(
            id=f"{name}-{task.hash[:16]}",
            family=_KEY,
            language="text",
            statement=task.data.prompt_text,
            check=NoneCheck(),
            source=f"verifiers:{name}",
            metadata={_KEY: {"taskset": name, "data": task.data.model_dump(mode="json")}},
        )


class ForeignTask:
    """Environment `verifiers`: the taskset's own prompt; the whole reply is the answer."""

    def __init__(self, task: Task, opening: Opening, read: object) -> None:
        self._messages = [Message(**message) for message in _asked(task)]
        self._most = opening.max_tokens

    def begin(self) -> Opening:
        """Opens the play with the taskset's prompt."""
        return Opening(messages=tuple(self._messages), max_tokens=self._most)

    def step(self, completion: Completion) -> Next:
        """The first reply is the answer."""
        return Done(completion.text)

    def result(self, effect: Any, result: Any) -> Next:
        """Never called: this environment asks for no effects."""
        raise NotImplementedError


@batched
def score(rollouts: Sequence[JudgedRollout]) -> list[float | None]:
    """Reward `verifiers`: the weighted sum of the taskset's own rewards for an answer."""
    vf = _library()

    async def all_of_them() -> list[float | None]:
        return await asyncio.gather(*(_scored(vf, one) for one in rollouts))

    with ThreadPoolExecutor(
        1
    ) as pool:  # the caller, such as a notebook, may run an event loop in its own thread
        return pool.submit(lambda: asyncio.run(all_of_them())).result()


async def _scored(vf: Any, judged: JudgedRollout) -> float | None:
    from verifiers.v1.state import state_cls

    name = _own(judged.task)["taskset"]
    kind = vf.task_type(name)
    data = kind.data_type().model_validate(_own(judged.task)["data"])
    task = kind(data, vf.taskset_config_type(name)(id=name).task)
    makes = {"system": vf.SystemMessage, "user": vf.UserMessage}
    messages = [makes[m["role"]](content=m["content"]) for m in _asked(judged.task)]
    messages.append(vf.AssistantMessage(content=judged.rollout.answer))
    trace = vf.Trace(
        task=vf.TraceTask(type=kind.__name__, data=data, key=task.key, hash=task.hash),
        state=state_cls(kind)(),
        agent=vf.AgentInfo(config=vf.AgentConfig(runtime=vf.SubprocessConfig())),
        nodes=[
            vf.MessageNode(parent=at - 1 if at else None, message=message, sampled=at == len(messages) - 1)
            for at, message in enumerate(messages)
        ],
    )
    try:
        await asyncio.wait_for(task.score(trace), data.timeout.scoring or _SECONDS)
    except Exception as error:  # the taskset's own code
        _log.warning("%s was not scored: %s: %s", judged.task.id, type(error).__name__, error)
        return None
    return None if None in trace.rewards.values() else float(trace.reward)


def _lacking(vf: Any, task: Any) -> str:
    """What a task needs but Strop lacks; "" for a task that can be played."""
    kind, data = type(task), task.data
    hooks = [*task.hooks("reward"), *task.hooks("metric")]
    if kind.NEEDS_CONTAINER or data.image:
        return "a container"
    if kind.toolsets(task.config):
        return "tools"
    if data.prompt is None:
        return "a user who opens the conversation"
    if prepared := [n for n in ("setup", "finalize") if getattr(kind, n) is not getattr(vf.Task, n)]:
        return f"its {prepared[0]} in a runtime"
    if looking := [hook.__name__ for hook in hooks if "runtime" in inspect.signature(hook).parameters]:
        return f"a runtime for its {looking[0]}"
    if not task.hooks("reward"):
        return "rewards, but it has none"
    told = data.prompt if isinstance(data.prompt, list) else ()
    if odd := [m for m in told if m.role not in ("system", "user") or not isinstance(m.content, str)]:
        return f"a prompt of more than text: a message of {odd[0].role}"
    return ""


def _asked(task: Task) -> list[dict[str, str]]:
    """The prompt as messages, each with its role and content."""
    data = _own(task)["data"]
    prompt = data["prompt"]
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if data.get("system_prompt"):
        messages = [{"role": "system", "content": data["system_prompt"]}, *messages]
    return [{"role": m["role"], "content": m["content"]} for m in messages]


def _own(task: Task) -> Any:
    if (own := task.metadata.get(_KEY)) is None:
        raise UserError(
            f"task {task.id} is not from a taskset of verifiers; load such tasks with tasks.source=verifiers:NAME"
        )
    return own


def _refused(name: str, lacking: str) -> UserError:
    return UserError(f"verifiers:{name}: needs {lacking}; play it with verifiers itself")


def _library() -> Any:
    return require("verifiers.v1", package="verifiers", extra="verifiers", purpose="a taskset of verifiers")
