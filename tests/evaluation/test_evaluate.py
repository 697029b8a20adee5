import io
import json

import pytest

from strop.evaluation.evaluate import evaluate
from strop.evaluation.models import show_all
from strop.evaluation.result import Evaluation, compare, paired_json
from strop.evaluation.table import topic_table
from strop_verify.core.checks import Case, CasesCheck, NoneCheck
from strop_verify.core.errors import TooManyErrors, UserError
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict


def task(name, topic=""):
    return Task(
        id=name, statement="", topic=topic, check=CasesCheck(entry_point="f", cases=[Case(expected=1)])
    )


TASKS = [task("a", "lists"), task("b", "lists"), task("c", "dates")]
# Outcomes of the four sampled answers of each task (p passed, f failed, e error) and of the greedy one.
SCRIPT = {"a": ("pppp", "p"), "b": ("pfff", "f"), "c": ("eeff", "e")}


def player(script, asked=None):
    """Plays a script of outcomes: rollouts as a player gives them, without a model."""

    def play(tasks, samples, params, tag):
        if asked is not None:
            asked.append((samples, params, tag))
        for one in reversed(tasks):
            outcomes = script[one.id][1 if tag == "greedy" else 0]
            for index in range(samples):
                yield rollout(one.id, index, outcomes[index], tokens=10 if tag == "sampled" else 99)

    return play


def rollout(task_id, index, letter, tokens=10):
    outcome = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERROR}[letter]
    completion = Completion(
        token_ids=[1] * tokens,
        logprobs=[0.0] * tokens,
        text="",
        finish_reason="length" if index == 0 else "eos",
    )
    return Rollout(
        task_id=task_id, index=index, seed=0, prompt="", turns=[Turn(prompt_ids=[1], completion=completion)],
        verdict=Verdict(outcome=outcome, detail="the jail broke" if letter == "e" else ""),
    )  # fmt: skip


def run(script=SCRIPT, **options):
    options = {"samples": 4, "k": [1, 4], "max_tokens": 64, "resamples": 200} | options
    return evaluate(player(script), TASKS, **options)


def test_counts_leave_unscored_answers_out():
    result = run()
    assert [(t.task_id, t.n, t.c, t.greedy) for t in result.counts] == [
        ("a", 4, 4, True), ("b", 4, 1, False), ("c", 2, 0, None)
    ]  # fmt: skip
    assert result.values("pass@1") == {"a": 1.0, "b": 0.25, "c": 0.0}
    assert result.values("pass@4") == {"a": 1.0, "b": 1.0}  # c has only two scored answers
    assert result.values("greedy") == {"a": 1.0, "b": 0.0}
    assert result.error_rate == pytest.approx(3 / 15)


def test_json_has_the_numbers_of_the_contract():
    report = json.loads(json.dumps(run().as_json()))
    assert report["pass@1"] == pytest.approx(1.25 / 3)
    assert report["pass@4"] == 1.0
    assert report["greedy"] == 0.5
    low, high = report["intervals"]["pass@1"]
    assert 0 <= low < report["pass@1"] < high <= 1
    assert report["tasks"] == 3
    assert report["unscored_tasks"] == {"pass@1": 0, "pass@4": 1, "greedy": 1}
    assert report["topics"]["lists"]["pass@1"] == pytest.approx(0.625)
    assert report["topics"]["dates"]["greedy"] is None
    assert report["outcomes"] == {"passed": 6, "failed": 6, "error": 3}
    assert report["tokens_mean"] == 10 and report["truncated_rate"] == 0.25
    assert "per_task" not in run().as_json(per_task=False)


def test_result_comes_back_from_json():
    result = run()
    assert Evaluation.model_validate_json(result.model_dump_json()) == result


def test_sampling_is_asked_for_as_said_and_greedy_apart():
    asked = []
    evaluate(
        player(SCRIPT, asked),
        TASKS,
        samples=2,
        temperature=0.7,
        top_p=0.9,
        k=[1],
        max_tokens=9,
        stop=["x"],
        resamples=100,
    )
    (samples, params, tag), (one, greedy, other) = asked
    assert (samples, params.temperature, params.top_p, params.max_tokens, params.stop, tag) == (
        2,
        0.7,
        0.9,
        9,
        ("x",),
        "sampled",
    )
    assert (one, greedy.temperature, greedy.top_p, greedy.stop, other) == (1, 0.0, 1.0, ("x",), "greedy")


