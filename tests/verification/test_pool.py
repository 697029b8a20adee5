"""The pool itself, with a scripted toolchain: order, batches, back-pressure, retries, sharing, closing."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import wait_until, wait_until_blocked

from strop_tasks.curation.audit import AuditSettings
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import BatchFailed, SandboxError, TaskFault, VerificationError, WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification import open_configured, open_verifier
from strop_verify.verification.config import SandboxConfig
from strop_verify.verification.pool.job_queue import OVERHEAD, FairQueue, Job, VerdictCache
from strop_verify.verification.pool.pool import PoolBusy, VerifierPool
from strop_verify.verification.settings import Settings, limits_of


def task_of(name: str = "t", language: str = "python", reference: str = "") -> Task:
    check = CasesCheck(entry_point="f", cases=[Case(args=[name], expected=1)])
    return Task(statement=name, language=language, check=check, reference=reference)


class Scripted:
    """Does what the answer says: "pass", "slow", "die N" (the first N times), "bad task", "outcome X", "hold".

    "die N then hold" holds where it does not die.
    """

    def __init__(self, script: "Script", batch: int) -> None:
        self.script = script
        self.wall_seconds = script.wall_seconds
        self.batch = batch
        self.closed = False

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        self.closed = False
        answers = [answer for _, answer in jobs]
        self.script.batches.append(answers)
        if any(answer.startswith("hold") for answer in answers):
            self._hold()
        for answer in answers:
            self.script.look(answer, len(answers))
            if answer.endswith("then hold"):
                self._hold()
        return [self._verdict(answer) for answer in answers]

    def _hold(self) -> None:
        while not self.script.gate.wait(0.01):
            if self.closed:
                raise WorkerDied("closed under the job")

    def _verdict(self, answer: str) -> Verdict:
        if answer == "none":
            return None  # type: ignore[return-value]
        word, _, rest = answer.partition(" ")
        return Verdict(outcome=Outcome(rest) if word == "outcome" else Outcome.PASSED, detail=answer)

    def close(self) -> None:
        self.closed = True
        self.script.closes += 1


class Script:
    def __init__(self, batch: int = 1, wall_seconds: float | None = None) -> None:
        self.wall_seconds = wall_seconds
        self.batches: list[list[str]] = []
        self.gate = threading.Event()
        self.slow: dict[str, float] = {}
        self.deaths: dict[str, int] = {}
        self.batch = batch
        self.closes = 0

    def look(self, answer: str, together: int) -> None:
        word, _, rest = answer.partition(" ")
        time.sleep(self.slow.get(answer, 0.0))
        if word == "die":
            self.deaths[answer] = self.deaths.get(answer, 0) + 1
            if self.deaths[answer] <= int(rest.split()[0]):
                raise WorkerDied(f"script: {answer}")
        if word == "apart" and together > 1:
            raise BatchFailed("script: apart")
        if word == "sandbox":
            raise SandboxError("the jail broke")
        if word == "bug":
            raise ZeroDivisionError("a bug of ours")
        if word == "fault":
            raise TaskFault("test code: nowhere")
        if word == "bad" and together >= 1 and self.batches[-1][0] == answer:
            raise VerificationError("test code: no good")

    @property
    def runs(self) -> list[str]:
        return [answer for batch in self.batches for answer in batch]

    def pool(self, **settings: int) -> VerifierPool:
        return VerifierPool(
            workers=settings.pop("workers", 1),
            route=Task.toolchain,
            build=lambda name: Scripted(self, self.batch),
            **settings,
        )


@pytest.fixture
def make() -> Iterator[Callable[..., tuple[Script, VerifierPool]]]:
    made: list[VerifierPool] = []

    def build(
        batch: int = 1, wall_seconds: float | None = None, **settings: int
    ) -> tuple[Script, VerifierPool]:
        script = Script(batch, wall_seconds)
        made.append(script.pool(**settings))
        return script, made[-1]

    yield build
    for pool in made:
        pool.close()


Make = Callable[..., tuple[Script, VerifierPool]]


def hold(script: Script, pool: VerifierPool) -> "Future[Verdict]":
    future = pool.submit(task_of(), "hold")
    wait_until(lambda: "hold" in script.runs)
    return future


def results(futures: Sequence["Future[Verdict]"]) -> list[Verdict]:
    return [future.result(120) for future in futures]


def test_clients_take_turns_and_their_own_jobs_keep_their_order(make: Make) -> None:
    script, pool = make()
    hold(script, pool)
    futures = [pool.submit(task_of(), f"a{i}", client="a") for i in range(4)]
    futures += [pool.submit(task_of(), f"b{i}", client="b") for i in range(2)]
    futures += [pool.submit(task_of(), "c0", client="c")]
    script.gate.set()
    assert all(v.passed for v in results(futures))
    assert script.runs == ["hold", "a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_a_batch_takes_what_is_there_from_all_clients(make: Make) -> None:
    script, pool = make(batch=4)
    hold(script, pool)
    futures = [pool.submit(task_of(), f"a{i}", client="a") for i in range(5)]
    futures += [pool.submit(task_of(), f"b{i}", client="b") for i in range(2)]
    script.gate.set()
    assert [v.detail for v in results(futures)] == ["a0", "a1", "a2", "a3", "a4", "b0", "b1"]
    assert script.batches == [["hold"], ["a0", "b0", "a1", "b1"], ["a2", "a3", "a4"]]


def test_submit_blocks_while_the_queue_is_full(make: Make) -> None:
    script, pool = make(capacity=2)
    hold(script, pool)
    first = [pool.submit(task_of(), f"x{i}") for i in range(2)]
    assert pool.room == 0
    with pytest.raises(PoolBusy, match="2 answers are waiting already"):
        pool.submit(task_of(), "too much", timeout=0.05)
    late: list[Future[Verdict]] = []
    thread = threading.Thread(target=lambda: late.append(pool.submit(task_of(), "late")))
    thread.start()
    wait_until_blocked(thread)
    assert not late
    script.gate.set()
    thread.join(120)
    assert all(v.passed for v in results([*first, *late]))


def test_cancelled_jobs_make_room_and_never_run(make: Make) -> None:
    script, pool = make(capacity=2)
    hold(script, pool)
    waiting = [pool.submit(task_of(), f"x{i}") for i in range(2)]
    assert all(future.cancel() for future in waiting)
    assert pool.room == 2
    after = [pool.submit(task_of(), f"y{i}", timeout=120) for i in range(2)]
    script.gate.set()
    assert all(v.passed for v in results(after))
    assert not {"x0", "x1"} & set(script.runs)
    wait_until(lambda: pool.stats()["finished"] == 5)


def test_a_job_whose_worker_died_goes_again_once(make: Make) -> None:
    script, pool = make()
    assert pool.verify(task_of(), "die 1").passed
    verdict = pool.verify(task_of(reference="die 99"), "die 2")
    assert verdict.outcome is Outcome.ERROR and verdict.detail.startswith("script: die 2")
    assert verdict.detail.endswith("(on a control answer: script: die 99)")
    assert script.runs == ["die 1", "pass\n", "die 1", "die 2", "die 99", "die 2", "die 99"]
    assert pool.stats()["retries"] == 4 - 1 and script.closes == 5
    assert pool.verify(task_of(), "pass").passed


def test_batch_mates_of_a_killer_are_judged_alone(make: Make) -> None:
    script, pool = make(batch=8)
    held = hold(script, pool)
    answers = ["p0", "p1", "die 9", "p2", "p3"]
    futures = [pool.submit(task_of(reference="good"), answer) for answer in answers]
    script.gate.set()
    outcomes = [v.outcome for v in results(futures)]
    assert outcomes == [Outcome.FAILED if a == "die 9" else Outcome.PASSED for a in answers]
    assert held.result().passed
    assert script.batches[1] == answers
    assert sorted(script.batches[2:]) == sorted([a] for a in (*answers, "good"))


@pytest.mark.parametrize(
    ("answer", "outcome", "runs"),
    [
        (
            "die 1",
            Outcome.PASSED,
            ["die 1", "good", "die 1"],
        ),  # an honest answer whose worker was killed from outside
        ("die 2", Outcome.FAILED, ["die 2", "good", "die 2"]),
        ("die 1 then hold", Outcome.FAILED, ["die 1 then hold", "good", "die 1 then hold"]),
    ],
)
def test_a_retry_has_what_the_first_run_left_of_the_limit(
    make: Make, answer: str, outcome: Outcome, runs: list[str]
) -> None:
    script, pool = make(wall_seconds=0.0)
    verdict = pool.verify(task_of(reference="good"), answer)
    assert verdict.outcome is outcome and script.runs == runs
    assert pool.stats()["retries"] == (1 if verdict.passed else 2)
    assert pool.verify(task_of("next", reference="good"), "p").passed


def test_one_that_used_up_its_time_is_timed_out_when_nothing_proves_that_ours_works(make: Make) -> None:
    script, pool = make(wall_seconds=0.6)
    script.slow["die 1"] = 1.5  # the control answer gets half a second
    verdict = pool.verify(task_of(reference="good then hold"), "die 1")
    assert verdict.outcome is Outcome.TIMED_OUT and "die 1" in verdict.detail
    assert script.runs == ["die 1", "good then hold"]


def test_a_control_answer_that_hangs_for_all_of_the_limit_is_no_answers_failure(make: Make) -> None:
    script, pool = make(wall_seconds=0.7)
    verdict = pool.verify(task_of(reference="good then hold"), "die 9")
    assert verdict.outcome is Outcome.ERROR and script.runs == ["die 9", "good then hold"]
    assert pool.verify(task_of("next"), "p").passed


def test_a_batch_that_failed_as_one_goes_apart_and_keeps_its_processes(make: Make) -> None:
    script, pool = make(batch=8)
    hold(script, pool)
    futures = [pool.submit(task_of(), answer) for answer in ("p0", "apart", "p1")]
    script.gate.set()
    assert all(v.passed for v in results(futures)) and script.closes == 0
    assert script.batches[1:2] == [["p0", "apart", "p1"]]
    assert sorted(script.batches[2:]) == [["apart"], ["p0"], ["p1"]]


def test_without_a_control_answer_a_break_is_an_error_in_the_end(make: Make) -> None:
    script, pool = make(wall_seconds=0.0)
    assert pool.verify(task_of(reference="die 9 too"), "die 9").outcome is Outcome.ERROR
    assert script.runs == ["die 9", "die 9 too", "die 9", "die 9 too"]


@pytest.mark.parametrize("answer", ["die 2", "sandbox", "bug", "bad 1", "outcome error"])
def test_what_broke_over_an_answer_alone_is_its_failure_and_is_not_kept(make: Make, answer: str) -> None:
    script, pool = make()
    for reference in ("good", ""):
        verdict = pool.verify(task_of(reference=reference), answer)
        assert verdict.outcome is Outcome.FAILED and "not on a control answer" in verdict.detail
        script.deaths.clear()
    before = len(script.runs)
    assert pool.verify(task_of(reference="good"), answer).outcome is Outcome.FAILED
    assert len(script.runs) > before


def test_a_task_at_fault_is_no_answers_failure(make: Make) -> None:
    script, pool = make()
    verdict = pool.verify(task_of(reference="good"), "fault")
    assert verdict.outcome is Outcome.ERROR and script.runs == ["fault"]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("sandbox", "the jail broke"),
        ("bug", "ZeroDivisionError: a bug of ours"),
        ("none", "AttributeError: 'NoneType' object has no attribute 'scored'"),
    ],
)
def test_whatever_a_toolchain_raises_is_an_error_with_its_cause(make: Make, answer: str, cause: str) -> None:
    _, pool = make()
    verdict = pool.verify(task_of(reference="sandbox"), answer)
    assert verdict.outcome is Outcome.ERROR
    assert verdict.detail.removesuffix(" (on a control answer: the jail broke)") == cause
    assert pool.verify(task_of(), "pass").passed


def test_a_bad_task_costs_its_batch_mates_nothing(make: Make) -> None:
    script, pool = make(batch=8)
    hold(script, pool)
    task = task_of(reference="bad 0")
    futures = [pool.submit(task, answer) for answer in ("bad 1", "p1", "bad 2", "p2")]
    script.gate.set()
    # the toolchain names its first job's task only, so the second bad one, which never leads, goes unnoticed here
    assert [v.outcome.value for v in results(futures)] == ["error", "passed", "passed", "passed"]
    assert script.batches[1:] == [["bad 1", "p1", "bad 2", "p2"], ["bad 0"], ["p1", "bad 2", "p2"]]


def test_a_toolchain_that_cannot_be_built_is_one_clear_line() -> None:
    def build(name: str) -> Scripted:
        raise VerificationError("rustc was not found; install Rust from rustup.rs")

    with VerifierPool(workers=1, route=Task.toolchain, build=build) as pool:
        verdict = pool.verify(task_of(), "x")
        assert verdict.outcome is Outcome.ERROR and verdict.detail.startswith("rustc was not found")


def test_a_language_without_a_toolchain_is_one_clear_line(make: Make) -> None:
    _, pool = make()
    verdict = pool.verify(task_of(language="cobol"), "x")
    assert verdict.outcome is Outcome.ERROR and "no toolchain" in verdict.detail and "cobol" in verdict.detail


def test_same_answer_runs_once(make: Make) -> None:
    script, pool = make()
    first = pool.verify(task_of(), "pass 1")
    assert pool.verify(task_of(), "pass 1") == first
    assert pool.verify(task_of("other"), "pass 1").passed
    assert script.runs == ["pass 1", "pass 1"]
    stats = pool.stats()
    assert (stats["cache_hits"], stats["cache_misses"], stats["finished"]) == (1, 2, 3)


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.ERROR])
def test_what_a_busy_machine_can_cause_is_not_kept(make: Make, outcome: Outcome) -> None:
    script, pool = make()
    for _ in range(2):
        said = f"outcome {outcome.value}"
        assert pool.verify(task_of(reference=said), said).outcome is outcome
    assert len(script.runs) == 2 and pool.stats()["cache_hits"] == 0


def test_who_asks_for_what_is_being_judged_joins_that_run(make: Make) -> None:
    script, pool = make(workers=2)
    futures = [pool.submit(task_of(), "hold") for _ in range(6)]
    wait_until(lambda: pool.stats()["joined"] == 5)
    script.gate.set()
    assert len({v.model_dump_json() for v in results(futures)}) == 1
    assert script.runs == ["hold"]


def test_joined_jobs_count_against_the_queue(make: Make) -> None:
    script, pool = make(workers=2, capacity=3)
    futures = [pool.submit(task_of(), "hold") for _ in range(4)]
    wait_until(lambda: pool.stats()["joined"] == 3)
    with pytest.raises(PoolBusy):
        pool.submit(task_of(), "hold", timeout=0.05)
    script.gate.set()
    assert all(v.passed for v in results(futures))


def test_a_run_that_broke_is_shared_by_those_who_joined(make: Make) -> None:
    script, pool = make(workers=2)
    hold(script, pool)
    futures = [pool.submit(task_of(), "die 1") for _ in range(4)]
    assert all(v.passed for v in results(futures))
    script.gate.set()


def test_close_settles_everything_and_is_safe_from_everywhere(make: Make) -> None:
    script, pool = make(workers=2)
    futures = [pool.submit(task_of(), "hold" if i < 2 else f"p{i}") for i in range(20)]
    wait_until(lambda: len(script.runs) >= 2)
    futures[0].add_done_callback(lambda _: pool.close())  # on a worker's own thread
    closers = [threading.Thread(target=pool.close) for _ in range(3)]
    for thread in closers:
        thread.start()
    for thread in closers:
        thread.join(120)
    assert not any(thread.is_alive() for thread in [*closers, *pool._threads])
    assert {v.outcome for v in results(futures)} <= {Outcome.ERROR, Outcome.PASSED}
    assert futures[0].result().detail == "the verifier is closed"
    assert pool.verify(task_of(), "pass").outcome is Outcome.ERROR


def test_close_frees_a_submit_that_waits_for_room(make: Make) -> None:
    script, pool = make(capacity=1)
    hold(script, pool)
    pool.submit(task_of(), "x")
    late: list[Future[Verdict]] = []
    thread = threading.Thread(target=lambda: late.append(pool.submit(task_of(), "late")))
    thread.start()
    wait_until_blocked(thread)
    pool.close()
    thread.join(120)
    assert late[0].result(1).outcome is Outcome.ERROR


def test_a_callback_that_raises_and_lone_surrogates_harm_nobody(make: Make) -> None:
    _, pool = make()
    future = pool.submit(task_of(), "p \ud800")
    future.add_done_callback(lambda _: 1 / 0)
    assert future.result(120).detail == "p ?"
    assert pool.verify(task_of(), "pass").passed


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), max_size=40),
    st.sets(st.integers(0, 40)),
    st.integers(),
)
def test_the_queue_loses_and_doubles_nothing(puts: list[tuple[str, str]], gone: set[int], seed: int) -> None:
    chance, queue = random.Random(seed), FairQueue()
    jobs = [Job(task_of(), str(number), lane, client, None) for number, (client, lane) in enumerate(puts)]
    for job in jobs:
        queue.put(job)
    cancelled = [job for number, job in enumerate(jobs) if number in gone and job.future.cancel()]
    assert queue.drop_cancelled() == len(cancelled)
    taken: list[Job] = []
    while len(queue):
        found = queue.take(chance.choice([("x", False), ("y", False), None]))
        if found is not None:
            taken.append(found)
            if chance.random() < 0.2:
                queue.put(taken.pop(), first=True)
    assert set(map(id, taken)) == {id(job) for job in jobs if job not in cancelled} and len(taken) == len(
        set(map(id, taken))
    )
    for wanted in [(c, lane) for c in "abc" for lane in "xy"]:
        own = [int(job.answer) for job in taken if (job.client, job.toolchain) == wanted]
        assert own == sorted(own)


def test_the_cache_stays_within_its_bytes_and_drops_the_oldest() -> None:
    cache = VerdictCache(10 * (OVERHEAD + 500))
    verdict = Verdict(outcome=Outcome.FAILED, detail="ä" * 200)
    text = verdict.model_dump_json()
    keys = [(bytes([i]), b"", "python", "") for i in range(50)]
    for key in keys:
        cache.put(key, verdict, text)
        assert cache.get(keys[0]) == verdict  # asked for all the time, so it stays
    assert cache.bytes <= cache.most_bytes and 5 <= len(cache) < 50
    assert cache.get(keys[1]) is None and cache.get(keys[-1]) == verdict


def test_the_limits_of_a_verifier_are_those_of_a_recipe_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Settings] = []
    pool = "strop_verify.verification.pool.pool.VerifierPool"
    monkeypatch.setattr(pool, lambda build, **_: made.append(build.keywords["settings"]))
    open_verifier()
    open_configured(SandboxConfig())
    assert made[0].limits == made[1].limits == Settings().limits == limits_of(SandboxConfig())
    assert AuditSettings().cpu_seconds == made[0].limits.cpu_seconds
