"""The interface between environment and dispatcher during a play.

An environment returns text; only the dispatcher encodes it, so no text can hold a control token, and the markup of
turns comes from the tokenizer. Its requests are effects: objects that start on the play's services.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from socket import socket
from typing import Any, Literal, Protocol, TypeVar, get_args

from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

T = TypeVar("T")

StopReason = Literal[
    "answered", "no call", "malformed", "max turns", "context", "deadline", "infra", "cancelled"
]
"""Why a play ended.

answered   the environment took the last completion as the answer
no call    a turn called no tool where one had to be called
malformed  a turn could not be read
max turns  the environment allows no more
context    no room for another turn
deadline   the play exceeded its time
infra      grader, jail or set-up failed: not scored
cancelled  no longer wanted: not scored
"""

StopAction = Literal["feedback", "end", "mask", "drop"]
"""What happens to a play that ended without an answer.

feedback  only after "no call" and "malformed": the policy is told what `Done.answer` says, and the play goes on
end       scored as a play without an answer
mask      the same, but its tokens carry no loss; it counts in its group's baseline
drop      not scored
"""
STOPS: Mapping[StopReason, StopAction] = {
    "no call": "end",
    "malformed": "end",
    "max turns": "end",
    "context": "end",
    "deadline": "drop",
    "infra": "drop",
    "cancelled": "drop",
}
"""The default action for each reason."""


Section = tuple[tuple[str, ...], str]
"""(names of one control token in vocabularies of different models, the text after it)"""


@dataclass(frozen=True)
class Opening:
    """The first prompt: `text` as it is, or `messages` and the `prefill` with which the answer begins."""

    text: str = ""
    messages: tuple[Message, ...] = ()
    prefill: str = ""
    stop: tuple[str, ...] = ()
    """Stop strings of its completions, unless the sampling parameters name some."""
    max_tokens: int | None = None
    """Longest completion in tokens, if not that of the sampling parameters."""
    sections: tuple[Section, ...] = ()
    """The parts of `text`, for policies whose vocabulary has a token of its own for a section's name."""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"Opening takes its text as text, not {self.text!r:.60}")
        _check_messages("Opening", self.messages)

    def shown(self) -> str:
        """As text, to display."""
        conversation = "".join(f"<{m.role}>\n{m.content}\n" for m in self.messages)
        return self.text or f"{conversation}<assistant>\n{self.prefill}"


@dataclass(frozen=True)
class Converse(Opening):
    """The play begins or continues with an external conversation: all of it, or the text of a prompt.

    If it begins with the previous prompt and answer, word for word, it continues in the same tokens; else it begins
    another row of tokens of the same play (`Turn.row`).

    mark    name of the control token that `prefill` begins with; "" if it begins with text
    placed  called with the number of tokens of the prompt, unless the prompt ends the play
    over    called with the reason when the play ends before the answer
    """

    mark: str = ""
    placed: Callable[[int], None] = field(default=lambda tokens: None, compare=False)
    over: Callable[[StopReason, str], None] = field(default=lambda reason, why: None, compare=False)


class InvalidOpening(Opening):
    """The opening of a task that the prompt style cannot show: reading the prompt raises the UserError with the
    reason."""

    def __init__(self, cause: str, max_tokens: int | None = None) -> None:
        object.__setattr__(self, "_cause", cause)
        object.__setattr__(self, "max_tokens", max_tokens)

    def __getattribute__(self, name: str) -> Any:
        if name in Opening.__dataclass_fields__ and name != "max_tokens":
            raise UserError(object.__getattribute__(self, "_cause"))
        return super().__getattribute__(name)


def _check_messages(what: str, messages: Any) -> None:
    if not isinstance(messages, tuple | list) or not all(isinstance(one, Message) for one in messages):
        raise TypeError(
            f"{what} takes a tuple of messages, such as (Message(role='user', content='...'),), not {messages!r:.60}"
        )


