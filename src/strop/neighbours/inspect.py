"""Strop's jail, tasks and verdicts in Inspect (inspect.aisi.org.uk): `sandbox="strop"` in a task, or `--sandbox strop`.

    Task(dataset=dataset("humaneval"), solver=generate(), scorer=verdict())

Needs no Docker and no account. Inspect finds an installed Strop by its entry point. Deviations from the sandboxes of
Inspect: there is one user, so any `user` is refused; only the folders of `strop_verify.sandbox.machine` can be written;
a command's processes end with it; and a configuration file is refused.
"""

import asyncio
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Literal, overload

from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from strop.neighbours.inspect_code import tests_passed as tests_passed
from strop.tasks import load_tasks
from strop.tasks.answers import answer_in
from strop.tasks.prompts import render
from strop_verify.core.errors import NotStarted, SandboxError
from strop_verify.core.task import Task as StropTask
from strop_verify.sandbox.machine import LIMITS, Machine
from strop_verify.sandbox.work import CommandResult
from strop_verify.verification import open_verifier

_FOLDER, _ABSENT, _DENIED = 21, 22, 23
_READ = f'[ -d "$1" ] && exit {_FOLDER}; [ -e "$1" ] || exit {_ABSENT}; [ -r "$1" ] || exit {_DENIED}; exec cat -- "$1"'
_WRITE = (
    f'[ -d "$1" ] && exit {_FOLDER}; mkdir -p -- "$2" || exit {_DENIED}; '
    f'[ ! -e "$1" ] || [ -w "$1" ] || exit {_DENIED}; cat > "$1" || exit {_DENIED}'
)
_TASK = "strop"
"""Key of the task in a sample's metadata."""
_ROOM = 128 << 20
"""Bytes of output that are kept: more than Inspect's default limit for reading."""


def dataset(
    source: str, *, limit: int | None = None, split: Literal["train", "held-out"] | None = None
) -> Dataset:
    """Strop's tasks (`strop tasks list SOURCE`) as Inspect's samples, each with its task in the metadata.

    Raises UserError for an unknown source, and for a task without a chat prompt.
    """
    tasks = load_tasks(source, limit=limit, split=split)
    return MemoryDataset([_sample(task) for task in tasks], name=source)


@scorer(metrics=[mean(), stderr()])
def verdict() -> Scorer:
    """Scores replies to tasks of `dataset` by Strop's verdict in its jail: 1, 0 or unscored."""
    verifier = open_verifier()

    async def score(state: TaskState, target: Target) -> Score:
        task = StropTask.model_validate(state.metadata[_TASK])
        answer = answer_in(state.output.completion, task)
        judged = await asyncio.to_thread(verifier.verify, task, answer)
        if not judged.scored:
            return Score.unscored(reason=judged.detail)
        told = judged.detail or judged.outcome.value
        return Score(value=int(judged.passed), answer=answer, explanation=told)

    return score


def _sample(task: StropTask) -> Sample:
    prompt = render(task, "chat")
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    asked = [kinds[message.role](content=message.content) for message in prompt.messages]
    return Sample(id=task.id, input=asked, metadata={_TASK: task.model_dump(mode="json")})


@sandboxenv(name="strop")
class JailSandbox(SandboxEnvironment):
    """The sandbox `strop`: one jailed box for each sample."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = Machine(limits=replace(LIMITS, output_bytes=_ROOM))

    @classmethod
    async def sample_init(
        cls, task_name: str, config: Any, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Makes the sample's box. Raises ValueError if a configuration is given."""
        if config is not None:
            raise ValueError(f"the sandbox strop takes no configuration; remove {config!r:.60}")
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls, task_name: str, config: Any, environments: dict[str, SandboxEnvironment], interrupted: bool
    ) -> None:
        """Ends the boxes' processes and deletes them."""
        for environment in environments.values():
            await asyncio.to_thread(environment.as_type(JailSandbox).machine.close)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Runs a command. Ignores `timeout_retry` and `concurrency`: it runs once, and a box runs one at a time."""
        if user is not None:
            raise SandboxUserUnsupportedError(
                f"Strop's jail has one user and cannot run commands as {user!r}"
            )
        done = await self._run(cmd, input or b"", cwd, env, timeout)
        if done.expired == "wall":
            raise TimeoutError(f"{cmd[0]!r} took more than {timeout} seconds")
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        for stream in (done.stdout, done.stderr):
            if done.truncated or done.expired == "output" or len(stream) > most:
                shown = stream[:most].decode(errors="replace")
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, shown)
        error = done.stderr.decode(errors="replace")
        if done.status == 126 and "Permission denied" in error:
            raise PermissionError(error.strip())
        return ExecResult(done.status == 0, done.status, done.stdout.decode(errors="replace"), error)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Writes a file. Raises PermissionError, IsADirectoryError."""
        parent = str(PurePosixPath(file).parent)
        self._checked(file, await self._run(["sh", "-c", _WRITE, "sh", file, parent], contents))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Reads a file. Raises FileNotFoundError, PermissionError, IsADirectoryError, OutputLimitExceededError."""
        done = self._checked(file, await self._run(["sh", "-c", _READ, "sh", file]))
        if len(done.stdout) > SandboxEnvironmentLimits.MAX_READ_FILE_SIZE or done.truncated or done.expired:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return done.stdout.decode() if text else done.stdout

    async def _run(
        self,
        cmd: list[str],
        stdin: str | bytes = b"",
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        seconds: float | None = None,
    ) -> CommandResult:
        try:
            return await asyncio.to_thread(
                self.machine.run, cmd, stdin=stdin, cwd=cwd, environment=env, seconds=seconds
            )
        except NotStarted as error:
            return CommandResult(126, "", b"", f"{error}\n".encode(), False, 0.0, 0.0, 0, 0, True)
        except SandboxError as error:
            raise SandboxUnavailableError(str(error)) from error

    def _checked(self, file: str, done: CommandResult) -> CommandResult:
        if done.status == _FOLDER:
            raise IsADirectoryError(f"{file} is a directory")
        if done.status == _ABSENT:
            raise FileNotFoundError(f"{file}: no such file")
        if done.status:
            raise PermissionError(
                f"{file}: {done.stderr.decode(errors='replace').strip() or 'permission denied'}"
            )
        return done
