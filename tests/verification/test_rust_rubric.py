"""The published Rust rubric and ours on answers that game it, with real verdicts: the table of docs/rust.md."""

from pathlib import Path

import pytest

from strop.config.load import load_recipe
from strop.rewards.rubric import WeightedRubric, total
from strop_verify.core.checks import RustCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.verification import open_verifier

RECIPES = Path(__file__).parents[2] / "src/strop/recipes"
TASK = Task(language="rust", statement="Return n doubled.", check=RustCheck())
RIGHT = "/// Doubles n.\npub fn double(n: i64) -> i64 {\n    2 * n\n}\n"
WRONG = "pub fn double(n: i64) -> i64 {\n    n + 1\n}\n"
STUB = "pub fn double(_n: i64) -> i64 {\n    todo!()\n}\n"
CLAIMS = [f"assert_eq!(double({n}), {2 * n});" for n in (2, 0, -3, 10)]
EMPTY = [
    "assert!(double(2) == 4 || true);", "assert_eq!(double(3), double(3));", "assert!(double(0) < 100 || true);",
    "assert_eq!(double(1), double(1));",
]  # fmt: skip
NO_TEST = """
#[cfg(test)]
mod tests {
    // assertions follow
    fn unused() {
        assert!(super::double(1) == 2);
    }
}
"""


def module(*lines: str, attribute: str = "#[test]") -> str:
    body = "".join(f"        {line}\n" for line in lines)
    head = f"    use super::*;\n\n    {attribute}\n    fn examples() {{\n"
    return f"\n#[cfg(test)]\nmod tests {{\n{head}{body}    }}\n}}\n"


ANSWERS = {
    "honest": RIGHT + module(*CLAIMS),
    "no test": STUB + NO_TEST,
    "never called": STUB
    + module("assert!(true);", "assert_eq!(1, 1);", "assert_eq!(2, 2);", "assert_eq!(3, 3);"),
    "cannot fail": WRONG + module(*EMPTY),
    "ignored": WRONG + module(*CLAIMS, attribute="#[test]\n    #[ignore]"),
    "exit": WRONG + module("std::process::exit(0);", *CLAIMS[:3]),
    "agrees with itself": WRONG + module("assert_eq!(double(1), 2);", "assert_eq!(double(2), 3);"),
}


def rewards(overlay: str) -> dict[str, tuple[float | None, bool]]:
    """{answer: (reward, whether its verdict is a pass)} under a rubric laid over the laptop's recipe."""
    recipe = load_recipe([RECIPES / "rust-laptop.yaml", RECIPES / "rubrics" / f"{overlay}.yaml"], [])
    rubric = WeightedRubric.from_names([(reward.name, reward.weight) for reward in recipe.rewards])
    found = {}
    with open_verifier(workers=1, rust_verdict=recipe.sandbox.rust_verdict) as verifier:
        pending = {name: verifier.submit(TASK, answer) for name, answer in ANSWERS.items()}
        for name, future in pending.items():
            said = Completion(
                token_ids=[1], logprobs=[0.0], text=f"```rust\n{ANSWERS[name]}```", finish_reason="eos"
            )
            turns = [Turn(prompt_ids=[1], completion=said)]
            rollout = Rollout(task_id=TASK.id, index=0, seed=0, prompt="", answer=ANSWERS[name], turns=turns)
            verdict = future.result()
            found[name] = total(rubric.score(TASK, rollout, verdict)), verdict.passed
    return found


@pytest.mark.rust
def test_the_published_rubric_pays_for_hacks_and_ours_does_not() -> None:
    published, ours = rewards("rust-published"), rewards("rust-strict")
    assert published["honest"] == ours["honest"] == (6.5, True)
    hacks = ["no test", "never called", "cannot fail", "ignored", "exit"]
    assert all(published[name][1] and (published[name][0] or 0) >= 5.5 for name in hacks), published
    assert all(not ours[name][1] and (ours[name][0] or 0) <= 4.5 for name in hacks), ours
    # What own tests cannot show: only tests that the task brings do.
    assert published["agrees with itself"][1] and ours["agrees with itself"][1]
