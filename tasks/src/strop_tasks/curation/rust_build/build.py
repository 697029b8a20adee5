"""Turns every prompt of a source into a verified Rust task or a reason for dropping it, many at a time.

A killed build resumes: results and paid responses are read back, and the same source and settings give the same files,
however often it was killed. Memory holds a few hashes and offsets per prompt, no texts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop.policies.connection import Usage
from strop_tasks.curation.engine.memory import Memory
from strop_tasks.curation.engine.paid_calls import FINISH_SECONDS, Calls, QuestionRefused, Stopped, opened
from strop_tasks.curation.engine.tally import ErrorBudget
from strop_tasks.curation.rust_build import RustBuildSettings, answer, outputs, questions, sources
from strop_tasks.curation.rust_build.answer import NotKept
from strop_tasks.curation.rust_build.checks import Unverified, check
from strop_tasks.curation.rust_build.questions import CostEstimate
from strop_tasks.curation.rust_build.sources import SourcePrompt
from strop_verify.core import files
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.errors import UserError
from strop_verify.core.ids import derive_seed
from strop_verify.core.optional_packages import require
from strop_verify.core.task import Task
from strop_verify.verification import open_verifier
from strop_verify.verification.rust.installation import find_installation
from strop_verify.verification.verifier import OpenVerifier

VERIFYING = 64  # prompts in progress beyond those that wait for a call, for the verifier to work on


@dataclass(frozen=True)
class Report:
    """The result of a build."""

    manifest: dict[str, Any]
    out_of_money: bool = False
    unverified: str = ""
    """Why prompts could not be verified; empty if all could."""


def estimate(source: str, settings: RustBuildSettings) -> CostEstimate:
    """The cost of a whole build, from its prompts; nothing is sent or written. Raises UserError."""
    settings.check()
    seen: set[int] = set()
    rows = count = characters = 0
    for prompt in sources.read(source, settings.columns, settings.limit, settings.drawn_by):
        rows += 1
        if _askable(prompt, seen) is None:
            count += 1
            characters += len(prompt.statement)
    if not count:
        raise UserError(f"the data set {source!r} is empty: it holds no prompt")
    return CostEstimate.of(rows, count, characters, settings.attempts)


def build(
    source: str,
    folder: Path,
    settings: RustBuildSettings,
    expected: CostEstimate,
    *,
    say: Callable[[str], None],
    show: Callable[[int, int, Usage], None],
) -> Report:
    """Runs or resumes a build and writes its files.

    say   prints a line for the user
    show  receives the number of finished prompts, the number of kept ones, and the paid usage, after each prompt

    Raises UserError for wrong settings, a wrong folder or server; StropError if verification fails; KeyboardInterrupt,
    which says how to resume, once the calls in flight have finished.
    """
    settings.check()
    settings.check_server()
    for module, extra in (("openai", "eval"), ("tree_sitter_rust", "strength")):
        require(module, package=module.removesuffix("_rust"), extra=extra, purpose="strop build rust")
    judge = find_installation().identity
    identity = settings.identity(source, questions.templates_hash())
    with opened(folder, identity, "strop build rust"), Memory(folder / outputs.RESULTS) as results:
        return _Run(source, folder, settings, expected, results, judge, say, show).whole()


@dataclass
class _Run:
    """One process's part of a build."""

    source: str
    folder: Path
    settings: RustBuildSettings
    expected: CostEstimate
    results: Memory
    judge: str  # the compiler's identity; results of another compiler are not reused
    say: Callable[[str], None]
    show: Callable[[int, int, Usage], None]
    keys: dict[int, str] = field(default_factory=dict)
    """Number of each finished prompt to the key of its result."""
    kept: int = 0
    budget: ErrorBudget = field(default_factory=lambda: ErrorBudget(what="answers could not be verified"))
    cause: str = ""  # why the first prompt that could not be verified failed

    def whole(self) -> Report:
        """Runs the build and writes its files."""
        settings = self.settings
        with open_verifier(
            workers=settings.workers, jail=settings.jail, allow_unsafe=settings.allow_unsafe
        ) as verifier:
            calls = self._play_all(verifier)
        if calls.failure is not None:
            raise calls.failure
        tally = outputs.write(self.folder, self._done_so_far, settings.shares, settings.seed)
        manifest = outputs.manifest(
            self.source, settings, tally, calls.usage, self.expected.rows, len(self.keys), self.judge
        )
        files.write_json(self.folder / outputs.MANIFEST, manifest)
        return Report(manifest, calls.out_of_money, self.cause)

    def _play_all(self, verifier: OpenVerifier) -> Calls:
        calls = Calls(self.settings.connection(), self.folder)
        for line in self.expected.lines(calls.usage, self.settings.connection().prices):
            self.say(line)
        with calls:
            works = (self._done(prompt, calls, verifier) for prompt in self._prompts())
            try:
                for _ in bounded_map(works, self.settings.concurrency + VERIFYING, ordered=False):
                    self.show(len(self.keys), self.kept, calls.usage)
            except KeyboardInterrupt:
                what = f"{calls.under_way} calls in flight are finished and kept"
                self.say(f"interrupted: {what}, up to {FINISH_SECONDS:g} s")
                raise KeyboardInterrupt("continue with the same command") from None
        return calls

    def _prompts(self) -> Iterator[SourcePrompt]:
        """The prompts to ask; those with an earlier result, or that cannot be asked, are recorded here."""
        seen: set[int] = set()
        settings = self.settings
        for prompt in sources.read(self.source, settings.columns, settings.limit, settings.drawn_by):
            unfit = _askable(prompt, seen)
            known = self.results.get(f"{prompt.key} {self.judge}", {"stage": "refused"})
            if known.get("stage") != "refused":  # a refused prompt was not paid for and is asked again
                self.keys[prompt.number] = f"{prompt.key} {self.judge}"
                self.kept += "task" in known
            elif unfit is not None:
                self._add(prompt, unfit)
            else:
                yield prompt

    def _done_so_far(self) -> Iterator[dict[str, Any]]:
        """The results of this run in the order of the source, one at a time."""
        for number in sorted(self.keys):
            yield self.results[self.keys[number]]

    def _add(self, prompt: SourcePrompt, outcome: Task | NotKept) -> None:
        """Stores a result."""
        line: dict[str, Any] = {"id": prompt.id}
        if isinstance(outcome, Task):
            line["task"] = outcome.model_dump(mode="json")
            self.kept += 1
        else:
            line |= {"where": prompt.where, "stage": outcome.stage, "reason": outcome.reason}
        self.keys[prompt.number] = f"{prompt.key} {self.judge}"
        self.results[self.keys[prompt.number]] = line

    def _done(self, prompt: SourcePrompt, calls: Calls, verifier: OpenVerifier) -> Work[None]:
        """Plays one prompt and stores its result, if there is one."""
        try:
            outcome = yield from self._play(prompt, calls, verifier)
        except Stopped:
            return
        except Unverified as error:
            self.cause = self.cause or str(error)
            self.budget.count(str(error))
            return
        self.budget.count(None)
        self._add(prompt, outcome)

    def _play(self, prompt: SourcePrompt, calls: Calls, verifier: OpenVerifier) -> Work[Task | NotKept]:
        settings = self.settings
        try:
            yield [asked := calls.ask(questions.rewrite(settings, prompt.id, prompt.statement))]
            response = asked.result()
            statement = answer.statement(response.text, response.finish)
        except QuestionRefused as error:
            return NotKept("refused", str(error))
        except NotKept as unfit:
            return unfit
        faults: list[questions.FailedAnswer] = []
        while True:
            origin = {"model": settings.model, "attempt": len(faults) + 1}
            try:
                yield [asked := calls.ask(questions.solve(settings, prompt.id, statement, faults))]
                response = asked.result()
                found = answer.split(response.text, response.finish)
                return (yield from check(verifier, prompt, statement, found, origin))
            except QuestionRefused as error:
                return NotKept("refused", str(error))
            except NotKept as unfit:
                faults.append(questions.FailedAnswer(response.text, unfit.reason, unfit.output))
                if len(faults) >= settings.attempts:
                    return unfit


def _askable(prompt: SourcePrompt, seen: set[int]) -> NotKept | None:
    """Why this prompt is not asked; None if it is. `seen`: hashes of the statements before it."""
    if not prompt.statement:
        return NotKept("prompt", "the prompt is empty")
    if len(prompt.statement) > sources.MOST_CHARACTERS:
        return NotKept("prompt", f"the prompt is longer than {sources.MOST_CHARACTERS:,} characters")
    mark = derive_seed(" ".join(prompt.statement.lower().split()))
    if mark in seen:
        return NotKept("prompt", "the same prompt occurs earlier in the source")
    seen.add(mark)
    return None
