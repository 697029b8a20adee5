"""Process rewards: where steps end, what the beginnings are worth by execution, and what their tokens get."""

import pytest
from tests.rollouts.test_groups import doubling

from strop.config.algorithms import ProcessAdvantage
from strop.environments.registry import bind
from strop.environments.single_turn import SingleTurn
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import play_groups
from strop.rollouts.process import step_ends, with_steps
from strop.training.batch import Advantages, sample_of
from strop_verify.code.python.source import statement_ends
from strop_verify.core.rollout import Completion, Group, Rollout, SamplingParams, Turn
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.pool.pool import VerifierPool


def test_statements_end_where_their_last_line_does() -> None:
    text = "def f(x):\n    y = [\n        x,\n    ]\n\n    # so\n    s = '''a\nb'''\n    if x: return y\n    return s"
    ends = statement_ends(text)
    assert [text[a:b].strip().split("\n")[-1].strip() for a, b in zip([0, *ends], ends, strict=False)] == [
        "def f(x):", "]", "b'''", "if x: return y", "return s"
    ]  # fmt: skip
    assert ends[-1] == len(text)
    assert statement_ends("\n    return x\n") == [len("\n    return x\n")]  # the rest of a function
    assert statement_ends("x = 1\ny = (2,") == [6] and statement_ends("") == []


def answered(text: str, answer: str) -> Rollout:
    tokens = WireTokenizer().encode(text)
    said = Completion(token_ids=tokens, logprobs=[0.0] * len(tokens), text=text, finish_reason="eos")
    return Rollout(
        task_id="t", index=0, seed=0, prompt="", turns=[Turn(prompt_ids=[300], completion=said)], answer=answer,
        verdict=Verdict(outcome=Outcome.PASSED),
    )  # fmt: skip


def test_steps_end_with_the_tokens_that_hold_their_ends() -> None:
    code = "def f(n):\n    a = n\n    b = a\n    return a + b"
    text, tokenizer = f"Here it is:\n```python\n{code}\n```\nIt adds n to itself.", WireTokenizer()
    rollout = answered(text, code)
    ids = rollout.turns[0].completion.token_ids
    ends = step_ends(rollout, tokenizer, most=9)
    assert ends[-1] == len(ids) and ends == sorted({*ends}) and len(ends) == 4
    for end, line in zip(ends, ("def f(n):", "a = n", "b = a"), strict=False):
        before, now = tokenizer.decode(ids[: end - 1]), tokenizer.decode(ids[:end])
        assert f"{line}\n" in now and f"{line}\n" not in before
    assert len(step_ends(rollout, tokenizer, most=2)) == 2
    assert step_ends(answered("nothing to read (", ""), tokenizer, most=9) == [5]


def test_values_are_shares_of_what_goes_on_and_equal_beginnings_have_one(verifier: VerifierPool) -> None:
    """Plays begin with a good or with a bad line; what goes on from the good one passes every other time."""
    asked: list[str] = []

    def say(prompt: list[int], seed: int, again: int) -> str:
        text = policy.tokenizer.decode(prompt).rpartition("int:")[2]
        if "m = " not in text:
            return "\n    m = n\n    return m * 2" if again % 3 else "\n    m = 0\n    return m"
        _, _, begun = text.rpartition("\n")
        asked.append(text.strip().rpartition("\n")[2].strip())
        return " " * (4 - len(begun)) + ("return m * 2" if again % 2 else "return m")

    policy = ScriptedPolicy(say)
    player = Dispatcher(policy, verifier, bind(SingleTurn, "continue"))
    tasks = [doubling("mixed_a")]
    groups = play_groups(
        player, WeightedRubric.from_names([("passed", 1.0)]), tasks, 6, SamplingParams(), seed=1, step=0
    )
    (found,) = with_steps(player, tasks, groups, SamplingParams(), continuations=4, most=6)
    assert sorted(asked) == ["m = 0"] * 4 + ["m = n"] * 4
    for rollout in found.rollouts:
        (turn,) = rollout.turns
        good = "m = n" in rollout.answer
        assert rollout.verdict and rollout.verdict.passed is good
        assert [step.value for step in turn.steps] == ([0.5, 1.0] if good else [0.0, 0.0])
        assert turn.steps[-1].end == len(turn.completion.token_ids)

    (weighed,) = Advantages(ProcessAdvantage()).of([found])
    values = [step.value for rollout in found.rollouts for step in rollout.turns[0].steps]
    mean = sum(values) / len(values)
    spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5 + 1e-4
    for rollout in weighed.rollouts:
        first, last = rollout.turns[0].steps
        sample = sample_of(rollout, mask_truncated=False)
        given = [a for a, kept in zip(sample.advantages, sample.mask, strict=True) if kept]
        later = (last.value - mean) / spread
        both = (first.value - mean) / spread + later
        assert given == pytest.approx([both] * first.end + [later] * (last.end - first.end))


def test_a_turn_is_a_step_where_turns_are_rewarded() -> None:
    one, two = answered("return 1", "return 1"), answered("return 2", "return 2")
    turn = one.turns[0].model_copy(update={"reward": 0.0})
    plays = [
        one.model_copy(update={"turns": [turn, *one.turns], "reward": 1.0}),
        two.model_copy(update={"reward": 0.5}),
        two.model_copy(update={"reward": None}),
    ]
    (found,) = Advantages(ProcessAdvantage(steps="turn")).of([Group(task_id="t", step=0, rollouts=plays)])
    first, second, third = found.rollouts
    assert [step.advantage for t in first.turns for step in t.steps] == pytest.approx([0.0, 0.9998], abs=1e-3)
    assert second.advantage == pytest.approx(0.0) and third.advantage == 0.0
