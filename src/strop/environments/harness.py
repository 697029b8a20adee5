"""Environment `harness`: any agent plays the task. It queries the policy at a URL of its own; its changes to the files,
or the policy's last completion, are the answer.

A command and the programs that it starts run in the play's jailed folder, where that URL is the only thing they can
reach on the network. A function `play(base_url, task, workspace)` is the user's own code and runs in a thread of this
process; what it runs in the workspace is jailed.

However the agent ends (done, killed, out of time or turns), the files or the message it left are judged. Its output
is ignored.
"""

import os
import shlex
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field

from strop.environments.agent_expert import AgentExpert
from strop.environments.play_endpoint import MODEL, AgentEnded, AgentTurn, NextRequest, PlayEndpoint
from strop.environments.surroundings import surroundings_of
from strop.environments.task_tree import answer_in, tree_of
from strop.policies.model_calls import ModelForm
from strop_verify.core.errors import SandboxError, UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.play import Converse, Do, Done, JailedFolder, Next, Opening, Services
from strop_verify.core.rollout import Completion
from strop_verify.core.task import Task
from strop_verify.core.user_code import load_named
from strop_verify.sandbox.interpreter import interpreter_reads
from strop_verify.sandbox.packages import TESTS, PackageSite, providers, site_of
from strop_verify.verification.project.needs import imported

Agent = Callable[[str, Task, JailedFolder], object]
_STARTS = 127


