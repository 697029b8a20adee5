"""What an environment and the dispatcher say to each other during a play. All of it is data.

An environment returns text; only the dispatcher makes token ids of it, so that a text can hold no control token and a
turn's markup is the tokenizer's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from strop.core.rollout import Message
from strop.core.task import Task

StopReason = Literal[
    "answered", "no call", "malformed", "max turns", "context", "deadline", "infra", "cancelled"
]
"""Why a play ended.

answered   the environment took the last completion as the answer
no call    a turn called no tool where one had to be called
malformed  a turn could not be read
max turns  the environment allows no more
context    no room was left for another turn
deadline   the play's time was up
infra      something of ours broke: not scored
cancelled  nobody wants it any more: not scored
"""

StopAction = Literal["feedback", "end", "mask", "drop"]
"""What becomes of a play that ended without an answer.

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
"""What becomes of it where nothing else is asked for."""


@dataclass(frozen=True)
class Opening:
    """The first prompt: `text` as it is, or `messages` and the `prefill` with which the answer begins."""

    text: str = ""
    messages: tuple[Message, ...] = ()
    prefill: str = ""
    stop: tuple[str, ...] = ()
    """Stop strings of its completions, where the sampling parameters name none."""
    max_tokens: int | None = None
    """Longest completion in tokens, where it is not that of the sampling parameters."""

    def shown(self) -> str:
        """As text, for readers."""
        said = "".join(f"<{m.role}>\n{m.content}\n" for m in self.messages)
        return self.text or f"{said}<assistant>\n{self.prefill}"


@dataclass(frozen=True)
class Verify:
    """An effect: the verdict on an answer, by a task's tests. Its result is a `Verdict`."""

    task: Task
    answer: str


@dataclass(frozen=True)
class Run:
    """An effect: a program in the jail, in a work directory that is thrown away. Its result is a `Ran`.

    files         what the directory holds, by relative path
    seconds       CPU time at most, and three times as much wall time
    memory_bytes  of a process at most
    """

    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    seconds: float = 10.0
    memory_bytes: int = 1 << 30


@dataclass(frozen=True)
class Ran:
    """How a program ended.

    status   exit status; -N where signal N ended it; 127 where it could not be started, and `errors` says why: no such
             program, a file name that leaves the directory, text that is no UTF-8
    expired  the limit that it ran into: "cpu", "wall", "output" or nothing
    """

    status: int
    output: str
    errors: str
    expired: str
    seconds: float


Effect = Verify | Run


@dataclass(frozen=True)
class Say:
    """The play goes on: these messages are the policy's next prompt."""

    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Do:
    """The dispatcher carries an effect out and hands its result to `Environment.result`."""

    effect: Effect


@dataclass(frozen=True)
class Done:
    """The play is over. The answer is judged by the task's own tests.

    With another reason than "answered" there is none to judge, and `answer` says why. After "no call" and "malformed"
    an environment may be asked on, where the recipe wants the policy to be told.
    """

    answer: str
    reason: StopReason = "answered"


Next = Say | Do | Done


@dataclass(frozen=True)
class PlayLimits:
    """What a play may take.

    plays    in flight at the same time
    context  tokens of a play, answer included; the first prompt has a limit of its own
    prompt   tokens of the first prompt
    seconds  wall time of a play from its turn on, over sampling, effects and everything between, or None
    grading  verdicts that are waited for at the same time
    patience steps of the policy after which an effect's result is taken, in the order `deterministic`
    setups   environments that are set up ahead of their plays
    setup, close  wall seconds for an environment's `setup` and `close`
    feedback times that a play is told why its turn did not count
    stops    what becomes of plays without an answer
    """

    plays: int = 1024
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


Result = Any
"""What an effect gave."""
