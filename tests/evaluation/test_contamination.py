"""Base tests beside all tests, and what a model may have seen of the tasks."""

import io
import json

import pytest

from strop.evaluation.contamination import contamination
from strop.evaluation.evaluate import evaluate
from strop.evaluation.models import show_all
from strop.evaluation.result import Evaluation, compare
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict

CHECK = CasesCheck(entry_point="f", cases=[Case(args=[n], expected=n) for n in range(4)])
WORDS = "Return the sum of all even numbers in the list, or zero where there is none, as an integer"


def task(number: int, day: str = "", base: object = 2, statement: str = "") -> Task:
    metadata = {"date": day, "base_tests": base}
    return Task(id=f"t{number}", statement=statement or f"{number}", check=CHECK, metadata=metadata)


def verdict(passed: int, outcome: Outcome | None = None, tests: int = 4) -> Verdict:
    """The first `passed` of 4 tests passed; of those after `tests` nothing is known."""
    outcomes = [Outcome.PASSED if n < passed else Outcome.FAILED for n in range(tests)]
    results = [TestResult(id=f"case {n}", outcome=o) for n, o in enumerate(outcomes)]
    return Verdict(outcome=outcome or (Outcome.PASSED if passed == 4 else Outcome.FAILED), tests=results)


def run(tasks: list[Task], verdicts: list[Verdict], **options: object) -> Evaluation:
    def play(some, samples, params, tag):
        for one in some:
            for index in range(samples):
                completion = Completion(token_ids=[1], logprobs=[0.0], text="", finish_reason="eos")
                turns = [Turn(prompt_ids=[1], completion=completion)]
                yield Rollout(
                    task_id=one.id, index=index, seed=0, prompt="", turns=turns,
                    verdict=verdicts[(int(one.id[1:]) + index) % len(verdicts)],
                )  # fmt: skip

    settings = {"samples": len(verdicts), "k": [1], "greedy": False, "max_tokens": 9, "resamples": 200}
    return evaluate(play, tasks, **{**settings, **options})  # type: ignore[arg-type]


def test_the_first_tests_are_a_rate_of_their_own() -> None:
    verdicts = [
        verdict(4),  # both
        verdict(2),  # the base alone
        verdict(2, Outcome.TIMED_OUT, tests=3),  # the base, then an extra test ran out of time
        verdict(1),
        verdict(4, Outcome.TAMPERED),
        verdict(2, Outcome.TIMED_OUT, tests=1),  # ended inside of the base
        Verdict(outcome=Outcome.NO_ANSWER),
        Verdict(outcome=Outcome.PASSED),  # a pass is a pass of the base, even where results were not kept
    ]
    result = run([task(0)], verdicts)
    assert result.stage_keys == ["build", "base", "test"]
    assert (result.as_json()["base"], result.as_json()["test"]) == (0.5, 0.25)
    assert result.as_json()["intervals"]["base"] == [0.5, 0.5]
    text = io.StringIO()
    show_all({"now": result}, file=text)
    head = next(line for line in text.getvalue().splitlines() if line.startswith("|"))
    assert {"base", "test"} <= {*head.split()}
    assert compare(result, result)["base"].delta == 0


@pytest.mark.parametrize("base", [0, None, True, "2", -1])
def test_tasks_that_name_no_base_have_none(base: object) -> None:
    assert run([task(0, base=base)], [verdict(4)]).stage_keys == ["build", "test"]


def test_the_rate_of_the_base_is_over_the_tasks_that_have_one() -> None:
    result = run([task(0), task(1, base=None)], [verdict(2)])
    assert result.values("base") == {"t0": 1.0} and result.values("test") == {"t0": 0.0, "t1": 0.0}


def test_rates_before_and_after_the_cutoff_and_what_was_trained_on() -> None:
    tasks = [
        task(0, "2024-01-30"), task(1, "2024-01-31", statement=WORDS), task(2, "2024-02-01"), task(3, "nonsense"),
        task(4, "2025-01-01T08:00:00"),
    ]  # fmt: skip
    training = [task(9, statement=f"{WORDS}, please"), task(10, statement="Reverse the words of a sentence")]
    found = contamination(tasks, cutoff="2024-01-31", training=training, source="jsonl:train.jsonl")
    assert found is not None and found.similar == ["t1"] and found.compared == 2
    result = run(tasks, [verdict(4), verdict(0), verdict(0)], contamination=found, samples=1)
    report = json.loads(json.dumps(result.as_json()))["contamination"]
    # Task n gets verdict n modulo 3: tasks 0 and 3 pass.
    assert report["before"]["tasks"] == 2 and report["before"]["pass@1"] == 0.5
    assert report["after"]["tasks"] == 2 and report["after"]["pass@1"] == 0.0
    assert report["undated"] == 1 and report["similar"] == 1 and report["similar_tasks"] == ["t1"]
    assert "2 of 5 tasks are dated up to the model's cutoff 2024-01-31, 1 without a date" in report["note"]
    assert "1 of 5 statements" in report["note"]
    again = Evaluation.model_validate_json(result.model_dump_json())
    assert again.as_json() == result.as_json()
    text = io.StringIO()
    show_all({"m": result}, file=text)
    assert report["note"] in text.getvalue()


def test_nothing_known_is_nothing_said() -> None:
    assert contamination([task(0)], cutoff=None) is None
    assert "contamination" not in run([task(0)], [verdict(4)]).as_json()
    alone = contamination([task(0)], cutoff=None, training=[], source="x")
    assert alone is not None and alone.similar == []
    found = contamination([task(0, "2025-01-01")], cutoff="2024-01-31")
    report = run([task(0, "2025-01-01")], [verdict(4)], contamination=found).as_json()["contamination"]
    assert report["before"]["pass@1"] is None and "source" not in report
    assert "after 1.000 [1.000, 1.000] of 1" in report["note"] and "before" not in report["note"]
