"""`WorkspaceToolchain`: judges a diff of a repository in a container image by the repository's tests in that image.

For rows of SWE-bench and similar sets. The repository is the image's work directory, else /testbed. As in SWE-bench's
harness, the answer is applied, then the row's test patch, and pytest runs the files of the tests that the row names,
with the Python of conda's environment `testbed` if there is one. Every named test must be reported as passed.

1. The answer's changes to tests, to their settings and to files that Python runs on start-up do not count, unless the
   known answer changes the same files. Nor do changes to files of the test patch.
2. SWE-bench cuts test names at the first space; such a name stands for all tests that begin with it.
3. Nothing is rebuilt. Test names that are not pytest's, such as Django's, and other languages are an *error*.
4. SWE-smith: `metadata["bug_patch"]` is applied first.

Threat model: the code under test runs in the process of its tests, so trust is "same-process". Results are signed with
a key that code can find only by searching that process's memory; exit status and output do not count. Canary tests
beside them must end as they do without the answer. If pytest reports nothing, it runs once without the answer: if it
still reports nothing, the task is at fault and the outcome is *error*, otherwise *failed*.
"""

import hashlib
import hmac
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Any

from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import SandboxError, UserError, VerificationError, WorkerDied
from strop_verify.core.ids import content_hash
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.edits import FORMATS, EditError, Rename, Tolerance, edit_in
from strop_verify.sandbox.image import KIND, open_image
from strop_verify.sandbox.machine import Machine
from strop_verify.sandbox.work import CommandResult
from strop_verify.verification.controls import ControlTests, wrongly_ended
from strop_verify.verification.edit import MAX_ANSWER, refused
from strop_verify.verification.project.canaries import python_canaries
from strop_verify.verification.project.layout import is_protected, shadows
from strop_verify.verification.secret_rng import drawn
from strop_verify.verification.settings import Settings

SECONDS = 1800.0
"""Wall time of the tests, as in SWE-bench's harness."""
_HOME, _CONDA = "/testbed", "/opt/miniconda3/envs/testbed/bin"
_TOOL, _REPORTER = "/logs/verifier", Path(__file__).with_name("pytest_reporter.py")
_PYTEST = 'exec "$(command -v python || command -v python3)" -m pytest "$@"'
_OPTIONS = ("-q", "--rootdir=.", "--continue-on-collection-errors", "-p", "no:cacheprovider")
_LARGEST, _RESULTS = 16 << 20, 64 << 20
_SHOWN = 4000
"""Characters kept from the end of the tests' output."""
_OFFSET = Tolerance(offset=True)
Texts = dict[str, str | None]
"""The text of each file by path; None if there is no such file."""


@dataclass
class _Heard:
    """Pytest's reports, and how it ended.

    phases  by test: (phase, outcome, whether a failure was expected)
    forged  whether anything else was written to the results
    """

    done: CommandResult
    phases: dict[str, list[tuple[str, str, bool]]] = field(default_factory=lambda: defaultdict(list))
    forged: bool = False

    def outcome(self, name: str) -> Outcome | None:
        """A test's outcome, None if not reported. A name cut at a space stands for all tests that begin with it."""
        names = [name] if name in self.phases else [one for one in self.phases if one.split()[0] == name]
        passed = [self._passed(self.phases[one]) for one in names]
        return (Outcome.PASSED if all(passed) else Outcome.FAILED) if passed else None

    @staticmethod
    def _passed(phases: Sequence[tuple[str, str, bool]]) -> bool:
        called = any(
            when == "call" and (outcome == "passed" or expected) for when, outcome, expected in phases
        )
        return called and all(outcome != "failed" for _, outcome, _ in phases)

    @property
    def printed(self) -> str:
        """The end of the tests' output."""
        return (self.done.stdout + self.done.stderr).decode(errors="replace")[-_SHOWN:]


class WorkspaceToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for checks of kind workspace that name an image."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._machine: Machine | None = None
        self._reporting: dict[str, bool] = {}
        """Whether pytest reports anything without an answer, by the check's hash."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises VerificationError for a task that cannot be judged here; WorkerDied if the jail
        broke.
        """
        return [self._judge(task, answer) for task, answer in jobs]

    def close(self) -> None:
        """Ends the running machine. Safe to call twice and from any thread."""
        if self._machine is not None:
            self._machine.close()

    def _judge(self, task: Task, answer: str) -> Verdict:
        began, check = time.monotonic(), task.check.only(WorkspaceCheck)
        tests = tests_of(check)
        if len(answer) > MAX_ANSWER:
            return refused(Outcome.FAILED, f"the answer is longer than {MAX_ANSWER} characters", began)
        try:
            heard, canaries = self._run(task, check, answer)
            if not heard.phases and not heard.done.expired and not self._reports(task, check):
                said = " ".join(heard.printed.split())[-300:]
                raise VerificationError(f"task {task.id!r}: pytest reports no test in {check.image}: {said}")
            passed = all(heard.outcome(test) is Outcome.PASSED for test in tests)
            odd = wrongly_ended(_results(heard, canaries.must), canaries.must) if passed else []
            forged = heard.forged or bool(odd and self._usual(task, check, canaries, odd))
        except EditError as error:
            nothing = error.code == "no-edit"
            return refused(Outcome.NO_ANSWER if nothing else Outcome.FAILED, str(error), began)
        except UserError as error:
            raise VerificationError(f"task {task.id!r}: {error}") from None
        except SandboxError as error:
            raise WorkerDied(str(error)) from error
        return _verdict(heard, tests, forged, time.monotonic() - began)

    def _reports(self, task: Task, check: WorkspaceCheck) -> bool:
        key = content_hash(check.model_dump())
        if key not in self._reporting:
            self._reporting[key] = bool(self._run(task, check, None)[0].phases)
        return self._reporting[key]

    def _usual(self, task: Task, check: WorkspaceCheck, canaries: ControlTests, odd: Sequence[str]) -> bool:
        """Whether one of the canaries `odd`, which ended wrongly with the answer, ends as required without it."""
        heard, _ = self._run(task, check, None, canaries)
        return bool({*odd} - {*wrongly_ended(_results(heard, canaries.must), canaries.must)})

    def _run(
        self, task: Task, check: WorkspaceCheck, answer: str | None, canaries: ControlTests | None = None
    ) -> tuple[_Heard, ControlTests]:
        """Pytest's reports with the answer, or without one, and the canaries beside the tests."""
        image = open_image(place_of(check, self._settings.root))
        home = image.workdir if image.workdir.strip("/") else _HOME
        settings = self._settings
        with Machine(
            workdir=home, image=image, jail=settings.jail, allow_unsafe=settings.allow_unsafe
        ) as machine:
            self._machine = machine
            files = _files(machine, task, check, answer)
            names = list(dict.fromkeys(test.partition("::")[0] for test in tests_of(check)))
            if canaries is None:
                tree = {name: (_text(machine, name, files) or "").encode() for name in names[:1]}
                canaries = python_canaries(tree, tests_of(check), drawn(task.id, answer or "", "workspace"))
            _write(machine, {**files, **canaries.files})
            return _tested(machine, [*names, *canaries.files]), canaries


def place_of(check: WorkspaceCheck, root: str = "") -> str:
    """The location of the check's image; `root`: used if the check gives none. Raises VerificationError."""
    place = check.image if check.image.startswith(KIND) else root
    if not place:
        name = check.image.strip().partition("\n")[0]
        raise VerificationError(
            f"the image {name:.200} has no location: use strop tasks import --images STORE, or set sandbox.root"
        )
    return place


def tests_of(check: WorkspaceCheck) -> list[str]:
    """The tests that must pass. Raises VerificationError if there are none, or names that are not pytest's."""
    tests = list(dict.fromkeys([*check.failing, *check.passing]))
    if not tests:
        raise VerificationError("the workspace check names no tests")
    for test in tests:
        if not test.partition("::")[0].endswith(".py"):
            raise VerificationError(f"{test!r:.100} is not a pytest test, and only pytest runs in images")
    return tests


def _files(machine: Machine, task: Task, check: WorkspaceCheck, answer: str | None) -> Texts:
    """All changed files. Raises EditError if the answer does not apply, VerificationError if another diff does not."""
    try:
        begun = _changed(machine, str(task.metadata.get("bug_patch") or ""), {})
        added = {**_changed(machine, check.patch, begun), **check.files}
    except EditError as error:
        raise VerificationError(
            f"task {task.id!r}: its diff does not apply in {check.image}: {error}"
        ) from None
    if answer is None:
        return {**begun, **added}
    counted = _counted(machine, task.reference, {*added})
    given = _changed(machine, edit_in(answer), begun)
    return {**begun, **{path: text for path, text in given.items() if counted(path)}, **added}


def _counted(machine: Machine, reference: str, added: set[str]) -> Callable[[str], bool]:
    """Returns a function that tells whether the answer's change to a file counts."""
    known = _named(reference)

    def counts(path: str) -> bool:
        if path in added or path in known:
            return path not in added
        new = _text(machine, path, {}) is None
        return not is_protected(path) and not (new and shadows(path, (), ("", "src", "lib")))

    return counts


