"""What a task carries besides its fields: every key of `Task.metadata` that Strop reads or writes, with its type.

The type checker refuses a key that is not here. Nothing is checked when a task is read, for foreign task lines may hold
anything under these names, and further ones; a reader that depends on a type looks at it.
"""

from typing import Any, TypedDict


class Metadata(TypedDict, total=False):
    """Keys by who writes them; each may be missing."""

    # Every format. `original`: what a row holds and the task does not, or the id of the task that this one comes from.
    original: Any
    broken: str
    """A complete answer that must fail."""
    references: list[str]
    """Further answers that pass."""
    base_tests: int
    """How many of the first tests are the base set."""
    public_tests: list[Any]
    """Tests whose results a play may see (`strop.tasks.public`): numbers, of a project ids."""
    date: str
    """Day of publication, YYYY-MM-DD."""
    pair: Any
    """A text; tasks that have the same stay on one side of a split."""
    examples: list[str]
    """Examples that the prompt of a Rust task shows."""
    example_tests: str
    """The test of the examples, where the trusted tests are left out."""
    stub: str
    """What the answer starts from, in place of the signature."""
    thought: str
    """What is said before an edit, where a thought is asked for."""

    warning: str
    """What a pass does not show, in the words that follow "N of them" when tasks are imported."""

    # Single formats.
    title: str
    text: str
    prompt: str
    """The data set's own prompt."""
    prefix: str
    suffix: str
    middle: str
    """Code around a hole, and what fills it."""
    bug_patch: str
    """Diff that puts the bug in."""
    trl: dict[str, Any]
    """Columns of a TRL row besides the task."""
    parameters: dict[str, Any]
    """What a generated problem was made from."""
    options: int
    """What a statement leaves open has so many values, each as likely."""
    ceiling: float
    """Best possible share of passes in one turn: one of `options`."""
    state: str
    """Of a next edit: next, finish, far, large or over."""
    edits: int
    """Of a next edit: how many were made before."""
    wrong: list[str]
    """The programs of the other options."""
    function: str
    path: str
    line: int
    """Where the bug of a generated repository is."""

    # Tasks to label.
    cwe: str
    vulnerable: bool
    choices: dict[str, str]
    """What each label means."""
    code_lines: int
    """Lines of the code that is shown."""
    func_name: str
    lines: list[Any]
    """Where a pair differs, as [first, last]; of a bug the lines that it changed."""

    # `strop build`.
    kind: str
    """Kind of a generated problem, or of a fault."""
    bug: list[str]
    """Operators that put the bug in."""
    issue: str
    """Who wrote the statement of a bug: model."""
    operator: str
    error_code: str
    message: str
    """What the compiler or the tests say of the broken program."""
    repository: str
    commit: str
    names_file: bool
    """Whether the request names a file that matters."""
    unchanged: list[str]
    """Files that an edit leaves alone."""
    function_name: str
    qualified_name: str
    docstring: str
    implementation: str
    start_line: int
    end_line: int
    mask: str
    """What was taken out of a function to implement, and where it stood."""

    prompt_id: str
    model: str
    attempt: int
    """The prompt of a Rust task, whose answer became its reference, and when."""
    own_tests: int
    assertions: int
    strength: Any
    source_cases: Any
    """What that answer's own tests are worth, and which cases of the source agree. Of a commit `strength` is [noticed,
    tried]: faults in its changed lines."""
    quarantined: dict[str, str]
    """Tests that judge nothing, and why: what they say depends on chance, order, hash seed or day."""

    # `strop curate`.
    set: str
    """Name of the source."""
    split: str
    """Name of the part, where it is neither train nor held-out."""
    difficulty: dict[str, Any]
    """A policy's results on the task."""
