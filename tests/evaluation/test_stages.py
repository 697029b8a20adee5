import io
import json

import pytest

from strop.evaluation.evaluate import evaluate
from strop.evaluation.models import show_all
from strop.evaluation.result import Evaluation, compare, paired_json
from strop_verify.core.checks import (
    Case,
    CasesCheck,
    CommandCheck,
    CommandStep,
    LabelCheck,
    RustCheck,
    StdioCase,
    StdioCheck,
)
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, Verdict

RUST = RustCheck(tests="#[cfg(test)] mod tests {}")
CASES = CasesCheck(entry_point="f", cases=[Case(expected=1)])


def task(name, check=RUST, language="rust"):
    return Task(id=name, statement="", language=language, check=check)


def verdict(build, lint, test, outcome=None):
    stages = [("build", build), ("lint", lint), ("test", test)]
    return Verdict(
        outcome=outcome or (Outcome.PASSED if test else Outcome.FAILED),
        stages=[Stage(name=name, passed=passed) for name, passed in stages if passed is not None],
    )


PASSED, LINTED, BUILT, BROKEN = (verdict(n < 3, n < 2, n < 1) for n in range(4))
REFUSED = verdict(True, True, True, Outcome.FAILED)  # its tests ran green, strict mode does not believe them
EMPTY = Verdict(outcome=Outcome.NO_ANSWER)
ERROR = Verdict(outcome=Outcome.ERROR, stages=[Stage(name="build", passed=True)], detail="ours")


def run(script, tasks=None, **options):
    """`script`: {task id: (verdicts of the sampled answers, verdict of the greedy one)}."""
    tasks = tasks or [task(name) for name in script]

    def play(some, samples, params, tag):
        for one in some:
            sampled, greedy = script[one.id]
            for index, found in enumerate([greedy] if tag == "greedy" else sampled):
                completion = Completion(token_ids=[1], logprobs=[0.0], text="", finish_reason="eos")
                turns = [Turn(prompt_ids=[1], completion=completion)]
                yield Rollout(task_id=one.id, index=index, seed=0, prompt="", turns=turns, verdict=found)

    samples = len(next(iter(script.values()))[0])
    return evaluate(
        play, tasks, **{"samples": samples, "k": [1], "max_tokens": 9, "resamples": 300, **options}
    )


FIRST = {
    "a": ([PASSED, LINTED, BUILT, BROKEN], LINTED),
    "b": ([REFUSED, EMPTY, BROKEN, ERROR], BROKEN),
}


def test_rates_count_the_answers_that_came_through_each_stage():
    result = run(FIRST)
    assert [(t.stages, t.greedy_stages) for t in result.counts] == [
        ({"build": 3, "lint": 2, "test": 1}, {"build": True, "lint": True, "test": False}),
        ({"build": 1, "lint": 1, "test": 0}, {"build": False, "lint": False, "test": False}),
    ]
    assert result.values("build") == {"a": 0.75, "b": pytest.approx(1 / 3)}  # the error is in neither number
    assert result.values("lint") == {"a": 0.5, "b": pytest.approx(1 / 3)}
    assert result.values("test") == result.values("pass@1") == {"a": 0.25, "b": 0.0}
    assert result.values("greedy-build") == {"a": 1.0, "b": 0.0}
    assert result.keys == ["pass@1", "greedy"]
    assert result.stage_keys == ["build", "lint", "test", "greedy-build", "greedy-lint", "greedy-test"]


def test_json_has_rates_with_intervals_beside_the_other_numbers():
    report = json.loads(json.dumps(run(FIRST).as_json()))
    assert report["build"] == pytest.approx((0.75 + 1 / 3) / 2)
    low, high = report["intervals"]["build"]
    assert low == pytest.approx(1 / 3) and high == 0.75
    assert report["greedy-lint"] == 0.5 and report["greedy"] == report["greedy-test"] == 0
    assert report["per_task"][0]["stages"] == {"build": 3, "lint": 2, "test": 1}
    assert set(report["unscored_tasks"]) == {"pass@1", "greedy"}