@dataclass(frozen=True)
class Ran:
    """How a program ended.

    status   exit status; -N if signal N ended it; 127 if it could not be started, and `errors` says why: no such
             program, a file name that leaves the directory, text that is not UTF-8
    output   what it printed; beyond `Run.output_bytes`, head and tail with "[12 lines, 345 characters left out]"
             between; the same holds for `errors`
    expired  the limit that it exceeded: "cpu", "wall", "output" or ""
    left_out characters that are not in `output` and `errors`
    """

    status: int
    output: str
    errors: str
    expired: str
    seconds: float
    left_out: int = 0

    def __str__(self) -> str:
        ended = f"status {self.status}" + (f", {self.expired} limit" if self.expired else "")
        return "\n".join(filter(None, (ended, self.output, self.errors)))


class JailedFolder(Protocol):
    """The jailed folder of one play: files in and out, programs that run in it one after another.

    Use it in a thread (`Services.call`, `setup`), as each call blocks. The policy's mistakes (names, sizes, programs)
    raise ValueError or FileNotFoundError, or give a `Ran` of status 127; SandboxError is a failure of the jail.
    """

    def put(self, files: Mapping[str, str | bytes], *, executable: Collection[str] = ()) -> None:
        """Adds or replaces files, by relative path; those in `executable` may be run."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        seconds: float = 10.0,
        memory_bytes: int = 1 << 30,
        environment: Mapping[str, str] | None = None,
        waits: bool = False,
    ) -> Ran:
        """Runs a program in it; limits as in `Run`.

        waits  whether it mostly waits, as an agent does for answers: it then has no wall limit and does not count among
               the programs that run at the same time
        """

    def stop(self) -> None:
        """Ends the running program, if any; from any thread."""

    def listen(self, read: Sequence[str] = ()) -> socket:
        """A socket that listens on 127.0.0.1 in the folder's own network; its programs reach that, and nothing else.

        Must be the first call on a folder. `read`: paths outside it that its programs may read too.
        """

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """A regular file of at most `limit` bytes; links are not followed."""

    def files(self) -> Mapping[str, int]:
        """Its regular files by relative path, and their sizes in bytes; links are not listed."""

    def remove(self, names: Collection[str]) -> None:
        """Removes files, links and whole folders."""


class Services(Protocol):
    """The services on which a play's effects start."""

    @property
    def folder(self) -> JailedFolder:
        """The play's folder: empty at first, removed with the play."""

    def verify(self, task: Task, answer: str) -> "Future[Verdict]":
        """The verdict on an answer, by a task's tests."""

    def call(self, do: Callable[[], T]) -> "Future[T]":
        """A function's result, called in a thread during decoding."""

    def run(self, program: "Run") -> "Future[Ran]":
        """A program in the jail."""


class Effect(Protocol):
    """A request of an environment. The rollout records its text (`str`)."""

    def start(self, services: Services) -> "Future[Any]":
        """Starts, and returns at once. VerificationError and SandboxError in the future end the play as "infra". Any
        other error is a mistake of the environment and ends the run.
        """


@dataclass(frozen=True)
class Verify:
    """An effect: the verdict on an answer, by a task's tests. Its result is a `Verdict`."""

    task: Task
    answer: str

    def start(self, services: Services) -> "Future[Verdict]":
        """See `Effect`."""
        return services.verify(self.task, self.answer)

    def __str__(self) -> str:
        return self.answer


