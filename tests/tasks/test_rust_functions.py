"""rust-functions: every task is well formed, no two are alike, and only real solutions pass the hidden tests."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from tasksets import read_rust
from tests.scale import some

from strop.tasks import load_tasks, render
from strop.tasks.splits import STATEMENT_THRESHOLD, similar_pairs, statement_shingles
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.rust.calls import calls_of
from strop_verify.verification.verifier import OpenVerifier

DEFAULTS = {
    "bool": "false",
    "char": "'a'",
    "String": "String::new()",
    "f64": "0.0",
    "()": "",
    "Ordering": "Ordering::Equal",
}
ASSERTION = re.compile(r"\bassert(_eq)?!\(")
NAME = re.compile(r"[A-Za-z_]\w*")


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return [task for task in load_tasks("rust-functions") if task.source.startswith("rust-functions/")]


def hidden(task: Task) -> str:
    assert isinstance(task.check, RustCheck) and not task.check.crate
    return task.check.tests


def squeezed(code: str) -> str:
    return re.sub(r"\s|,(?=\s*[\])}])", "", code)


def test_many_tasks_over_many_topics(tasks):
    assert len(tasks) >= 240
    topics = Counter(t.topic for t in tasks)
    assert len(topics) >= 14 and min(topics.values()) >= 10
    levels = Counter(t.level for t in tasks)
    assert levels[1] >= 100 and levels[2] >= 60 and levels[3] >= 40
    assert {t.language for t in tasks} == {"rust"} and {t.split for t in tasks} == {"train", "held-out"}


def test_form(tasks):
    for task in tasks:
        name = task.source.removeprefix(f"rust-functions/{task.topic}/")
        tests = hidden(task)
        assert NAME.fullmatch(name) and task.test_count >= 3, task.source
        assert len(ASSERTION.findall(tests)) >= 6, task.source
        assert "use super::*;" in tests and tests.startswith("#[cfg(test)]\nmod tests {"), task.source
        assert task.reference.startswith(task.signature) and "cfg(test)" not in task.reference, task.source
        assert re.search(r"\bfn \w+.*\)( -> .+)?$", task.signature, re.S), task.source
        assert 1 <= len(re.findall(r"[.!?](?: |$)", task.statement)) <= 5, task.source
        assert Task.model_validate_json(task.model_dump_json()) == task


def test_statements_do_not_say_the_code(tasks):
    for task in tasks:
        assert not re.search(r"\w\(|\.\w+\(|::|=>|`|\w!", task.statement.replace("...", "")), task.source


def test_shown_examples_are_asserted(tasks):
    for task in tasks:
        examples = hidden(task).partition("fn examples() {")[2].partition("#[test]")[0]
        asserted = squeezed(examples)
        assert 1 <= len(task.metadata["examples"]) <= 2, task.source
        for example in task.metadata["examples"]:
            *setup, claim = example.split("; ") if example.startswith("let ") else [example]
            left, right = claim.rsplit(" == ", 1)
            whole = {"true": f"assert!({left})", "false": f"assert!(!{left})"}.get(
                right, f"assert_eq!({left}, {right})"
            )
            assert squeezed(whole) in asserted, (task.source, example)
            assert all(squeezed(part) in asserted for part in setup), (task.source, example)


def test_prompts(tasks):
    task = next(t for t in tasks if t.source.endswith("/deposit"))
    assert render(task, "continue").text == (
        "pub struct Account {\n    pub balance: i64,\n}\n\nimpl Account {\n"
        "    /// Add the amount to the account's balance and return the new balance. An amount that is negative\n"
        "    /// is ignored.\n    ///\n"
        "    /// Account { balance: 10 }.deposit(5) == 15\n    /// Account { balance: 10 }.deposit(-5) == 10\n"
        "    pub fn deposit(&mut self, amount: i64) -> i64 {"
    )
    assert "Account { balance: 10 }.deposit(5) == 15" in render(task, "chat").messages[-1].content
    for task in tasks:
        text = render(task, "continue").text
        assert text.endswith(" {") and text.replace("///", "").count("{") > text.count("}"), task.source
        assert "```" not in text, "an example as a code block is a doc test"


def test_no_two_alike(tasks):
    pairs = list(similar_pairs([statement_shingles(t.statement) for t in tasks], STATEMENT_THRESHOLD))
    assert [(tasks[a].source, tasks[b].source) for a, b in pairs] == []
    assert repeated(task.statement.lower() for task in tasks) == []
    assert repeated(without_names(task.reference) for task in tasks) == []
    assert repeated(task.source.rsplit("/", 1)[1] for task in tasks) == []


def repeated(texts: Iterator[str]) -> list[str]:
    return [text for text, count in Counter(texts).items() if count > 1]


def without_names(code: str) -> str:
    """Rust code with the names that it binds itself numbered in the order in which they come."""
    bound = set(re.findall(r"\b(?:fn|let|mut|struct|enum|for)\s+(\w+)", code))
    bound |= set(re.findall(r"[(,|{]\s*&*(?:mut )?(\w+)\s*(?=:[^:]|[,|)])", code))
    numbers: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        word = match[0]
        return numbers.setdefault(word, f"n{len(numbers)}") if word in bound else word

    return squeezed(NAME.sub(plain, code))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pub mod a {\n    //! Return 1.\n    //!\n    //! a() == 1\n#[cfg(test)]\n}\n", "Level N"),
        ("pub mod a {\n    //! Level 1. Return 1.\n    fn a() {\n    }\n}\n", "no line '#\\[cfg"),
        (
            "pub mod a {\n    //! Level 1. R.\n    //!\n    //! a() == 1\n\n    #[cfg(test)]\n}\n",
            "no function",
        ),
    ],
)
def test_wrong_form_is_named(text, said):
    with pytest.raises(ValueError, match=f"^t.rs: a: .*{said}"):
        list(read_rust.read_topic("t", text))


@pytest.mark.soak(60)
@pytest.mark.needs("cargo")
def test_references_pass_and_stubs_and_constants_fail(tasks, verifier: OpenVerifier):
    futures = [
        (task, kind, verifier.submit(task, answer))
        for task in some(tasks, 100)
        for kind, answer in answers(task)
    ]
    for task, kind, future in futures:
        verdict = future.result()
        if kind == "reference":
            assert verdict.outcome is Outcome.PASSED, (task.source, verdict.detail, verdict.output)
            assert verdict.trust == trust(task), task.source
            lint = next(s for s in verdict.stages if s.name == "lint")
            assert lint.passed and not warnings(lint.output), (task.source, lint.output)
        else:
            assert verdict.outcome is Outcome.FAILED, (task.source, kind, verdict.outcome)


def trust(task: Task) -> str:
    """What a pass of the reference is worth: *value* where the tests need only values."""
    by_value = calls_of(hidden(task), task.reference, task.reference)
    return "typed" if by_value is None else "value"


def warnings(output: str) -> list[str]:
    """What clippy says of an answer, without its word on the lint options that it was given."""
    return [x for x in output.splitlines() if x.startswith(("warning", "error")) and "unknown lint" not in x]


def answers(task: Task) -> Iterator[tuple[str, str]]:
    """The reference, and answers that must fail: a stub, constants, the first argument."""
    yield "reference", task.reference
    for body in bodies(task):
        text = f"{task.signature} {{\n    {body}\n}}\n"
        yield body, text + "}\n" * (text.count("{") - text.count("}"))


def bodies(task: Task) -> Iterator[str]:
    head = task.signature.rpartition("fn ")[2]
    arguments, _, returned = head.rpartition(") -> ") if ") -> " in head else (head, "", "()")
    yield "todo!()"
    yield constant(task.signature, returned)
    if returned.startswith("Result"):
        yield "Err(Default::default())"
    elif returned == "bool":
        yield "true"
    elif re.fullmatch(r"[iu](8|32|64|size)", returned):
        yield "1"
    first = re.search(r"\((?:mut )?(\w+): ([^,)]+)", arguments)
    if first and first[2] == returned:
        yield first[1]


def constant(signature: str, returned: str) -> str:
    variant = re.search(rf"enum {re.escape(returned)} {{\n    (\w+)", signature)
    if variant is not None:
        return f"{returned}::{variant[1]}"
    if returned in DEFAULTS:
        return DEFAULTS[returned]
    if returned.startswith("&"):
        return "&[]" if "[" in returned else '""'
    if returned.startswith(("Option", "Result")):
        return "None" if returned.startswith("Option") else "Ok(Default::default())"
    return "0" if re.fullmatch(r"[iu](8|32|64|size)", returned) else "Default::default()"