def test_a_stage_that_tasks_do_not_have_is_left_out():
    python = run(
        {"p": ([verdict(True, None, True)], verdict(False, None, None))}, [task("p", CASES, "python")]
    )
    assert python.stage_keys == ["build", "test", "greedy-build", "greedy-test"]
    assert (python.values("build"), python.values("greedy-build")) == ({"p": 1.0}, {"p": 0.0})
    mixed = run(
        {"p": ([verdict(True, None, True)], EMPTY), "r": ([LINTED], EMPTY)},
        [task("p", CASES, "python"), task("r")],
    )
    assert mixed.values("lint") == {"r": 1.0} and mixed.values("build") == {"p": 1.0, "r": 1.0}
    steps = [CommandStep(stage=stage, argv=["x"]) for stage in ("build", "test")]
    command = run({"c": ([EMPTY], EMPTY)}, [task("c", CommandCheck(path="x", steps=steps), "go")])
    assert command.values("build") == {"c": 0.0} and "lint" not in command.stage_keys


def test_a_program_has_the_stages_that_verdicts_of_its_language_show():
    check = StdioCheck(cases=[StdioCase(stdin="", stdout="1")])
    tasks = [task("one", check, "javascript"), task("two", check, "javascript"), task("py", check, "python")]
    found = run(
        {
            "one": ([PASSED], PASSED),
            "two": ([EMPTY], EMPTY),
            "py": ([verdict(True, None, True)], EMPTY),
        },
        tasks,
    )
    assert found.values("lint") == {"one": 1.0, "two": 0.0}


def test_only_greedy_answers_have_only_greedy_rates():
    result = run({"a": ([], LINTED), "b": ([], ERROR)}, samples=0)
    assert result.stage_keys == ["greedy-build", "greedy-lint", "greedy-test"]
    assert result.first_stage_keys == {s: f"greedy-{s}" for s in ("build", "lint", "test")}
    assert result.values("greedy-build") == {"a": 1.0}  # nothing is known of the other
    sampled = run(FIRST, greedy=False)
    assert sampled.stage_keys == ["build", "lint", "test"]


def test_comparison_and_table_have_the_stages_even_where_one_side_never_answered():
    silent = run({name: ([EMPTY] * 4, EMPTY) for name in "ab"})
    after = run({name: ([PASSED, PASSED, BUILT, BROKEN], PASSED) for name in "ab"})
    paired = paired_json(compare(silent, after))
    assert paired["build"] == {"delta": 0.75, "low": 0.75, "high": 0.75}
    assert paired["lint"]["delta"] == paired["test"]["delta"] == 0.5 and paired["greedy-build"]["delta"] == 1
    file = io.StringIO()
    show_all({"before": silent, "after": after}, file=file)
    lines = [line for line in file.getvalue().splitlines() if line.startswith("|")]
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    assert [row[head.index("build")][:6] for row in rows] == ["0.000 ", "0.750 ", "+0.750"]
    assert "lint" in head and "test" in head and "greedy-build" not in head


def test_a_record_of_before_there_were_stages_is_still_read():
    result = run(FIRST)
    record = result.model_dump(mode="json")
    for counts in record["counts"]:
        del counts["stages"], counts["greedy_stages"]
    old = Evaluation.model_validate_json(json.dumps(record))
    assert old.stage_keys == [] and old.values("pass@1") == result.values("pass@1")
    assert set(compare(old, result)) == {"pass@1", "greedy"}
    assert Evaluation.model_validate_json(result.model_dump_json()) == result


def test_a_pair_is_right_where_both_of_its_members_are():
    def member(name, expected, pair):
        check = LabelCheck(choices=["safe", "CWE-125"], expected=expected)
        return Task(id=name, statement="", check=check, metadata={"pair": pair})

    right, wrong = Verdict(outcome=Outcome.PASSED), Verdict(outcome=Outcome.FAILED)
    tasks = [member("a/old", "CWE-125", "a"), member("a/new", "safe", "a")]
    tasks += [member("b/old", "CWE-125", "b"), member("b/new", "safe", "b"), member("c/old", "CWE-125", "c")]
    script = {
        "a/old": ([right, wrong], right),
        "a/new": ([right, right], right),
        "b/old": ([wrong, wrong], wrong),
        "b/new": ([right, right], right),
        "c/old": ([right, right], right),
    }
    result = run(script, tasks)
    assert result.values("pairs") == {"a": 0.5, "b": 0.0}  # c has lost its twin
    assert result.values("greedy-pairs") == {"a": 1.0, "b": 0.0}
    assert result.as_json()["pairs"] == 0.25 and result.as_json()["greedy-pairs"] == 0.5
    always = run({t.id: ([right if "new" in t.id else wrong] * 2, right) for t in tasks[:4]}, tasks[:4])
    assert always.estimate("pass@1").value == 0.5 and always.estimate("pairs").value == 0.0
    assert compare(always, run({n: script[n] for n in list(script)[:4]}, tasks[:4]))["pairs"].delta == 0.25
