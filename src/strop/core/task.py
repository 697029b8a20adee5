"""A task: frozen data that says what is asked and how an answer is checked. Behaviour lives elsewhere."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from strop.core.ids import content_hash
from strop.core.records import Record

Language = str
"""Lower-case language name: "python", "rust", ..."""

Split = Literal["train", "held-out"]


class Case(Record):
    """One call of the entry point and the value that it must return (JSON values)."""

    args: list[Any] = Field(default_factory=list)
    kwargs: dict[str, Any] = Field(default_factory=dict)
    expected: Any
    shown: bool = False
    """Whether the prompt shows this case; hidden cases only judge."""


class StdioCase(Record):
    """One run of a program: what it reads and what it must print."""

    stdin: str
    stdout: str
    shown: bool = False


class _Terse(Record):
    """A check whose `optional` fields are written, and count for a task's id, only where they are set."""

    optional: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {name: value for name, value in written.items() if value or name not in self.optional}


class CasesCheck(_Terse):
    """Call `entry_point` on each case; `expected` is compared with what it returns, outside the candidate's process."""

    optional: ClassVar[tuple[str, ...]] = ("any_order", "checker")
    kind: Literal["cases"] = "cases"
    entry_point: str
    cases: list[Case]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between floats; 0 = equal."""
    any_order: bool = False
    """Whether the items of a returned list or tuple may come in another order; of the outermost one only."""
    checker: str = ""
    """Trusted Python code with a function `check(args, kwargs, expected, result) -> bool`; empty = equality."""


class AssertsCheck(_Terse):
    """Trusted Python test code that calls `entry_point`; every top-level statement with an assert is one test."""

    optional: ClassVar[tuple[str, ...]] = ("helpers",)
    kind: Literal["asserts"] = "asserts"
    entry_point: str
    code: str
    helpers: list[str] = Field(default_factory=list)
    """Further functions of the answer that the test code may call. No other name of the answer is seen by it."""


class StdioCheck(_Terse):
    """Run the answer as a program on each case; its output is compared line by line, trailing space ignored."""

    optional: ClassVar[tuple[str, ...]] = ("tolerance", "checker")
    kind: Literal["stdio"] = "stdio"
    cases: list[StdioCase]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between words that are numbers; 0 = same text."""
    checker: str = ""
    """Trusted Python code with a function `check(stdin, expected, output) -> bool`; empty = comparison."""


class PytestCheck(Record):
    """Run a pytest suite against the answer, which is written to `path` in a fresh workspace beside `files`."""

    kind: Literal["pytest"] = "pytest"
    path: str = "solution.py"
    files: dict[str, str]
    """Trusted test files and what they need, by relative path; they replace whatever the answer brings."""
    tests: list[str]
    """Every test id that must be reported as passed, as `pytest --collect-only -q` prints them."""


class RustCheck(_Terse):
    """Build, lint and test a Rust answer as cargo would, as the only source file of a library crate."""

    optional: ClassVar[tuple[str, ...]] = ("crate", "crates", "files")
    kind: Literal["rust"] = "rust"
    tests: str = ""
    """Trusted test code. Empty: the answer carries its own tests."""
    crate: str = ""
    """Name under which `tests` is an integration test (`use NAME::*;`); empty: `tests` is appended to the answer."""
    edition: Literal["2018", "2021", "2024"] = "2021"
    crates: list[str] = Field(default_factory=list)
    """Third-party crates that answer or tests may use, out of the vendored ones: a name each, or a line as in the

    dependencies of Cargo.toml (`rand = "0.10"`)."""
    files: dict[str, str] = Field(default_factory=dict)
    """Further trusted files of the package by relative path (`src/helpers.rs`: the answer says `mod helpers;`)."""


class CommandStep(Record):
    """One program run in the answer's work directory; it passes when its exit status and output are as expected."""

    stage: Literal["build", "lint", "test"]
    argv: list[str]
    """Program and arguments, no shell."""
    stdin: str = ""
    stdout: str | None = None
    """Expected output, compared line by line without trailing space; None = not looked at."""
    status: int = 0


class CommandCheck(Record):
    """Write the answer to `path` beside `files`, then run each step in turn; the first that fails ends it."""

    kind: Literal["command"] = "command"
    path: str
    files: dict[str, str] = Field(default_factory=dict)
    steps: list[CommandStep]


class LabelCheck(Record):
    """The answer names one of `choices`; it passes when that is `expected`. Nothing is run."""

    kind: Literal["label"] = "label"
    choices: list[str]
    expected: str


