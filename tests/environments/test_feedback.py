"""The environment feedback, played by a script and by a real model, with real verdicts."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from strop.config.load import load_recipe
from strop.environments.feedback import told
from strop.environments.registry import bind, find_environment, played_by
from strop.policies.loading import EMBEDDED, load_model, load_tokenizer
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks.public_tests import shows_tests
from strop.training.batch import sample_of
from strop_tasks.generators.needs_feedback import generate
from strop_verify.core.checks import (
    Case,
    CasesCheck,
    EditCheck,
    ProjectCheck,
    RustCheck,
    StdioCase,
    StdioCheck,
)
from strop_verify.core.play import Done
from strop_verify.core.rollout import Completion, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict

if TYPE_CHECKING:
    from strop_verify.verification.verifier import OpenVerifier

CHECK = CasesCheck(
    entry_point="f", cases=[Case(args=[3], expected=9), *(Case(args=[n], expected=n * n) for n in (4, 5, 6))]
)
TASK = Task(
    statement="Square.", signature="def f(x: int) -> int:", check=CHECK,
    reference="def f(x: int) -> int:\n    return x * x\n",
    metadata={"public_tests": [0], "wrong": ["def f(x: int) -> int:\n    return x + 4\n"]},
)  # fmt: skip


class Says(ScriptedPolicy):
    """Answers in turn, and keeps its prompts as text."""

    def __init__(self, *texts: str) -> None:
        super().__init__(self._text)
        self.texts, self.prompts = iter(texts), list[str]()

    def _text(self, prompt: Sequence[int], seed: int, index: int) -> str:
        self.prompts.append(self.tokenizer.decode(list(prompt)))
        return next(self.texts)


def block(code: str) -> str:
    return f"```python\n{code}```"


def square(body: str) -> str:
    return f"def f(x: int) -> int:\n    return {body}\n"


def played(
    verifier: "OpenVerifier", policy: Any, style: str = "chat", task: Task = TASK, **options: Any
) -> Rollout:
    kind = find_environment("feedback") if not options else _with(options)
    dispatcher = Dispatcher(policy, verifier, bind(kind, style, stop=() if style == "chat" else None))
    (found,) = dispatcher.play([task], 1, SamplingParams(max_tokens=200), seed=1)
    return found


def _with(options: dict[str, Any]) -> Callable[..., Any]:
    recipe = load_recipe([{"tasks": {"environment": {"type": "feedback", **options}}}], [])
    return find_environment(recipe.task_set.environment)


pytestmark = pytest.mark.jail


def test_what_failed_is_said_until_the_public_tests_pass(verifier: "OpenVerifier") -> None:
    policy = Says(block(square("x + 4")), "no code at all: (", block(square("x * x")))
    found = played(verifier, policy)
    assert len(found.turns) == 3 and found.verdict is not None and found.verdict.passed
    assert "f(3) gave 7; expected 9." in policy.prompts[1] and "f(4)" not in policy.prompts[1]
    assert "SyntaxError" in policy.prompts[2]
    assert [turn.verdict.passed for turn in found.turns if turn.verdict] == [False, False, True]
    assert len(found.verdict.tests) == 4, "the last answer is judged by all tests"


def test_it_ends_when_the_public_tests_pass_though_others_fail(verifier: "OpenVerifier") -> None:
    found = played(verifier, Says(block(square("9"))))
    assert len(found.turns) == 1 and found.turns[0].verdict is not None and found.turns[0].verdict.passed
    assert found.verdict is not None and not found.verdict.passed


def test_it_ends_when_its_turns_are_used_up(verifier: "OpenVerifier") -> None:
    found = played(verifier, Says(*[block(square(str(n))) for n in range(5)]), turns=2)
    assert (
        len(found.turns) == 2
        and found.answer.rstrip().endswith("return 1")
        and found.stop_reason == "answered"
    )
    assert found.verdict is not None and not found.verdict.passed


def test_nothing_but_the_failure_is_said_with_tell_off_and_long_texts_are_cut(
    verifier: "OpenVerifier",
) -> None:
    policy = Says(*[block(square("x + 4"))] * 3)
    played(verifier, policy, tell=False)
    assert "Your code failed." in policy.prompts[1] and "expected" not in policy.prompts[1]
    policy = Says(*[block(square("'x' * 5000"))] * 3)
    played(verifier, policy, chars=60)
    said = policy.prompts[1].partition("failed.")[2]
    assert len(said) < 160 and "f(3) gave 'xxx" in said and "expected 9." in said and " ... " in said


@pytest.mark.parametrize("style", ["chat-prefilled", "continue"])
def test_answers_that_are_begun_are_begun_again(verifier: "OpenVerifier", style: str) -> None:
    policy = Says("\n    return x + 4", "\n    return x * x")
    found = played(verifier, policy, style)
    assert found.verdict is not None and found.verdict.passed and len(found.turns) == 2
    assert "f(3) gave 7; expected 9." in policy.prompts[1]
    assert policy.prompts[0].rstrip().endswith(policy.prompts[1][-30:].rstrip())
    assert policy.prompts[1].count("def f(x: int)") > policy.prompts[0].count("def f(x: int)")


OTHERS = {
    "stdio": (
        StdioCheck(cases=[StdioCase(stdin="3\n", stdout="9\n")]), "python", "program",
        block("print(7)\n"), block("print(int(input()) ** 2)\n"), "Input 3: printed 7; expected 9.",
    ),
    "edit": (
        EditCheck(format="search-replace", files={"a.py": square("x")}, judge=CHECK, path="a.py"), "python", "edit",
        "a.py\n<<<<<<< SEARCH\n    return y\n=======\n    return 1\n>>>>>>> REPLACE\n",
        "a.py\n<<<<<<< SEARCH\n    return x\n=======\n    return x * x\n>>>>>>> REPLACE\n",
        "The edit does not apply",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_of_tasks(verifier: "OpenVerifier", kind: str) -> None:
    check, language, family, wrong, right, said = OTHERS[kind]
    policy = Says(wrong, right)
    task = Task(statement="Square.", check=check, language=language, family=family)
    found = played(verifier, policy, task=task, tell=True)
    assert said in policy.prompts[1] and found.verdict is not None and found.verdict.passed


@pytest.mark.parametrize("kind", [*OTHERS, "rust", "project"])
def test_a_task_that_shows_no_test_tells_nothing_of_those_that_judge(
    verifier: "OpenVerifier", kind: str
) -> None:
    if kind == "rust":
        check: Any = RustCheck(tests="#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n")
    elif kind == "project":
        check = ProjectCheck(project="p", digest="0" * 64, failing=["test_a.py::test_b"])
        check = EditCheck(format="search-replace", files={"a.py": "x = 1\n"}, judge=check)
    else:
        check = OTHERS[kind][0]
    task = Task(statement="Square.", check=check, language="rust" if kind == "rust" else "python")
    hidden = TestResult(id="a", outcome=Outcome.FAILED, message="got 7; expected 9")
    failed = Verdict(outcome=Outcome.FAILED, stages=[Stage(name="build", passed=True)], tests=[hidden])
    assert not shows_tests(task) and told(task, failed, None) == told(task, failed, False) == ""
    own = Stage(name="build", passed=False, output="SyntaxError: '(' was never closed (line 1)")
    assert "never closed" in told(task, Verdict(outcome=Outcome.FAILED, stages=[own]), None)


@pytest.mark.rust
def test_rust(verifier: "OpenVerifier") -> None:
    test = "    #[test]\n    fn a() {\n        assert_eq!(super::f(3), 9);\n    }\n"
    check = RustCheck(tests=f"#[cfg(test)]\nmod tests {{\n{test}}}\n")
    task = Task(statement="Square.", signature="pub fn f(x: i64) -> i64", check=check, language="rust")
    policy = Says(
        *[f"```rust\npub fn f(x: i64) -> i64 {{\n    {body}\n}}\n```" for body in ("x + 4", "x * x")]
    )
    found = played(verifier, policy, task=task, tell=True)
    assert "assert_eq!(super::f(3), 9);" in policy.prompts[1]
    assert found.verdict is not None and found.verdict.passed


def test_a_fault_of_ours_is_no_feedback() -> None:
    environment: Any = bind(find_environment("feedback"), "chat")(TASK)
    environment.step(Completion(token_ids=[], logprobs=[], text="x", finish_reason="eos"))
    after = environment.result(None, Verdict(outcome=Outcome.ERROR, detail="the jail broke"))
    assert after == Done("the jail broke", "infra")


@pytest.mark.parametrize("style", ["chat", "chat-prefilled", "continue"])
def test_its_expert_solves_every_task(verifier: "OpenVerifier", style: str) -> None:
    recipe = load_recipe([], ["tasks.environment=feedback", f"tasks.style={style}"])
    for number, task in enumerate(generate(30)):
        environment: Any = played_by(recipe)(task)
        texts: Iterator[str] = environment.demonstrate(random.Random(number))
        policy = ScriptedPolicy(lambda prompt, seed, index, texts=texts: next(texts))  # type: ignore[misc]
        found = played(verifier, policy, style, task)
        assert found.verdict is not None and found.verdict.passed and len(found.turns) <= 2
        assert all(turn.verdict and turn.verdict.stages[0].passed for turn in found.turns)


@pytest.mark.train(20)
def test_a_real_models_turns_are_what_it_was_asked(verifier: "OpenVerifier") -> None:
    """Tokens laid end to end are the prompts of the engine; only sampled ones carry loss."""
    inner = HubTokenizer(load_tokenizer(EMBEDDED))
    policy = TransformersPolicy(load_model(EMBEDDED, device="cpu"), inner)
    found = played(verifier, policy)
    ids = [*chain.from_iterable([*turn.prompt_ids, *turn.completion.token_ids] for turn in found.turns)]
    sample = sample_of(found.model_copy(update={"reward": 1.0, "advantage": 0.5}), mask_truncated=False)
    assert sample.ids == ids
    assert sum(sample.mask) == sum(len(turn.completion.token_ids) for turn in found.turns)
