"""Rewards for Rust answers with their own tests, each in [0, 1]; the recipe sets the weights.

They are named as in a published recipe (github.com/Oxen-AI/GRPO-With-Cargo-Feedback), but read the answer's parse tree
and the verdict, not its text (the original rewards are `published_NAME`, docs/rust.md).
"""

from strop_verify.code.rust.items import functions_of
from strop_verify.code.trees import Node, text_of, walk
from strop_verify.core.fences import blocks
from strop_verify.core.protocols import Reward
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

PER_ASSERTION = 0.25
_MACROS = {f"{debug}assert{kind}" for debug in ("", "debug_") for kind in ("", "_eq", "_ne")}
_ABSENT = frozenset({"todo", "unimplemented", "panic", "unreachable"})


def clippy(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the code builds and clippy finds no error in it."""
    stage = verdict.stage("lint")
    return float(stage is not None and stage.passed)


def test(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the verdict is a pass: all tests ran and passed, including the answer's own if they judge."""
    return float(verdict.passed)


def non_empty(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if there are a function with a body and a test; `todo!()` and the like do not count as a body."""
    code, tests = functions_of(rollout.answer)
    return float(bool(tests) and bool(code) and not any(only_gives_up(function) for function in code))


def code_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the answer is one fenced block with a function in it, or continues a program that the prompt began."""
    said = rollout.turns[-1].completion.text if rollout.turns else ""
    opened = [block for block in blocks(said, "rust") if block.tag]
    return float(len(opened) <= 1 and bool(functions_of(rollout.answer)[0]))


def test_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if there is a `#[test]` function."""
    return float(bool(functions_of(rollout.answer)[1]))


def asserts(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """A quarter for each different assertion in a test function that names an item of the program, up to 1."""
    found = {
        "".join(text_of(node).split())
        for function in functions_of(rollout.answer)[1]
        for node in walk(function)
        if node.type == "macro_invocation" and _claims(node)
    }
    return min(1.0, PER_ASSERTION * len(found))


def only_gives_up(function: Node) -> bool:
    """Whether a body is only `todo!()` or another macro that panics, or is empty though a return type is declared."""
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


RUST: dict[str, Reward] = {f.__name__: f for f in (clippy, test, non_empty, code_block, test_block, asserts)}
"""{name in a recipe: reward}; `build` exists for every language."""