class WorkspaceCheck(_Terse):
    """Tests that run in a repository or container which the task names. Carried as data; no toolchain plays it yet."""

    optional: ClassVar[tuple[str, ...]] = (
        "image", "repository", "commit", "patch", "files", "argv", "failing", "passing"
    )  # fmt: skip
    kind: Literal["workspace"] = "workspace"
    image: str = ""
    """Container image, or the text of a Dockerfile."""
    repository: str = ""
    commit: str = ""
    """Revision of the repository that the answer starts from."""
    patch: str = ""
    """Unified diff that brings the tests."""
    files: dict[str, str] = Field(default_factory=dict)
    """Trusted files by relative path."""
    argv: list[str] = Field(default_factory=list)
    """What runs the tests."""
    failing: list[str] = Field(default_factory=list)
    """Tests that fail before and must pass after (FAIL_TO_PASS)."""
    passing: list[str] = Field(default_factory=list)
    """Tests that pass before and after (PASS_TO_PASS)."""


class ProjectCheck(_Terse):
    """Run a project's own tests in a copy of it in which `files` replace or add files. The task's language says how."""

    optional: ClassVar[tuple[str, ...]] = ("files", "removed", "passing")
    kind: Literal["project"] = "project"
    project: str
    """Packed snapshot of the project: a .tar.gz of its files, named by `strop build`."""
    digest: str
    """Content hash of the snapshot's files; with another one the verdict is *error*."""
    files: dict[str, str] = Field(default_factory=dict)
    """Path to text of what differs from the snapshot."""
    removed: list[str] = Field(default_factory=list)
    """Paths of the snapshot that are not there."""
    failing: list[str]
    """Tests that fail before the task is solved; each must be reported as passed."""
    passing: list[str] = Field(default_factory=list)
    """Tests that pass before and must pass after."""


class EditCheck(_Terse):
    """The answer edits `files`; `judge` then judges the file at `path`, or the files must be the oracle's."""

    optional: ClassVar[tuple[str, ...]] = ("oracle", "tolerance", "judge", "path")
    kind: Literal["edit"] = "edit"
    format: str
    """How the edit is written: a name of `strop.edits.FORMATS`."""
    files: dict[str, str]
    """Path to text before the edit."""
    oracle: dict[str, str | None] = Field(default_factory=dict)
    """Path to text after a known good edit, of the files that it changes; None = deleted."""
    tolerance: list[str] = Field(default_factory=list)
    """Where the edit may differ from the files: names of switches of `strop.edits.Tolerance`."""
    judge: "Check | None" = None
    """What judges the edited file at `path`, or all edited files where it is a *project* check; None = the edited

    files are compared with the oracle's."""
    path: str = ""


Check = Annotated[
    CasesCheck
    | AssertsCheck
    | StdioCheck
    | PytestCheck
    | RustCheck
    | CommandCheck
    | LabelCheck
    | WorkspaceCheck
    | ProjectCheck
    | EditCheck,
    Field(discriminator="kind"),
]
EditCheck.model_rebuild()


class Task(Record):
    """One thing to solve. `id` is a hash of what is asked and how it is checked when none is given."""

    id: str = ""
    family: str = "function"
    language: Language = "python"
    statement: str
    """What is asked, in prose."""
    signature: str = ""
    """`def name(args) -> type:` for function tasks, with the imports and helpers that stand above it, else empty."""
    reference: str = ""
    """A complete solution that passes, or empty when none is known."""
    check: Check
    topic: str = ""
    level: int = Field(default=0, ge=0, le=5)
    """Difficulty as the author sees it: 1 very easy to 3 moderate; 0 unknown."""
    split: Split | None = None
    source: str = ""
    """Where the task comes from: "python-functions/strings", "humaneval/HumanEval/0", a file."""
    prompt: str | None = None
    """A ready prompt that replaces the templates (HumanEval's own text), continued by the answer."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _fill_id(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("id"):
            parts = {
                k: _plain(data.get(k)) for k in ("family", "language", "statement", "signature", "check")
            }
            data = {**data, "id": content_hash(parts)}
        return data

    @property
    def test_count(self) -> int:
        """How many tests an answer must pass, as far as the task itself says; 0 when it checks nothing."""
        return _test_count(self.check)


def _test_count(check: Check) -> int:
    if isinstance(check, EditCheck):
        return 1 if check.judge is None else _test_count(check.judge)
    if isinstance(check, AssertsCheck):
        return 1 if check.code.strip() else 0
    if isinstance(check, RustCheck):
        return max(1, check.tests.count("#[test]"))
    if isinstance(check, PytestCheck):
        return len(check.tests)
    if isinstance(check, CommandCheck):
        return sum(step.stage == "test" for step in check.steps)
    if isinstance(check, LabelCheck):
        return 1
    if isinstance(check, ProjectCheck):
        return len(check.failing) + len(check.passing)
    if isinstance(check, WorkspaceCheck):
        return len(check.failing) + len(check.passing) or int(bool(check.argv))
    return len(check.cases)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, Record) else value
