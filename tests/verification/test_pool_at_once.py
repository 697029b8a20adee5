"""Verdicts that need no toolchain, and answers without a character: the task's check says what they are."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest

from strop.rewards.rubric import WeightedRubric
from strop.rollouts.trl_reward import verdict_reward
from strop_verify.core.checks import Case, CasesCheck, EditCheck, LabelCheck, NoneCheck
from strop_verify.core.errors import WorkerDied
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool

NEXT_EDIT = Task(statement="x = [1", family="next-edit", check=NoneCheck(), metadata={"next": ""})
CASES = Task(statement="f", check=CasesCheck(entry_point="f", cases=[Case(expected=1)]))


class SilenceCheck(LabelCheck):
    """Right is to say nothing."""

    empty_is_answer: ClassVar[bool] = True
    toolchains: ClassVar[dict[str, str]] = {"*": "silence"}


SILENCE = CASES.model_copy(update={"id": "s", "check": SilenceCheck(choices=["a", "b"], expected="a")})


class Silence:
    batch = 1

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        return [Verdict(outcome=Outcome.FAILED if answer else Outcome.PASSED) for _, answer in jobs]

    def close(self) -> None:
        pass


@pytest.fixture
def pool() -> Iterator[tuple[VerifierPool, list[str]]]:
    built = list[str]()

    def build(name: str) -> Silence:
        built.append(name)
        return Silence()

    with VerifierPool(workers=1, route=Task.toolchain, build=build) as opened:
        yield opened, built


def test_what_nothing_judges_has_its_verdict_at_once(pool: tuple[VerifierPool, list[str]]) -> None:
    for answer in ("", "]", "\udcff"):
        future = pool[0].submit(NEXT_EDIT, answer)
        assert future.done() and future.result() == Verdict(outcome=Outcome.UNJUDGED)
        assert future.result().scored and not future.result().judged and not future.result().passed
    assert pool[1] == []


def test_an_empty_answer_is_judged_where_its_check_says_so(pool: tuple[VerifierPool, list[str]]) -> None:
    outcomes = [
        pool[0].verify(task, answer).outcome for task in (SILENCE, CASES) for answer in ("", "  \n", "x")
    ]
    assert outcomes[:3] == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]
    assert outcomes[3:5] == [Outcome.NO_ANSWER] * 2 and pool[1][0] == "silence"


def test_silence_can_be_rewarded() -> None:
    def wanted(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return float(rollout.answer == task.metadata["next"])

    rubric = WeightedRubric([("wanted", wanted, 1.0)])
    with open_verifier(workers=1) as verifier:
        for answer, value in (("", 1.0), ("]", 0.0)):
            verdict = verifier.verify(NEXT_EDIT, answer)
            played = Rollout(
                task_id="t", index=0, seed=0, prompt="", turns=[], answer=answer, verdict=verdict
            )
            assert [score.value for score in rubric.score(NEXT_EDIT, played, verdict)] == [value]


def test_trl_gets_the_rewards_of_such_tasks(tmp_path: Any) -> None:
    (tmp_path / "mine.py").write_text(
        "def short(task, rollout, verdict): return float(len(rollout.answer) < 2)\n"
    )
    with open_verifier(workers=1) as verifier:
        score = verdict_reward(f"{tmp_path}/mine.py:short", verifier=verifier)
        assert score(["p"] * 2, ["", "long"], task=[NEXT_EDIT.model_dump_json()] * 2) == [1.0, 0.0]


def test_it_is_no_judge_of_an_edit() -> None:
    check = EditCheck(format="whole-file", files={"a": "x\n"}, judge=NoneCheck(), path="a")
    with open_verifier(workers=1) as verifier:
        verdict = verifier.verify(Task(statement="s", check=check), "```\ny\n```\n")
    assert verdict.outcome is Outcome.ERROR and "none" in verdict.detail


def test_an_empty_answer_whose_worker_died_goes_again() -> None:
    class DiesOnce(Silence):
        died = False

        def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
            if not self.died:
                self.died = True
                raise WorkerDied("killed from outside")
            return super().judge(jobs)

    with VerifierPool(workers=1, route=Task.toolchain, build=lambda name: DiesOnce()) as pool:
        assert pool.verify(SILENCE, "").passed