@dataclass(frozen=True)
class Run:
    """An effect: a program in the jail. Its result is a `Ran`.

    files         what its directory holds, by relative path
    seconds       limit of CPU time; three times as much is the limit of wall time
    memory_bytes  limit of memory per process
    lasting       whether it runs in the play's folder, whose files stay; else in a work directory that is thrown away
    read          paths outside its directory that the program may read; not with `lasting`
    output_bytes  kept from the head of its output, and at least from the tail; what is between is left out. A program
                  that prints 16 times as much is ended; with `lasting`, one that prints 4 GiB
    """

    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    seconds: float = 10.0
    memory_bytes: int = 1 << 30
    lasting: bool = False
    read: tuple[str, ...] = ()
    output_bytes: int = 1 << 16

    def __post_init__(self) -> None:
        words = self.argv if isinstance(self.argv, tuple | list) else (None,)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(
                f"Run takes a program and its arguments, such as Run(('ls', '-la')), not {self.argv!r:.60}"
            )
        if self.seconds <= 0 or self.memory_bytes <= 0:
            raise ValueError(
                f"Run needs time and memory, not seconds={self.seconds}, memory_bytes={self.memory_bytes}"
            )

    def start(self, services: Services) -> "Future[Ran]":
        """See `Effect`."""
        return services.run(self)

    def __str__(self) -> str:
        return " ".join(self.argv)


@dataclass(frozen=True, init=False)
class Call:
    """An effect: the environment's own function, in a thread. Its result is the return value."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        if not callable(function):
            raise TypeError(
                f"Call takes a function and its arguments, such as Call(look_up, name), not {function!r:.60}"
            )
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "arguments", arguments)

    def start(self, services: Services) -> "Future[Any]":
        """See `Effect`."""
        return services.call(partial(self.function, *self.arguments))

    def __str__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{name}({', '.join(map(repr, self.arguments))})"


@dataclass(frozen=True)
class Say:
    """The play continues: these messages are the policy's next prompt."""

    messages: tuple[Message, ...]
    prefill: str = ""
    """The beginning of the answer, as in `Opening`."""

    def __post_init__(self) -> None:
        _check_messages("Say", self.messages)


@dataclass(frozen=True, init=False)
class Do:
    """The dispatcher runs the effects in parallel and returns their results.

    `Environment.result` gets the effect and its result; for several, tuples of both in order.
    """

    effects: tuple[Effect, ...]

    def __init__(self, *effects: Effect) -> None:
        if not effects or not all(callable(getattr(effect, "start", None)) for effect in effects):
            raise TypeError(
                f"Do takes effects, such as Do(Verify(task, answer)) or Do(Call(look_up, name)), not {effects!r:.60}"
            )
        object.__setattr__(self, "effects", effects)


@dataclass(frozen=True)
class Done:
    """The play is over. The answer is judged by the task's own tests.

    For any reason but "answered" there is no answer to judge, and `answer` says why. After "no call" and "malformed"
    the play may continue, if the recipe asks for feedback.
    """

    answer: str
    reason: StopReason = "answered"

    def __post_init__(self) -> None:
        if not isinstance(self.answer, str):
            raise TypeError(
                f"Done takes the answer as text, such as Done(self.read(completion.text)), not {self.answer!r:.60}"
            )
        if self.reason not in get_args(StopReason):
            raise ValueError(
                f"Done has no reason {self.reason!r:.60}; there are {', '.join(get_args(StopReason))}"
            )


Next = Say | Do | Done | Converse


@dataclass(frozen=True)
class PlayLimits:
    """Limits of plays.

    plays    in flight at the same time
    turns    per play; the model's own context length applies too
    context  tokens of a play, answer included; the first prompt has its own limit
    prompt   tokens of the first prompt
    seconds  wall time of a play once its turn has come, over sampling, effects and everything between, or None
    grading  verdicts that are awaited at the same time
    patience steps of the policy after which an effect's result is taken, in the order `deterministic`
    setups   environments that are set up ahead of their plays
    setup, close  wall seconds for an environment's `setup` and `close`
    feedback times that a play is told why its turn did not count
    stops    what happens to plays without an answer
    """

    plays: int = 1024
    turns: int = 10
    context: int = 1 << 30
    prompt: int = 1 << 30
    seconds: float | None = None
    grading: int = 4096
    patience: int = 16
    setups: int = 8
    setup: float = 120.0
    close: float = 30.0
    feedback: int = 3
    stops: Mapping[StopReason, StopAction] = field(default_factory=lambda: STOPS)
