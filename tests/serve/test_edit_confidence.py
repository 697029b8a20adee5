"""How sure a model must be: learnt where utilities are known by hand, from tasks and from a log."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from strop.policies.scripted import ScriptedPolicy
from strop.serve.edit_confidence import FEWEST, JudgedEdit, judged_from, learn
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_model import EditModel, Suggested, confidence
from strop.serve.edit_prompt import FimPrompt, TextEdit
from strop_verify.core.checks import NextEditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, SamplingParams
from strop_verify.core.task import Task

WINDOW = ["def add(a, b):", "    return ", ""]


def judged(sure: float, accepted: bool | None, times: int) -> list[JudgedEdit]:
    return [JudgedEdit(sure, accepted)] * times


def test_the_best_confidence_by_hand() -> None:
    """At .9: 8 x .75 - 2 x .25 = 5.5; at .5: 5.5 + 2 x .75 - 8 x .25 = 5; in 40 states."""
    high = [*judged(0.9, True, 8), *judged(0.9, False, 2)]
    low = [*judged(0.5, True, 2), *judged(0.5, False, 8)]
    found = learn([*high, *low, *judged(0.1, None, 20)])
    assert (found.least, found.shown, found.accepted) == (0.9, 10, 8)
    assert found.utility == pytest.approx(5.5 / 40) and found.all == pytest.approx(5.0 / 40)
    assert found.other == pytest.approx(5.5 / 40)  # both halves say .9


def test_where_nothing_pays_nothing_is_shown() -> None:
    found = learn(judged(0.99, False, FEWEST))
    assert (found.least, found.shown, found.utility) == (1.0, 0, 0.0) and found.all == -0.25


def test_few_suggestions_teach_nothing() -> None:
    with pytest.raises(UserError, match=f"19 suggestions .* {FEWEST} are needed"):
        learn([*judged(0.9, True, FEWEST - 1), *judged(0.9, None, 50)])


def test_a_log_tells_which_were_taken(tmp_path: Path) -> None:
    now = [0.0]
    log = EditEventLog(tmp_path, checkpoint="weights", clock=lambda: now[0])
    for accepted, logprob in ((True, -0.1), (False, -2.0)):
        answer = Completion(token_ids=[1], logprobs=[logprob], text="x", finish_reason="eos")
        made = Suggested([5], 7, SamplingParams(), answer, TextEdit(0, 0, "x"))
        id = log.served(made, dialect="lsp", client="c")
        log.shown(id)
        now[0] += 1
        if accepted:
            log.accepted(id, 1)
            log.settled(id, kept=1, discarded=0)
        else:
            log.dismissed(id)
    policy = ScriptedPolicy(lambda prompt, seed, index: "")
    model = EditModel(policy, SamplingParams(), FimPrompt(policy.tokenizer, 16))
    found = {one.accepted: round(one.sure, 3) for one in judged_from(tmp_path, model, "weights")}
    assert found == {True: 0.905, False: 0.135}
    assert judged_from(tmp_path, model, "others") == []
    model.close()


def test_no_tokens_are_certain() -> None:
    assert confidence(Completion(token_ids=[], logprobs=[], text="", finish_reason="eos")) == 1


def test_the_command_learns_from_tasks(
    says: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path
) -> None:
    """Each answer stands at the cursor of its state; the user nearer takes what saves keys."""
    goal = [WINDOW[0], "    return first_number + other", ""]
    check = NextEditCheck(path="a.py", window=WINDOW, cursor=1, next=goal, goal=goal)
    tasks = [Task(statement=str(number), check=check) for number in range(FEWEST)]
    path = tmp_path / "edits.jsonl"
    path.write_text("".join(task.model_dump_json() + "\n" for task in tasks))
    command = [*says("first_number + other", "zzz"), "--calibrate", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "all: 20 suggestions in 20 states, 10 accepted, utility +0.250"
    assert second.startswith("--min-confidence 1.00: 20 suggestions, 10 accepted, utility +0.250")
    assert not (tmp_path / "log").exists()
