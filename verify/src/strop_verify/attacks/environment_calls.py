"""Asks an environment package of verifiers for its rewards. This file runs in the jail, beside `known_calls`, with a
Python that has the packages but not Strop: standard library only.

Input: a JSON line `{"token", "package", "cheats": {name: text}, "start", "count", "seconds"}`. Output: JSON lines
prefixed with the token: `{"refused"}`, or for each task `{"task", "solution", "rewards", "notes"}`, then `{"left"}`.
Every reply is scored in a separate process. Process pools of reward functions run in that process, since the jail has
no semaphores.
"""

import asyncio
import concurrent.futures
import contextlib
import functools
import importlib
import itertools
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

known: Any = importlib.import_module(f"{__package__}.known_calls" if __package__ else "known_calls")
Row = dict[str, Any]
_SOLUTIONS = (
    "answer",
    "solution",
    "canonical_solution",
    "reference",
    "ground_truth",
    "gold",
    "target",
    "expected",
)
"""Fields of a row that may hold the right answer."""
_NAME = re.compile(r"\b(?:def|assert|entry_point|fn_name|function_name)\W{1,6}(\w+)")
_USUAL = ("solution", "solve", "main")


class ReplyTask:
    """One task: its row, its prompt as text, and its scoring function."""

    def __init__(
        self, name: str, row: Row, prompt: str, score: Callable[[str], float], parser: Any = None
    ) -> None:
        self.name, self.row, self.prompt, self.score, self._parser = name, row, prompt, score, parser
        self.metrics: Collection[str] = ()
        """Names of reward functions that have no weight."""

    def solutions(self) -> list[str]:
        """The row's right answers as texts."""
        info = self.row.get("info")
        places = [self.row, info if isinstance(info, Mapping) else {}]
        found = [place[key] for place in places for key in _SOLUTIONS if key in place]
        return list(
            dict.fromkeys(
                str(one) for one in found if isinstance(one, str | int | float) and str(one).strip()
            )
        )

    def filled(self, text: str) -> str:
        """A cheat's text with the names and the prompt of this task filled in."""
        named = _NAME.findall(f"{self.prompt} {json.dumps(self.row, default=str)}")
        names = list(dict.fromkeys([*named, *_USUAL]))
        return text.replace("@NAMES@", repr(names)).replace("@PROMPT@", self.prompt)

    def forms(self, text: str) -> list[str]:
        """A reply in the forms that environments read: bare, as code, boxed, between tags, and in the parser's
        format."""
        found = [text, f"```python\n{text}\n```", f"\\boxed{{{text}}}", f"<answer>{text}</answer>"]
        field, form = getattr(self._parser, "answer_field", None), getattr(self._parser, "format", None)
        if callable(form) and isinstance(field, str):
            with contextlib.suppress(Exception):  # a parser may require further fields
                found.append(str(form(**{field: text})))
        return found


class _Here(concurrent.futures.Executor):
    """Replaces a process pool: runs in the calling process."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def submit(
        self, work: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> "concurrent.futures.Future[Any]":
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class _Raised(logging.Handler):
    """Keeps the first logged error: verifiers logs what a reward function raises, and counts 0. `metrics` are functions
    without weight, whose errors do not matter.
    """

    said = ""

    def __init__(self, metrics: Collection[str]) -> None:
        super().__init__(logging.ERROR)
        self._metrics = metrics

    def emit(self, record: logging.LogRecord) -> None:
        told = record.getMessage()
        if not any(f" {name}:" in told for name in self._metrics):
            self.said = self.said or told


def reply_tasks(package: str) -> Iterator[ReplyTask]:
    """The tasks of a package. Raises ValueError, with what it needs, for one that single replies cannot answer."""
    name = package.replace("-", "_").rpartition("/")[2]
    if hasattr(importlib.import_module(name), "load_environment"):
        return _of_environment(name)
    return _of_taskset(name)


def _of_environment(name: str) -> Iterator[ReplyTask]:
    """The tasks of a module with `load_environment`, as before verifiers 0.4: its data set and its rubric."""
    vf: Any = importlib.import_module("verifiers")
    types: Any = importlib.import_module("verifiers.types")
    environment = vf.load_environment(name)
    if not isinstance(environment, vf.SingleTurnEnv):
        raise ValueError(
            f"it is a {type(environment).__name__}: only environments with one reply can be tested"
        )
    try:
        rows = environment.get_dataset()
    except ValueError:  # it has only evaluation data
        rows = environment.get_eval_dataset()
    for number, row in enumerate(rows):
        if isinstance(row.get("info"), str):
            row["info"] = json.loads(row["info"] or "{}")
        prompt = row["prompt"]
        text = prompt if isinstance(prompt, str) else "\n\n".join(str(part["content"]) for part in prompt)

        def score(reply: str, row: Row = row) -> float:
            said = [types.AssistantMessage(role="assistant", content=reply)]
            return asyncio.run(_scored(environment, types.State(input=dict(row)), row, said))

        task = ReplyTask(f"{row.get('example_id', number)}", row, text, score, environment.parser)
        rubric = environment.rubric
        weights = zip(rubric._get_reward_func_names(), rubric._get_reward_weights(), strict=False)
        task.metrics = {name for name, weight in weights if not weight}
        yield task


async def _scored(environment: Any, state: Any, row: Row, said: list[Any]) -> float:
    """The reward of a one-turn rollout by the environment's own rubric."""
    step = {"prompt": row["prompt"], "completion": said, "response": None, "tokens": None, "reward": None}
    state["completion"] = said
    if state.get("task") is None:
        state["task"] = dict(row)
    same = {"reward": None, "metrics": None, "error": None, "is_completed": True, "is_truncated": False}
    for key, value in {**same, "trajectory": [{**step, "advantage": None, "extras": {}}]}.items():
        state[key] = value
    state = await environment.setup_state(state) or state
    rubric = environment.rubric
    if getattr(rubric, "has_group_rewards", False):
        await rubric.score_group([state])
    else:
        await rubric.score_rollout(state)
    return float(state["reward"])


