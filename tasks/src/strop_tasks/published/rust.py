"""The rewards of a published Rust recipe in their original form, each in [0, 1]; the recipe sets the weights.

Source: github.com/Oxen-AI/GRPO-With-Cargo-Feedback, train.py. They use the original's regular expressions, whose blind
spots affect the rewards (`strop.rewards.rust` has forms without them):
1. a test module is read up to its first closing brace, so only its first test counts, and an empty module counts too;
2. assertions are lines that begin with `assert!(` or `assert_eq!(`, wherever they occur in that text;
3. an answer may be `todo!()` and still be "non-empty";
4. the test module and assertions are searched for in the whole response, including thoughts and prose; the code is the
   first block fenced as `rust`, or the whole response.
Use them with verdicts in cargo mode (`sandbox.rust_verdict: cargo`).

Deviations: 1. if the prompt begins the program or its fence, the response is the answer's code; 2. the verdict is on
the answer, which is the last fenced block, while the original builds the first.
"""

import re

from strop.rewards.rust import PER_ASSERTION
from strop_verify.core.protocols import Reward
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

REAL_LINES = 3
_TEST_BLOCK = re.compile(r"(#\[cfg\(test\)\]\s*mod\s+tests\s*\{.*?\})", re.S)
_RUST_FENCE = re.compile(r"```rust\n(.*?)\n```", re.S)


def published_test(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the response has a test module and `cargo test` succeeds."""
    stage = verdict.stage("test") if _test_module(_response(rollout)) else None
    return float(stage is not None and stage.passed)


def published_non_empty(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for "fn ", a test module, and code with three lines that are not comments and have at least two characters."""
    response = _response(rollout)
    fenced = _RUST_FENCE.search(response)
    lines = [line.strip() for line in (fenced[1] if fenced and fenced[1] else response).split("\n")]
    real = [line for line in lines if len(line) >= 2 and not line.startswith("//")]
    return float("fn " in response and bool(_test_module(response)) and len(real) >= REAL_LINES)


def published_code_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for a response that contains "fn "."""
    return float("fn " in _response(rollout))


def published_test_block(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the response has a test module."""
    return float(bool(_test_module(_response(rollout))))


def published_asserts(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """A quarter for each distinct line of the test module that begins with an assertion, up to 1."""
    lines = {line.strip() for line in _test_module(_response(rollout)).split("\n")}
    count = sum(line.startswith(("assert!(", "assert_eq!(")) for line in lines)
    return min(1.0, PER_ASSERTION * count)


def _response(rollout: Rollout) -> str:
    """The whole last completion, or the answer if the prompt begins it."""
    said = rollout.turns[-1].completion.text if rollout.turns else ""
    return said if rollout.answer in said else rollout.answer


def _test_module(response: str) -> str:
    """The original's test module: the text up to the first closing brace; "" if there is none."""
    found = _TEST_BLOCK.search(response)
    return found[1] if found else ""


_ALL = (published_test, published_non_empty, published_code_block, published_test_block, published_asserts)
RUST: dict[str, Reward] = {score.__name__: score for score in _ALL}
"""These rewards by their names in recipes."""