def _named(diff: str) -> set[str]:
    """The files that a diff names."""
    changes = FORMATS["unified-diff"].parse(diff).changes
    return {change.path for change in changes} | {one.to for one in changes if isinstance(one, Rename)}


def _changed(machine: Machine, diff: str, begun: Mapping[str, str | None]) -> Texts:
    """The files that a diff changes, with their new texts; `begun` holds earlier changes. Raises EditError."""
    if not diff.strip():
        return {}
    chosen = FORMATS["unified-diff"]
    texts = {name: _text(machine, name, begun) for name in _named(diff)}
    before = {name: text for name, text in texts.items() if text is not None}
    after = chosen.apply(chosen.parse(diff), before, _OFFSET)
    return {name: after.get(name) for name in {*before, *after} if before.get(name) != after.get(name)}


def _text(machine: Machine, name: str, begun: Mapping[str, str | None]) -> str | None:
    if name in begun:
        return begun[name]
    try:
        return machine.read(name, limit=_LARGEST).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, ValueError):
        return None


def _write(machine: Machine, files: Mapping[str, str | None]) -> None:
    """Writes and removes files; executable files stay executable. Raises EditError for a name that cannot be
    written."""
    script = 'for f; do [ -x "$f" ] && printf "%s\\0" "$f"; done; true'
    runs = machine.run(["sh", "-c", script, "sh", *files]).stdout.decode("utf-8", "surrogateescape")
    texts = {
        name: text.encode("utf-8", "surrogateescape") for name, text in files.items() if text is not None
    }
    if gone := [name for name in files if name not in texts]:
        machine.run(["rm", "-f", "--", *gone])
    try:
        machine.put(texts, executable=[name for name in runs.split("\0") if name in texts])
    except ValueError as error:
        raise EditError("bad-path", str(error)) from None


def _tested(machine: Machine, names: Sequence[str]) -> _Heard:
    key, module = token_bytes(32), f"m{token_hex(8)}"
    machine.put({f"{_TOOL}/{module}.py": _REPORTER.read_bytes()})
    given = machine.environment
    path = ":".join(filter(None, [_TOOL, given.get("PYTHONPATH")]))
    variables = {"PATH": f"{_CONDA}:{given['PATH']}", "PYTHONPATH": path}
    argv = ["sh", "-c", _PYTEST, "sh", "-p", module, *_OPTIONS, *names]
    heard = _Heard(machine.run(argv, stdin=key, environment=variables, seconds=SECONDS))
    try:
        data = machine.read(f"{_TOOL}/{module}.results", limit=_RESULTS)
    except (FileNotFoundError, ValueError):
        return heard
    for number, line in enumerate(data.split(b"\n")[:-1]):
        signature, _, body = line.partition(b" ")
        mine = hmac.new(key, b"%d:" % number + body, hashlib.sha256).hexdigest().encode()
        if not hmac.compare_digest(mine, signature):
            heard.forged = True
            return heard
        told: dict[str, Any] = json.loads(body)
        if "test" in told:
            heard.phases[told["test"]].append((told["when"], told["outcome"], told["expected"]))
    return heard


def _results(heard: _Heard, names: Mapping[str, bool]) -> dict[str, TestResult]:
    outcomes = ((name, heard.outcome(name)) for name in names)
    return {name: TestResult(id=name, outcome=found) for name, found in outcomes if found is not None}


def _verdict(heard: _Heard, tests: Sequence[str], forged: bool, seconds: float) -> Verdict:
    found = {test: heard.outcome(test) for test in tests}
    late = Outcome.TIMED_OUT if heard.done.expired else Outcome.FAILED
    results = [
        TestResult(id=test, outcome=outcome or late, message="" if outcome else "the test was not reported")
        for test, outcome in found.items()
    ]
    bad = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    outcome = Outcome.TAMPERED if forged else bad.outcome if bad else Outcome.PASSED
    passed = outcome is Outcome.PASSED
    detail = (
        "results of tests were forged" if forged else f"{bad.id}: {bad.message or 'failed'}" if bad else ""
    )
    return Verdict(
        outcome=outcome,
        stages=[Stage(name="build", passed=True), Stage(name="test", passed=passed, seconds=seconds)],
        tests=results,
        output=heard.printed,
        detail=detail,
        seconds=seconds,
        trust="same-process" if passed else None,
    )
