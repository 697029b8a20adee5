"""Strop's tasks and verdicts as a taskset of verifiers 0.4, for prime-rl and `vf-eval`.

The packages that `strop tasks export --verifiers` writes use `taskset_of` for their tasks, and the harness `OneTurn`,
which queries the model in its own process; verifiers' own harness starts a process for each rollout.

A trace holds only a task's id and prompt. The tests stay in the package's file, so traces can be published. An answer
that could not be verified raises: verifiers records a TaskError, and the rollout has no reward.
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
"""Retries of a request that the model's server did not answer."""


class JudgedConfig(vf.TaskConfig):
    """Options of the tasks on verifiers' command line: `--env.taskset.task.*`."""

    recipe: list[str] = []  # noqa: RUF012  # pydantic copies it
    """Settings of Strop's verifier, as in a recipe: ["sandbox.workers=4", "verifier.engine=server", ...]."""


class JudgedTasksetConfig(vf.TasksetConfig):
    """Options of the taskset on verifiers' command line: `--env.taskset.*`."""

    task: JudgedConfig = JudgedConfig()


class JudgedTask(vf.Task[vf.TaskData, vf.State, JudgedConfig]):
    """A task whose answer Strop's verifier judges. `tasks`: its package's tasks by id."""

    tasks: ClassVar["TasksOfFile"]

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Whether the reference answer passes; None if there is none."""
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
    """Options of the harness: `--env.agent.harness.*`. `seconds`: time limit of a completion."""

    seconds: float = 3600.0


class OneTurn(vf.Harness[OneTurnConfig]):
    """Sends the prompt to the model and takes its reply, without starting a process."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    @cached_property
    def _client(self) -> AsyncOpenAI:
        """One client for all rollouts, since each new one reads the machine's certificates again."""
        return AsyncOpenAI(api_key="-", max_retries=RETRIES, timeout=self.config.seconds)

    async def launch(
        self, ctx: vf.ModelContext, trace: vf.Trace, runtime: vf.Runtime, endpoint: str, secret: str,
        mcp_urls: dict[str, str], data: vf.TaskData,
    ) -> vf.ProgramResult:  # fmt: skip
        """Makes one request through verifiers' endpoint, which records its reply or error itself."""
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
    """The tasks of a file by id, in the file's order, read on first use."""

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
        """A task in the form of verifiers' data."""
        messages = render(task, self._style).messages
        said = {
            role: "\n\n".join(m.content for m in messages if m.role == role) for role in ("system", "user")
        }
        return vf.TaskData(
            id=task.id, name=task.name, prompt=said["user"], system_prompt=said["system"] or None
        )

    def read(self, task_id: str | None, reply: str) -> str:
        """The answer in a model's reply."""
        return render(self[task_id], self._style).assemble(reply)


def taskset_of(path: Path, style: str = "chat") -> type[vf.Taskset[Any, Any]]:
    """A taskset of the tasks in a JSONL file, in a prompt style. Reading it raises UserError for an invalid file."""
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
    """The process's verifier with these settings, which is closed at exit."""
    settings = load_recipe([], list(recipe))
    verifier = open_configured(settings.sandbox, settings.verifier)
    atexit.register(verifier.close)
    return verifier
