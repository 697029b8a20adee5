"""Plays of many turns side by side: exact tokens, exactly once, the same whatever tools take."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

import pytest

from strop.policies.loading import EMBEDDED, load_model, load_tokenizer
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop.training.batch import sample_of
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import Do, Done, Next, Opening, PlayLimits, Say, Verify
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, Message, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict


def task(number: int) -> Task:
    check = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)])
    return Task(id=f"t{number:03}", statement=f"Task {number}.", check=check)


class TryAgain:
    """Two turns: the first answer is judged, and what came of it is said."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.texts: list[str] = []

    def begin(self) -> Opening:
        return Opening(messages=(Message(role="user", content=f"Solve {self.task.id}."),), stop=("STOP",))

    def step(self, completion: Completion) -> Next:
        self.texts.append(completion.text)
        return Do(Verify(self.task, completion.text)) if len(self.texts) == 1 else Done(completion.text)

    def result(self, effect: Any, result: Verdict) -> Next:
        said = f"It {result.outcome.value}: <|im_end|> {result.detail}"
        return Say((Message(role="user", content=said),))


class Slow:
    """A verifier that takes its time, each answer another; knows how often it was asked."""

    def __init__(self, seconds: Sequence[float] = (0.0,), threads: int = 64) -> None:
        self.seconds, self.pool, self.asked = seconds, ThreadPoolExecutor(threads), 0

    def submit(self, task: Task, answer: str) -> "Future[Verdict]":
        wait = self.seconds[derive_seed(0, answer, self.asked) % len(self.seconds)]
        self.asked += 1
        return self.pool.submit(self._judge, answer, wait)

    def _judge(self, answer: str, wait: float) -> Verdict:
        time.sleep(wait)
        return Verdict(outcome=Outcome.FAILED, detail=f"seen {len(answer)}")

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


def script(prompt: Sequence[int], seed: int, index: int) -> str:
    return f"answer {seed % 1000}STOP and more"


def plays(dispatcher: Dispatcher, count: int, samples: int = 2, **params: Any) -> list[Rollout]:
    tasks = [task(number) for number in range(count)]
    found = list(dispatcher.play(tasks, samples, SamplingParams(**params), seed=1))
    assert sorted((r.task_id, r.index) for r in found) == [(t.id, i) for t in tasks for i in range(samples)]
    return sorted(found, key=lambda r: (r.task_id, r.index))


def timeless(rollout: Rollout) -> dict[str, Any]:
    """All of it but the seconds that effects took."""
    data = rollout.model_dump()
    for event in (event for turn in data["turns"] for event in turn.get("events", [])):
        event["seconds"] = 0.0
    return data


class Counted(ScriptedPolicy):
    """Keeps what it was asked."""

    def submit(self, request: Request) -> "Future[Completion]":
        self.requests = [*getattr(self, "requests", []), request]
        return super().submit(request)


def test_two_turns_with_a_script_have_exact_tokens():
    policy = Counted(script)
    dispatcher = Dispatcher(policy, Slow(), TryAgain)
    found = plays(dispatcher, 3)
    last = {tuple(request.prompt) for request in policy.requests}
    for rollout in found:
        assert len(rollout.turns) == 2 and rollout.stop_reason == "answered"
        first, second = rollout.turns
        assert first.completion.text.startswith("answer ") and first.completion.finish_reason == "stop"
        # The turns laid end to end are what the engine was asked last.
        assert tuple(chain(first.prompt_ids, first.completion.token_ids, second.prompt_ids)) in last
        said = policy.tokenizer.decode(second.prompt_ids)
        assert said.startswith("It failed: <|im_end|> seen ")
        sample = sample_of(rollout.model_copy(update={"reward": 1.0, "advantage": 0.5}), mask_truncated=True)
        sampled = sum(len(turn.completion.token_ids) for turn in rollout.turns)
        given = sum(len(turn.prompt_ids) for turn in rollout.turns)
        assert sum(sample.mask) == sampled and len(sample.ids) == sampled + given
        assert [a for a, keep in zip(sample.advantages, sample.mask, strict=True) if keep] == [0.5] * sampled
    assert dispatcher.count.started == dispatcher.count.finished == 6 and dispatcher.count.cancelled == 0


@pytest.fixture(scope="module")
def smol() -> TransformersPolicy:
    return TransformersPolicy(load_model(EMBEDDED, device="cpu"), HubTokenizer(load_tokenizer(EMBEDDED)))


@pytest.mark.train(30)
def test_two_turns_of_the_real_model_are_the_same_whatever_tools_take(smol: TransformersPolicy) -> None:
    runs = [
        plays(Dispatcher(smol, Slow(seconds, threads), TryAgain), 2, 2, max_tokens=12)
        for seconds, threads in (((0.0,), 64), ((0.0, 0.4, 0.05, 0.9), 64), ((0.1, 0.0), 1))
    ]
    first, *others = ([timeless(rollout) for rollout in run] for run in runs)
    assert others == [first, first]
    control = smol.tokenizer.control_ids
    for rollout in runs[0]:
        first, second = rollout.turns
        opened = smol.tokenizer.encode_chat([Message(role="user", content=f"Solve {rollout.task_id}.")])
        assert first.prompt_ids == opened
        # What the environment said holds a control token's text; only the template's own become ids.
        own = [number for number in second.prompt_ids if number in control]
        ended = first.completion.token_ids[-1] if first.completion.finish_reason == "eos" else None
        harmless = smol.tokenizer.encode_turn([Message(role="user", content="x")], ended=ended)
        assert own == [number for number in harmless if number in control]
        whole = smol.tokenizer.inner.decode(
            [*first.prompt_ids, *first.completion.token_ids, *second.prompt_ids]
        )
        assert (
            whole.endswith("<|im_end|>\n<|im_start|>assistant\n")
            and whole.count("<|im_start|>assistant\n") == 2
        )
        assert "<|im_end|>\n<|im_start|>user\nIt failed: <|im_end|> seen " in whole


