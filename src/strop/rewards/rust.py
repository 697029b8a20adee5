"""The rewards of the published Rust recipe, by their names, each in [0, 1]; the recipe sets the weights.

Source: github.com/Oxen-AI/GRPO-With-Cargo-Feedback, train.py. Each comes twice. The plain name reads the answer's parse
tree and follows the verdict. `published_NAME` reads the text with the regular expressions of the original, whose blind
spots are part of what it rewards:
1. tests are searched up to the first closing brace, so only the first test is seen, and a test module without
   any `#[test]` counts;
2. assertions are lines that begin with `assert!(` or `assert_eq!(`, wherever they occur in that text;
3. an answer may be `todo!()` and still be "non-empty";
4. test module and assertions are looked for in the whole response, thoughts and prose included; the code is the first
   block fenced as `rust`, or the whole response.
Verdicts in cargo mode (`sandbox.rust_verdict: cargo`) belong to the published forms.

Deviations: 1. where the prompt begins the program or its fence, the answer's code is the response; 2. the verdict is on
the answer, which is the last fenced block, where the original builds the first.
"""

import re

from strop.code.rust.items import functions_of
from strop.code.trees import Node, text_of, walk
from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict

PER_ASSERTION = 0.25
REAL_LINES = 3
_TEST_BLOCK = re.compile(r"(#\[cfg\(test\)\]\s*mod\s+tests\s*\{.*?\})", re.S)
_RUST_FENCE = re.compile(r"```rust\n(.*?)\n```", re.S)
_FENCE = re.compile(r"^```(\w*)", re.M)
_MACROS = {f"{debug}assert{kind}" for debug in ("", "debug_") for kind in ("", "_eq", "_ne")}
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
    """1 when the answer is one fenced block with a function in it, or continues a program that the prompt began."""
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
    """1 when the response has a test module and `cargo test` ends well."""
    return _stage(verdict, "test") if _test_module(_response(rollout)) else 0.0


def published_non_empty(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for "fn ", a test module, and code with three lines that are no comment and longer than a letter."""
    response = _response(rollout)
    fenced = _RUST_FENCE.search(response)
    lines = [line.strip() for line in (fenced[1] if fenced and fenced[1] else response).split("\n")]
    real = [line for line in lines if len(line) >= 2 and not line.startswith("//")]
    return float("fn " in response and bool(_test_module(response)) and len(real) >= REAL_LINES)


def published_code_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for a response with "fn " in it."""
    return float("fn " in _response(rollout))


def published_test_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the response has a test module."""
    return float(bool(_test_module(_response(rollout))))


def published_asserts(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """A quarter for each different line of the test module that begins with an assertion, up to 1."""
    lines = {line.strip() for line in _test_module(_response(rollout)).split("\n")}
    count = sum(line.startswith(("assert!(", "assert_eq!(")) for line in lines)
    return min(1.0, PER_ASSERTION * count)


def _response(rollout: Rollout) -> str:
    """The whole of what was said; the answer where the prompt has begun it."""
    said = rollout.turns[-1].completion.text if rollout.turns else ""
    return said if rollout.answer in said else rollout.answer


def _test_module(response: str) -> str:
    """What the original takes as the test module: up to the first closing brace; "" where there is none."""
    found = _TEST_BLOCK.search(response)
    return found[1] if found else ""


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
    name = text_of(macro.child_by_field_name("macro"))
    return name in _MACROS and any(node.type == "identifier" for node in walk(macro.children[-1]))


def _stage(verdict: Verdict, name: str) -> float:
    stage = verdict.stage(name)
    return float(stage is not None and stage.passed)


_OURS = (clippy, test, non_empty, code_block, test_block, asserts)
_PUBLISHED = (
    published_test,
    published_non_empty,
    published_code_block,
    published_test_block,
    published_asserts,
)
RUST: dict[str, Reward] = {f.__name__: f for f in (*_OURS, *_PUBLISHED)}
"""The rewards of this file by the names that a recipe uses; `build` is one for every language."""