def test_only_greedy_and_only_sampled():
    only = run(samples=0, k=[1])
    assert only.keys == ["greedy"] and only.tokens_mean == 99
    assert run(greedy=False).keys == ["pass@1", "pass@4"]
    with pytest.raises(UserError, match="nothing to evaluate"):
        run(samples=0, greedy=False)


def test_every_rollout_is_seen():
    seen = []
    run(on_rollout=seen.append)
    assert len(seen) == 15


@pytest.mark.parametrize("k", [[5], [0]])
def test_k_beyond_the_samples_is_the_users_error(k):
    with pytest.raises(UserError, match=f"pass@{k[0]}"):
        run(k=k)


def test_too_many_errors_stop_with_the_cause():
    with pytest.raises(TooManyErrors, match=r"20\.0%.*the jail broke"):
        run(max_error_rate=0.05)
    assert run(max_error_rate=0.2)


def test_a_player_that_loses_or_repeats_rollouts_is_found_out():
    def lossy(tasks, samples, params, tag):
        yield from list(player(SCRIPT)(tasks, samples, params, tag))[1:]

    with pytest.raises(ValueError, match="instead of 4"):
        evaluate(lossy, TASKS, samples=4, k=[1], max_tokens=4)
    with pytest.raises(UserError, match="no task"):
        evaluate(player(SCRIPT), [], samples=4, k=[1], max_tokens=4)
    with pytest.raises(UserError, match="same id"):
        evaluate(player(SCRIPT), [TASKS[0], TASKS[0]], samples=4, k=[1], max_tokens=4)


def test_comparison_pairs_the_tasks_that_both_have():
    after = run({"a": ("pppp", "p"), "b": ("pppp", "p"), "c": ("pppf", "p")})
    paired = compare(run(), after)
    assert paired["pass@1"].delta == pytest.approx((0 + 0.75 + 0.75) / 3)
    assert paired["greedy"].delta == pytest.approx(0.5)  # c has no greedy answer before
    assert paired["pass@4"].delta == 0
    assert set(paired_json(paired)["pass@1"]) == {"delta", "low", "high"}
    with pytest.raises(UserError, match="1 tasks are in only one evaluation"):
        compare(run(), evaluate(player(SCRIPT), TASKS[:2], samples=4, k=[1], max_tokens=4))


def test_table_is_plain_where_there_is_no_terminal():
    before, after = run(), run({"a": ("pppp", "p"), "b": ("pppp", "p"), "c": ("pppp", "p")})
    file = io.StringIO()
    results = {"before": before, "after\x1b[31m": after}
    show_all(results, title="demo", file=file)
    text = file.getvalue()
    assert "\x1b" not in text and "\\x1b[31m" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert "pass@1" in rows[0] and "0.417 [" in rows[1] and "1.000 [1.000, 1.000]" in rows[2]
    assert "difference" in rows[3] and "+0.583 [" in rows[3]
    assert (
        "\n3 tasks, 4 answers each, T = 1; 95% intervals; differences from before on the same tasks\n" in text
    )
    assert text.startswith("demo\n")
    assert any("lists" in line and "0.625" in line for line in text.splitlines())


def test_no_topics_no_topic_table():
    plain = [task("a"), task("b")]
    result = evaluate(player(SCRIPT), plain, samples=4, k=[1], max_tokens=4, resamples=100)
    assert topic_table({"x": result}) is None
    assert result.as_json()["topics"] == {}


def test_tasks_that_nothing_judges_are_left_out_and_alone_refused():
    none = Task(id="n", statement="", check=NoneCheck())
    options = {"samples": 4, "k": [1], "max_tokens": 64, "resamples": 200}
    result = evaluate(player(SCRIPT), [none, *TASKS], **options)
    assert [one.task_id for one in result.counts] == ["a", "b", "c"]
    with pytest.raises(UserError, match=r"nothing judges the 1 tasks.*evaluation\.before=false"):
        evaluate(player(SCRIPT), [none], **options)
