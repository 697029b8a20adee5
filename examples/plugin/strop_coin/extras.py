"""What a package may add beyond tasks, rewards, environments and policies; pyproject.toml names each."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from typer import Option

import strop
from strop.evaluation.selectors import Candidates, Floats, Members, Selector
from strop.reports.alarms import History, Level
from strop.tasks.adapters import Adapter
from strop.tasks.jsonl import write_tasks
from strop.tasks.rows import Row
from strop_coin import coins
from strop_tasks import Context, Dropped, Read, Step, drop
from strop_verify.core.checks import CheckBase
from strop_verify.core.checks.base import ANY
from strop_verify.core.section import Section
from strop_verify.core.verdict import Outcome, Stage, TestResult


def read_flip(row: Row, where: str) -> Iterator[strop.Task]:
    """The task of a row such as {"flip": 3}."""
    yield [*coins(str(int(row["flip"]) + 1))][-1]


COIN_ROWS = Adapter(
    name="coin-rows", about="flips of a coin by their numbers", read=read_flip, fits=lambda row: set(row) == {"flip"}
)  # fmt: skip
"""A format: `tasks: {source: "coin-rows:FILE"}`."""


def flip(count: Annotated[int, Option(help="coins to flip")] = 1) -> None:
    """A command: `strop flip`."""
    print(*(task.signature for task in coins(str(count))), sep="\n")


def build_coins(output: Path, count: Annotated[int, Option(help="tasks to make")] = 2) -> None:
    """A builder of tasks: `strop build coins`."""
    print(f"{write_tasks(coins(str(count)), output)} tasks: {output}")


class KeepHeads(Step[Section]):
    """A step of a curation pipeline: keeps tasks whose coin shows 1."""

    def run(self, read: Read, context: Context) -> Iterator[strop.Task | Dropped]:
        """See `Step.run`."""
        for task in read():
            yield task if "Return 1" in task.statement else drop(task, "tails")


def rigged(history: History) -> Level | None:
    """An alarm: every reward of the last step was 1."""
    rewards = history.last("reward", 1)
    return (1.0, "every coin shows heads") if rewards == [1.0] else None


def _longest(candidates: Candidates, members: Members) -> Floats:
    lengths: Any = [float(sample.tokens) for sample in candidates.samples]
    scores: Floats = members * lengths
    return scores


LONGEST = Selector(_longest, about="The longest answer.")
"""A selector: `--select longest`."""


class FlipCheck(CheckBase):
    """A kind of check: the answer names the side that a coin shows."""

    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "flip"}
    kind: Literal["flip"] = "flip"
    side: Literal["heads", "tails"]

    def test_count(self) -> int:
        """See `CheckBase.test_count`."""
        return 1


class FlipToolchain:
    """Judges that check without running anything. A toolchain that runs answers does so in `strop_verify.sandbox`."""

    batch = 1

    def __init__(self, settings: object) -> None:
        """`settings` has the limits and the jail, which this toolchain does not need."""

    def judge(self, jobs: Sequence[tuple[strop.Task, str]]) -> list[strop.Verdict]:
        """One verdict per job."""
        return [self._verdict(task.check.only(FlipCheck), answer) for task, answer in jobs]

    def _verdict(self, check: FlipCheck, answer: str) -> strop.Verdict:
        right = answer.strip() == check.side
        outcome = Outcome.PASSED if right else Outcome.FAILED
        test = TestResult(id="side", outcome=outcome)
        return strop.Verdict(outcome=outcome, stages=[Stage(name="test", passed=right)], tests=[test])

    def close(self) -> None:
        """Has nothing to close."""
