"""The published Rust rewards: what the original regular expressions reward, and what the parse tree does."""

import pytest
from tests.scale import some

from strop.rewards.rubric import BUILTIN, REWARDS
from strop_tasks.published.rewards import PUBLISHED
from strop_verify.core.checks import RustCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, Verdict

CODE = "/// Adds.\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"
TASK = Task(language="rust", statement="Add.", check=RustCheck())


def module(*tests: str) -> str:
    bodies = "".join(
        f"    #[test]\n    fn t{i}() {{\n        {body}\n    }}\n" for i, body in enumerate(tests)
    )
    return f"\n#[cfg(test)]\nmod tests {{\n    use super::*;\n{bodies}}}\n"


def scores(answer: str, *, said: str | None = None, test: bool = True) -> dict[str, float]:
    completion = Completion(
        token_ids=[1],
        logprobs=[0.0],
        text=said if said is not None else f"```rust\n{answer}```",
        finish_reason="eos",
    )
    rollout = Rollout(
        task_id=TASK.id,
        index=0,
        seed=0,
        prompt="",
        answer=answer,
        turns=[Turn(prompt_ids=[1], completion=completion)],
    )
    verdict = Verdict(
        outcome=Outcome.PASSED if test else Outcome.FAILED,
        stages=[
            Stage(name="build", passed=True),
            Stage(name="lint", passed=True),
            Stage(name="test", passed=test),
        ],
    )
    return {name: REWARDS[name](TASK, rollout, verdict) for name in (*BUILTIN, *PUBLISHED)}  # type: ignore


def test_an_honest_answer_earns_everything_by_both():
    answer = CODE + module(
        "assert_eq!(add(1, 2), 3);\n        assert_eq!(add(0, 0), 0);\n"
        "        assert!(add(2, 2) > 3);\n        assert_ne!(add(1, 1), 3);"
    )
    found = scores(answer)
    assert all(
        found[name] == 1.0
        for name in ("build", "clippy", "test", "non_empty", "code_block", "test_block", "asserts")
    )
    assert found["published_test"] == found["published_non_empty"] == found["published_test_block"] == 1.0
    assert found["published_asserts"] == 0.75  # assert_ne! is not seen


def test_the_original_stops_at_the_first_brace():
    found = scores(CODE + module("assert_eq!(add(1, 2), 3);", "assert_eq!(add(2, 2), 4);"))
    assert found["asserts"] == 0.5 and found["published_asserts"] == 0.25


STUB = "fn add(a: i32, b: i32) -> i32 {\n    todo!()\n}\n"
NO_TEST = "\n#[cfg(test)]\nmod tests {\n    fn helper() -> i32 {\n        1\n    }\n}\n"
CANNOT_FAIL = module("assert!(true);\n        assert_eq!(1, 1);")
COMMENT = "/*" + module("assert_eq!(add(1, 2), 3);") + "*/"


@pytest.mark.parametrize(
    ("answer", "closed"),
    [
        pytest.param(STUB + module("assert!(true);"), {"non_empty", "asserts"}, id="todo"),
        pytest.param(CODE + NO_TEST, {"test_block", "non_empty"}, id="no test"),
        pytest.param(CODE + CANNOT_FAIL, {"asserts"}, id="cannot fail"),
        pytest.param(CODE + COMMENT, {"test_block", "asserts", "non_empty"}, id="comment"),
    ],
)
def test_what_the_original_pays_for_and_the_parse_tree_does_not(answer, closed):
    found = scores(answer)
    paid = {name for name in ("non_empty", "test_block", "asserts") if found[f"published_{name}"] > 0}
    assert {name for name in paid if found[name] == 0.0} == closed


def test_no_tests_no_credit_for_tests():
    found = scores(CODE)
    assert (
        found["published_test"]
        == found["published_test_block"]
        == found["test_block"]
        == found["asserts"]
        == 0.0
    )


def test_code_block_means_one_block_with_a_function():
    assert scores(CODE)["code_block"] == 1.0
    assert scores(CODE, said=f"```rust\n{CODE}```\n```rust\n{CODE}```")["code_block"] == 0.0
    assert scores("let x = 1;")["code_block"] == 0.0
    assert scores(CODE, said="\n    a + b")["code_block"] == 1.0, "the prompt began the program"


@pytest.mark.parametrize(
    "answer",
    some(["", "}" * 5000, "fn f" + "(" * 50_000, "\x00", "#[cfg(test)] mod tests {" * 3000, "é" * 70_000], 3),
    ids=lambda text: text[:8],
)
def test_hostile_answers_do_not_stop_it(answer):
    assert all(value is None or 0 <= value <= 1 for value in scores(answer).values())


def test_the_published_forms_read_the_whole_response():
    tests = module("assert!(add(1, 2) == 3);\n        assert_eq!(add(0, 0), 0);")
    said = f"The tests first:\n```rust{tests}```\nand then\n```rust\n{CODE}```\n"
    found = scores(CODE, said=said)
    assert (found["published_test_block"], found["published_asserts"]) == (1.0, 0.5)
    assert found["published_test"] == 1.0
    assert found["published_non_empty"] == 1.0, "the first block is the code, and holds the tests"
    assert scores(CODE, said=f"```rust\n{CODE}```\n")["published_test_block"] == 0.0


def test_the_published_non_empty_wants_a_function():
    data = "pub const A: i32 = 1;\npub const B: i32 = 2;\npub const C: i32 = 3;\n"
    no_function = data + "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n"
    assert scores(no_function)["published_non_empty"] == 0.0
    assert scores(no_function + "fn f() {}\n")["published_non_empty"] == 1.0


def test_where_the_prompt_began_the_answer_it_is_the_response():
    answer = CODE + module("assert!(add(1, 2) == 3);")
    found = scores(answer, said=answer.removeprefix("/// Adds.\npub fn add("))
    assert found["published_test_block"] == found["published_code_block"] == 1.0
