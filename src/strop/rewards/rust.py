"""The rewards of the published Rust recipe, by their names, each in [0, 1]; weights stand in the recipe.

Source: github.com/Oxen-AI/GRPO-With-Cargo-Feedback, train.py. Each comes twice. The plain name reads the answer's parse
tree and follows the verdict. `published_NAME` reads the text with the regular expressions of the original, whose blind
spots are part of what it rewards:
1. tests are searched up to the first closing brace, so that only the first test is seen, and a test module without
   any `#[test]` counts;
2. assertions are lines that begin with `assert!(` or `assert_eq!(`, wherever they stand in that text;
3. an answer may be `todo!()` and still be "non-empty".
Verdicts in cargo mode (`sandbox.rust_verdict: cargo`) belong to the published forms.

Deviation: where the prompt begins the program or its fence, the answer's code stands for the fenced block.
"""

import re

from strop.code.rust.functions import functions_of
from strop.code.trees import Node, text_of, walk
from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict

PER_ASSERTION = 0.25
REAL_LINES = 3
_TEST_BLOCK = re.compile(r"(#\[cfg\(test\)\]\s*mod\s+tests\s*\{.*?\})", re.S)
_FENCE = re.compile(r"^```(\w*)", re.M)
_MACROS = frozenset(
    {"assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"}
)
_ABSENT = frozenset({"todo", "unimplemented", "panic", "unreachable"})


def clippy(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the code builds and clippy finds no error in it."""
    return _stage(verdict, "lint")


def test(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the verdict is a pass: all tests ran and hold, the answer's own included where they judge."""
    return float(verdict.passed)


def non_empty(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for a function with something in it, and a test; a body of `todo!()` and the like is nothing."""
    code, tests = functions_of(rollout.answer)
    return float(bool(tests) and bool(code) and not any(only_gives_up(function) for function in code))


def code_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the answer is one fenced block with a function in it, or goes on with a program that the prompt began."""
    said = rollout.turns[-1].completion.text if rollout.turns else ""
    opened = [tag for tag in _FENCE.findall(said) if tag]
    return float(len(opened) <= 1 and bool(functions_of(rollout.answer)[0]))


def test_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when there is a `#[test]` function."""
    return float(bool(functions_of(rollout.answer)[1]))


def asserts(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """A quarter for each different assertion in a test function that names something of the program, up to 1."""
    found = {
        "".join(text_of(node).split())
        for function in functions_of(rollout.answer)[1]
        for node in walk(function)
        if node.type == "macro_invocation" and _claims(node)
    }
    return min(1.0, PER_ASSERTION * len(found))


def published_test(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the text has a test module and `cargo test` ends well."""
    return _stage(verdict, "test") if _TEST_BLOCK.search(rollout.answer) else 0.0


def published_non_empty(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for code with a test module and three lines that are no comment and longer than a letter."""
    lines = [line.strip() for line in rollout.answer.splitlines()]
    real = [line for line in lines if len(line) >= 2 and not line.startswith("//")]
    return float(bool(_TEST_BLOCK.search(rollout.answer)) and len(real) >= REAL_LINES)


def published_code_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when there is code with "fn " in it."""
    return float("fn " in rollout.answer)


def published_test_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the text has a test module."""
    return float(bool(_TEST_BLOCK.search(rollout.answer)))


def published_asserts(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """A quarter for each different line of the test module that begins with an assertion, up to 1."""
    found = _TEST_BLOCK.search(rollout.answer)
    block: str = found[1] if found else ""
    lines = {line.strip() for line in block.splitlines()}
    count = sum(line.startswith(("assert!(", "assert_eq!(")) for line in lines)
    return min(1.0, PER_ASSERTION * count)


def only_gives_up(function: Node) -> bool:
    """Whether a function's body is nothing, or nothing but `todo!()` or another macro that panics."""
    body = function.child_by_field_name("body")
    inside = [n for n in body.named_children if not n.type.endswith("comment")] if body is not None else []
    if not inside:
        return function.child_by_field_name("return_type") is not None
    (first, *more) = inside
    if first.type == "expression_statement":
        first = first.named_children[0] if first.named_children else first
    return (
        not more
        and first.type == "macro_invocation"
        and text_of(first.child_by_field_name("macro")) in _ABSENT
    )


def _claims(macro: Node) -> bool:
    """Whether an assertion mentions anything but literals."""
    name = text_of(macro.child_by_field_name("macro"))
    return name in _MACROS and any(node.type == "identifier" for node in walk(macro.children[-1]))


def _stage(verdict: Verdict, name: str) -> float:
    stage = verdict.stage(name)
    return float(stage is not None and stage.passed)


RUST: dict[str, Reward] = {
    f.__name__: f
    for f in (
        clippy,
        test,
        non_empty,
        code_block,
        test_block,
        asserts,
        published_test,
        published_non_empty,
        published_code_block,
        published_test_block,
        published_asserts,
    )
}
"""The rewards of this file by the names that a recipe uses; `build` is one for every language."""