def _of_taskset(name: str) -> Iterator[ReplyTask]:
    """The tasks of a taskset of verifiers 0.4, with their reward methods."""
    vf: Any = importlib.import_module("verifiers.v1")
    taskset = vf.load_taskset(vf.taskset_config_type(name)(id=name))
    if vf.environment_class(name) is not vf.SingleAgentEnv or type(taskset).toolsets(taskset.config):
        raise ValueError("it has tools or an environment of its own: only tasks with one reply can be tested")
    for task in taskset:
        data = task.data
        prepared = [
            one for one in ("setup", "finalize") if getattr(type(task), one) is not getattr(vf.Task, one)
        ]
        if (
            type(task).NEEDS_CONTAINER
            or data.image
            or data.prompt is None
            or prepared
            or type(task).toolsets(task.config)
        ):
            raise ValueError(
                "its tasks need a container, tools, a setup or a user: only tasks with one reply can be tested"
            )

        def score(reply: str, task: Any = task) -> float:
            return asyncio.run(_scored_task(vf, task, reply))

        row = data.model_dump(mode="json", exclude_defaults=True)
        yield ReplyTask(data.name or data.id or str(data.idx), row, data.prompt_text, score)


async def _scored_task(vf: Any, task: Any, reply: str) -> float:
    kind: Any = type(task)
    state: Any = importlib.import_module("verifiers.v1.state").state_cls(kind)()
    asked = vf.UserMessage(content=task.data.prompt_text)
    nodes = [
        vf.MessageNode(parent=None, message=asked, sampled=False),
        vf.MessageNode(parent=0, message=vf.AssistantMessage(content=reply), sampled=True),
    ]
    trace = vf.Trace(
        task=vf.TraceTask(type=kind.__name__, data=task.data, key=task.key, hash=task.hash),
        state=state,
        agent=vf.AgentInfo(config=vf.AgentConfig(runtime=vf.SubprocessConfig())),
        nodes=nodes,
    )
    await task.score(trace)
    if not trace.rewards or None in trace.rewards.values():
        raise ValueError("a reward needs a runtime, or none was given")
    return float(trace.reward)


def _apart(task: ReplyTask, reply: str, seconds: float) -> Row:
    """{"reward"}, {"note"} or both, from a separate process; neither if that ended early."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.setsid()
        os.mkdir(str(os.getpid()))
        os.chdir(str(os.getpid()))
        known.pipes_for_sockets()
        raised = _Raised(task.metrics)
        logging.getLogger("verifiers").addHandler(raised)
        try:
            said: Row = {"reward": task.score(reply)}
            said |= {"note": raised.said[:300]} if raised.said else {}
        except BaseException as error:
            said = {"note": f"{type(error).__name__}: {error}"[:300]}
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    known.wait_for(process, seconds)
    os.set_blocking(read, False)
    try:
        return dict(json.loads(os.read(read, 1 << 16)))
    except (BlockingIOError, ValueError):
        return {"note": "its process ended without a reward"}
    finally:
        os.close(read)


def _best(task: ReplyTask, texts: list[str], seconds: float) -> tuple[float | None, str]:
    """The highest reward of these replies in any form, else the note."""
    replies = dict.fromkeys(form for text in texts for form in task.forms(text))
    told = [_apart(task, reply, seconds) for reply in replies]
    clean = [one["reward"] for one in told if "reward" in one]
    notes = [one["note"] for one in told if "note" in one]
    return max(clean, default=None), notes[0] if len(notes) == len(told) else ""


def main() -> None:
    """Tests `count` tasks from `start` on."""
    asked = json.loads(sys.stdin.readline())
    out, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    say = functools.partial(known.say, out, asked["token"])
    concurrent.futures.ProcessPoolExecutor = _Here  # type: ignore[misc,assignment]
    try:
        found = list(
            itertools.islice(
                reply_tasks(asked["package"]), asked["start"], asked["start"] + asked["count"] + 1
            )
        )
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if type(error) is not ValueError else str(error)
        say({"refused": said})
        return
    with contextlib.suppress(Exception):
        found[0].score("...")  # loads everything that the package loads on first use, for every fork
    for task in found[: asked["count"]]:
        solutions, seconds = task.solutions(), asked["seconds"]
        solution = _best(task, solutions, seconds) if solutions else (None, "")
        tried = {name: _best(task, [task.filled(text)], seconds) for name, text in asked["cheats"].items()}
        notes = {name: note for name, (_, note) in {"solution": solution, **tried}.items() if note}
        rewards = {name: reward for name, (reward, _) in tried.items()}
        say({"task": task.name, "solution": solution[0], "rewards": rewards, "notes": notes})
    say({"left": len(found) > asked["count"]})


if __name__ == "__main__":
    main()