@pytest.mark.train(20)
def test_log_probs_of_both_turns_are_the_model_s(smol: TransformersPolicy) -> None:
    import torch

    (rollout,) = plays(Dispatcher(smol, Slow(), TryAgain), 1, 1, max_tokens=10)
    sample = sample_of(rollout.model_copy(update={"reward": 1.0}), mask_truncated=False)
    with torch.no_grad():
        logits = smol._model(input_ids=torch.tensor([sample.ids])).logits[0]
    scored = torch.log_softmax(logits.float(), dim=-1)
    for at, (token, keep, logprob) in enumerate(zip(sample.ids, sample.mask, sample.logprobs, strict=True)):
        if keep:
            assert float(scored[at - 1, token]) == pytest.approx(logprob, abs=1e-3)


def test_as_ready_takes_what_is_there_first():
    others_are_there = threading.Event()

    class ByName(Slow):
        def submit(self, task: Task, answer: str) -> "Future[Verdict]":
            return self.pool.submit(self._held if task.id == "t000" else self._judge, answer, 0.0)

        def _held(self, answer: str, wait: float) -> Verdict:
            others_are_there.wait(20)
            return self._judge(answer, wait)

    dispatcher = Dispatcher(Counted(script), ByName(), TryAgain, order="as-ready")
    order = []
    for rollout in dispatcher.play([task(n) for n in range(3)], 1, SamplingParams(), seed=1):
        order.append(rollout.task_id)
        if len(order) == 2:
            others_are_there.set()
    assert order[-1] == "t000"


def test_every_reason_to_stop_has_its_verdict():
    class Broken(Slow):
        def submit(self, task: Task, answer: str) -> "Future[Verdict]":
            if task.id == "t002":
                return self.pool.submit(self._judge, answer, 0.0)
            future: Future[Verdict] = Future()  # of the second task none ever comes
            if task.id == "t000":
                future.set_exception(VerificationError("the grader is gone"))
            return future

    limits = PlayLimits(seconds=4)
    found = {
        r.task_id: r for r in plays(Dispatcher(Counted(script), Broken(), TryAgain, limits=limits), 3, 1)
    }
    assert [found[t].stop_reason for t in sorted(found)] == ["infra", "deadline", "answered"]
    assert [found[t].verdict.outcome for t in sorted(found)] == [Outcome.ERROR, Outcome.ERROR, Outcome.FAILED]
    limits = PlayLimits(context=30)
    (short,) = plays(Dispatcher(Counted(script), Slow(), TryAgain, limits=limits), 1, 1, max_tokens=8)
    assert short.stop_reason == "context" and short.verdict.outcome is Outcome.NO_ANSWER
    assert len(short.turns) < 2


def test_one_hundred_thousand_tasks_are_drawn_as_room_comes_free():
    drawn = 0

    def endless() -> Iterator[Task]:
        nonlocal drawn
        for number in range(100_000):
            drawn += 1
            yield task(number % 7)

    dispatcher = Dispatcher(Counted(script), Slow(), TryAgain, limits=PlayLimits(plays=8, grading=8))
    rollouts = dispatcher.play(endless(), 1, SamplingParams(), seed=1)
    for seen, _ in enumerate(rollouts, start=1):
        assert drawn - seen <= 8 + 8 + 1
        count = dispatcher.count
        assert 0 <= count.started - count.finished - count.cancelled <= 16
        if seen == 41:
            break
    rollouts.close()
    count = dispatcher.count
    assert count.started == count.finished + count.cancelled and count.cancelled > 0


def test_stop_strings_are_each_play_s_own():
    class Mixed(TryAgain):
        def begin(self) -> Opening:
            stop = "STOP" if self.task.id == "t000" else "more"
            return Opening(messages=(Message(role="user", content=self.task.id),), stop=(stop,))

        def step(self, completion: Completion) -> Next:
            return Done(completion.text)

    found = plays(Dispatcher(Counted(script), Slow(), Mixed), 2, 1)
    assert found[0].answer.startswith("answer") and "STOP" not in found[0].answer
    assert found[1].answer.endswith("STOP and ")


def test_nothing_is_left_behind_when_the_caller_stops():
    before = threading.active_count()
    verifier = Slow((0.05,), threads=4)
    rollouts = Dispatcher(Counted(script), verifier, TryAgain).play(
        [task(n) for n in range(20)], 2, SamplingParams(), seed=1
    )
    next(rollouts)
    rollouts.close()
    asked = verifier.asked
    verifier.close()
    assert verifier.asked == asked and threading.active_count() <= before