class Harness:
    """Lets an agent play.

    command    its program and arguments; {task}, {url} and {model} stand for the statement, the URL and the model's
               name
    play       "file.py:function" instead of a command, or the function itself
    answer     files: the files that it changed; message: the policy's last completion
    turns      maximum number of completions
    seconds    the agent's own total time, and the CPU seconds of each of its processes
    memory_mb  address space of each of its processes, in MiB
    reads      files and folders that it may read, besides those that the command names
    variables  its environment variables
    calls      how the policy writes calls of the agent's tools
    """

    guesses = True
    """Its expert may misread what an agent asks for."""

    def __init__(
        self, task: Task, opening: Opening, read: Callable[[str], str], *, command: str | Sequence[str] = "",
        play: str | Agent = "", answer: Literal["files", "message"] = "files",
        turns: Annotated[int, Field(ge=1)] = 50, seconds: Annotated[float, Field(gt=0)] = 600.0,
        memory_mb: Annotated[int, Field(ge=64)] = 8192, reads: Sequence[str] = (),
        variables: dict[str, str] | None = None, calls: ModelForm = "hermes",
    ) -> None:  # fmt: skip
        if bool(command) == bool(play):
            raise UserError("tasks.environment: harness takes either `command` or `play`; give one of them")
        self.task, self.opening, self.read, self.by = task, opening, read, answer
        self.words = shlex.split(command) if isinstance(command, str) else list(command)
        self.play: Any = (
            load_named(play, "tasks.environment.play") if isinstance(play, str) and play else play
        )
        if self.play and not callable(self.play):
            raise UserError(
                f"tasks.environment.play: {self.play!r:.60} is not a function (base_url, task, workspace)"
            )
        self.left, self.seconds, self.memory, self.reads = turns, seconds, memory_mb << 20, list(reads)
        self.variables, self.said, self.calls = variables or {}, "", calls
        self.thread: threading.Thread | None = None
        self.ended: AgentEnded | None = None
        self.over: Callable[[Any], Any] = lambda app: app
        """Wraps the endpoint's ASGI application, for a caller that watches the requests."""

    def setup(self, services: Services) -> None:
        """Starts the agent and waits for its first request.

        Raises UserError if it can't be started, RuntimeError if it ends before its first request.
        """
        for package in ("starlette", "uvicorn"):
            require(package, package=package, extra="serve", purpose="environment harness")
        self.folder = services.folder
        self.tree = tree_of(self.task) if self.by == "files" else {}
        command, reads = self._command() if self.words else ([], [])
        listening = self.folder.listen(reads) if command else socket.create_server(("127.0.0.1", 0))
        self.folder.put(self.tree)
        self.endpoint = PlayEndpoint(listening, self.seconds, self.stop, self.calls, self.over)
        self.thread = threading.Thread(target=self._run, args=[command], daemon=True, name="agent")
        self.thread.start()
        first = self.endpoint.next(first=True).result()
        if not isinstance(first, AgentEnded):
            self.first = first
            return
        if (ran := first.ran) is not None and ran.status == _STARTS:
            fault = f"tasks.environment.command: {command[0]!r} can't be started: {ran.errors.strip()[-300:]}"
            python = interpreter_of(Path(command[0]))
            remedy = f"; is its interpreter {python} in tasks.environment.reads?" if python else ""
            raise UserError(f"{fault}{remedy}")
        raise RuntimeError(f"the agent ended before its first request: {str(first)[-500:]}")

    def begin(self) -> Opening:
        """The agent's first request."""
        return self._converse(self.first)

    def step(self, completion: Completion) -> Next:
        """Sends the completion to the agent and waits for its next request."""
        self.said, self.left = "".join(self.turn.request.tools.begun) + completion.text, self.left - 1
        self.endpoint.answer(self.turn, completion)
        if not self.left:
            self.endpoint.seal("max turns", "its turns are used up")
        return Do(NextRequest(self.endpoint))

    def result(self, effect: object, result: AgentTurn | AgentEnded) -> Next:
        """Passes the agent's next request to the policy; if the agent has ended, the answer is what it left."""
        if not isinstance(result, AgentEnded):
            return self._converse(result)
        self.endpoint.seal()
        if self.by == "message":
            return Done(self.read(self.said))
        self._end()
        try:
            return Done(answer_in(self.task, self.tree, self.folder))
        except (ValueError, FileNotFoundError):  # a folder that the agent has made unreadable
            return Done("")

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """The known changes to the files, in the calls or words that the agent asks for (`agent_expert`)."""
        expert = AgentExpert.of(self.task, self.left, rng)
        return expert.answers(lambda: self.turn.request) if expert else iter(())

    def close(self) -> None:
        """Ends the agent, if it is a program."""
        if self.thread is not None:
            self.endpoint.close()
            self._end()

    def _converse(self, turn: AgentTurn) -> Converse:
        self.turn = turn
        return self.endpoint.converse(turn, self.opening.max_tokens)

    def _command(self) -> tuple[list[str], list[str]]:
        """(the command, paths that it reads). The program and local files named in the command become absolute paths;
        if they are scripts for this Python, the paths include the packages that they import.
        """
        ours = surroundings_of(self.task)
        path = os.pathsep.join([ours.environment["PATH"], os.environ.get("PATH", "")])
        found = shutil.which(self.words[0], path=path)
        if found is None:
            raise UserError(
                f"tasks.environment.command: there is no program {self.words[0]!r:.80}; install it or give its path"
            )
        words = [str(Path(found).absolute())]
        reads = [str(Path(one).absolute()) for one in self.reads]
        reads += [words[0], str(Path(words[0]).resolve()), *environment_of(Path(words[0]))]
        for word in self.words[1:]:
            here = os.path.isfile(word)  # also False for words that are not paths
            words.append(str(Path(word).absolute()) if here else word)
            reads += [words[-1]] if here else []
        if any(Path(words[0]).is_relative_to(folder) for folder in ours.read):
            reads += ours.read  # a jail made from an image does not contain these
        if site := self._packages(words):
            python = f"{site.folder}/bin/python3"
            words = [python, *(words[1:] if Path(words[0]).name.startswith("python") else words)]
            reads += (*site.read, *interpreter_reads())
        return words, reads

    def _packages(self, words: list[str]) -> PackageSite | None:
        """The packages that the command's Python scripts import, if this Python runs them: a program installed next to
        Strop, or scripts passed to its `python`. Other programs must list their own in `reads`.
        """
        own, first = Path(sys.prefix, "bin"), Path(words[0])
        ours = (str(own), *surroundings_of(self.task).read)
        if first.name.startswith("python") and any(first.is_relative_to(path) for path in ours):
            scripts = [Path(word) for word in words[1:] if word.endswith(".py") and os.path.isfile(word)]
        else:
            scripts = [first] if first.parent == own and first.read_bytes()[:2] == b"#!" else []
        texts = {f"{number}.py": script.read_bytes() for number, script in enumerate(scripts)}
        names = {name for module in imported(texts) for name in providers(module)}
        return site_of((*TESTS, *sorted(names))) if names else None

    def _run(self, command: list[str]) -> None:
        """Runs the agent to its end, in its thread."""
        url = self.endpoint.url
        try:
            if not command:
                self.play(url, self.task, self.folder)
                self._ended(AgentEnded())
                return
            task = self.task.statement
            words = [
                one.replace("{task}", task).replace("{url}", url).replace("{model}", MODEL) for one in command
            ]
            variables = {
                "OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none",
                "STROP_MODEL": MODEL, **self.variables,
            }  # fmt: skip
            ran = self.folder.run(
                words, stdin=task, seconds=self.seconds, memory_bytes=self.memory, environment=variables,
                waits=True,
            )  # fmt: skip
            self._ended(AgentEnded(ran))
        except BaseException as error:
            self._ended(AgentEnded(fault=f"{type(error).__name__}: {error}"))

    def _ended(self, how: AgentEnded) -> None:
        self.ended = how
        self.endpoint.ended(how)

    def stop(self) -> None:
        """Begins to end the agent, if it is a program, and returns at once."""
        threading.Thread(target=self._end, daemon=True, name="agent's end").start()

    def _end(self) -> None:
        """Ends the agent's program and waits for it; a function can't be ended."""
        while self.words and self.thread is not None and self.thread.is_alive():
            try:
                self.folder.stop()
            except SandboxError:
                return
            self.thread.join(0.05)


def interpreter_of(program: Path) -> Path | None:
    """The interpreter named in a script's first line, or its second, where installers put paths that are too long."""
    try:
        with program.open("rb") as file:
            first, second = file.readline(4096), file.readline(4096)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    line = second.removeprefix(b"'''exec'") if second.startswith(b"'''exec'") else first[2:]
    try:
        words = shlex.split(line.decode())
    except ValueError:
        return None
    return Path(words[0]) if words else None


def environment_of(program: Path) -> list[str]:
    """The virtual environment that holds a program or whose Python runs it, and that environment's base Python.

    Empty if there is none, or if it is Strop's own.
    """
    pythons = [found for found in (interpreter_of(program), interpreter_of(program.resolve())) if found]
    for path in (program, program.resolve(), *pythons):
        settings = path.parent.parent / "pyvenv.cfg"
        if settings.is_file() and path.parent.parent != Path(sys.prefix):  # not Strop's own environment
            pairs = (line.partition("=") for line in settings.read_text().splitlines())
            given = {name.strip(): value.strip() for name, _, value in pairs}
            base = Path(given.get("home", "/usr/bin"))
            version = ".".join(given.get("version", given.get("version_info", "")).split(".")[:2])
            own = base.parent / "lib" / f"python{version}" if base.parent == Path("/usr") else base.parent
            return [str(path.parent.parent), str(own.resolve())]
    return []
