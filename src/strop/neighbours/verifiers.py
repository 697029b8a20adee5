"""Strop's tasks and verdicts as a taskset of verifiers 0.4, for prime-rl and `vf-eval`.

Packages that `strop tasks export --verifiers` writes are made of this: `taskset_of` their tasks, and the harness
`OneTurn`, which asks the model in the process that it runs in; verifiers' own starts one for each rollout.

What a trace holds of a task is its id and prompt. The tests stay in the package's file: traces can be published.
An answer that could not be verified raises: verifiers then records a TaskError, and the rollout has no reward.
"""

import asyncio
import atexit
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import verifiers.v1 as vf
from openai import AsyncOpenAI, OpenAIError

from strop.config.load import load_recipe
from strop.tasks.prompts import render
from strop.tasks.sources import iter_tasks
from strop_verify.core.errors import VerificationError
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification import open_configured

RETRIES = 4
"""Of a request that the model's server did not answer."""


class JudgedConfig(vf.TaskConfig):
    """Options `--env.taskset.task.*`."""

    recipe: list[str] = []  # noqa: RUF012  # pydantic copies it
    """Settings of the verifier, as in a recipe of Strop: ["sandbox.workers=4", "verifier.engine=server", ...]."""


class JudgedTasksetConfig(vf.TasksetConfig):
    """Options `--env.taskset.*`."""

    task: JudgedConfig = JudgedConfig()


class JudgedTask(vf.Task[vf.TaskData, vf.State, JudgedConfig]):
    """A task whose answer Strop's verifier judges; `tasks` are those of its package, by id."""

    tasks: ClassVar["TasksOfFile"]

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Whether the reference passes; None where none is known."""
        reference = self.tasks[self.data.id].reference
        return (await self._verdict(reference)).passed if reference.strip() else None

    @vf.reward
    async def passed(self, trace: vf.Trace) -> float:
        """1 for an answer that passes all tests, else 0."""
        verdict = await self._verdict(self.tasks.read(self.data.id, trace.last_reply))
        trace.info["strop"] = {"outcome": verdict.outcome, "detail": verdict.detail}
        trace.record_metric("tests", verdict.fraction)
        return float(verdict.passed)

    async def _verdict(self, answer: str) -> Verdict:
        verifier = _verifier(tuple(self.config.recipe))
        verdict = await asyncio.wrap_future(verifier.submit(self.tasks[self.data.id], answer))
        if not verdict.scored:
            raise VerificationError(f"the answer could not be verified: {verdict.detail}")
        return verdict


class OneTurnConfig(vf.HarnessConfig):
    """Options `--env.agent.harness.*`."""

    seconds: float = 3600.0
    """For an answer."""


class OneTurn(vf.Harness[OneTurnConfig]):
    """Puts the prompt to the model and takes what it says, without a process of its own."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    @cached_property
    def _client(self) -> AsyncOpenAI:
        """For all rollouts: each of its own would read the machine's certificates again."""
        return AsyncOpenAI(api_key="-", max_retries=RETRIES, timeout=self.config.seconds)

    async def launch(
        self, ctx: vf.ModelContext, trace: vf.Trace, runtime: vf.Runtime, endpoint: str, secret: str,
        mcp_urls: dict[str, str], data: vf.TaskData,
    ) -> vf.ProgramResult:  # fmt: skip
        """One request; what went wrong with it is known to verifiers, which it went through."""
        system, prompt = self.resolve_prompt(data)
        asked: list[Any] = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            asked.append({"role": "user", "content": prompt})
        else:
            asked += [message.model_dump(exclude_none=True) for message in prompt or ()]
        client = self._client.with_options(base_url=endpoint, api_key=secret)
        try:
            await client.chat.completions.create(model=ctx.model, messages=asked)
        except OpenAIError as error:
            return vf.ProgramResult(1, "", f"{type(error).__name__}: {error}")
        return vf.ProgramResult(0, "", "")


class TasksOfFile:
    """The tasks of a file by id, in its order, read when they are asked for."""

    def __init__(self, path: Path, style: str) -> None:
        self._path, self._style = path, style

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {task.id: task for task in iter_tasks(f"strop:{self._path}")}

    def __iter__(self) -> Iterator[Task]:
        yield from self._tasks.values()

    def __getitem__(self, task_id: str | None) -> Task:
        return self._tasks[task_id or ""]

    def data(self, task: Task) -> vf.TaskData:
        """As verifiers sees it."""
        messages = render(task, self._style).messages
        said = {
            role: "\n\n".join(m.content for m in messages if m.role == role) for role in ("system", "user")
        }
        return vf.TaskData(
            id=task.id, name=task.name, prompt=said["user"], system_prompt=said["system"] or None
        )

    def read(self, task_id: str | None, reply: str) -> str:
        """The answer in what the model said."""
        return render(self[task_id], self._style).assemble(reply)


def taskset_of(path: Path, style: str = "chat") -> type[vf.Taskset[Any, Any]]:
    """A taskset of the tasks in a file of task lines, in a prompt style. Raises UserError when it is read."""
    file = TasksOfFile(path, style)

    class StropTask(JudgedTask):
        tasks = file

    class StropTaskset(vf.Taskset[StropTask, JudgedTasksetConfig]):
        def load(self) -> Iterator[StropTask]:
            for task in file:
                yield StropTask(file.data(task), self.config.task)

    return StropTaskset


@cache
def _verifier(recipe: tuple[str, ...]) -> Verifier:
    """One for the whole process, which closes it when it ends."""
    settings = load_recipe([], list(recipe))
    verifier = open_configured(settings.sandbox, settings.verifier)
    atexit.register(verifier.close)
    return verifier
