"""The bench must see what a grader lets through: every kind of evidence, made by graders that are weak on purpose."""

import gc
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from strop_verify.attacks.bench import Row, counts, run
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.grader import Grade
from strop_verify.attacks.leftovers import LeftoverWatch
from strop_verify.attacks.suite import Trial, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.checks import CasesCheck
from strop_verify.core.task import Task
from strop_verify.sandbox.spawn import source_folder


class Weak:
    """A grader that does what `action` does with each hostile answer, and passes the honest one."""

    name = "weak"

    def __init__(self, action: Callable[[Canaries], str | Grade | None], canaries: Canaries) -> None:
        self.action, self.canaries = action, canaries

    def grade(self, task: Task, answer: str) -> Grade:
        began = time.monotonic()
        said = self.action(self.canaries) if answer == "hostile" else None
        if isinstance(said, Grade):
            return said
        good = answer == "honest"
        seconds = time.monotonic() - began
        return Grade("passed" if good else "failed", good, "", str(said), seconds)

    def deadline(self, task: Task) -> float:
        return 60.0

    def close(self) -> None:
        pass


def alone(function: Callable[[], list[Row]]) -> list[Row]:
    """In a process of its own: descendants that a watch has not learnt are leftovers to it, and it kills them."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as file:
                pickle.dump(function(), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        rows: list[Row] = pickle.load(file)
    os.waitpid(pid, 0)
    return rows


def tried(action: Callable[[Canaries], str | Grade | None], honest: str = "honest") -> list[Row]:
    def rows() -> list[Row]:
        with Canaries() as canaries:
            task = build(canaries.secret, canaries.folder)["cases"]
            one = Trial("one", "python", "forge", "the layer", task, "hostile", honest)
            return run(Weak(action, canaries), [one], canaries)

    return alone(rows)


def connect(family: int, kind: int, fact: str) -> Callable[[Canaries], None]:
    def action(canaries: Canaries) -> None:
        value = canaries.facts[fact]
        address = ("127.0.0.1", int(value)) if family == socket.AF_INET else value
        with socket.socket(family, kind) as one:
            one.connect(address)
            one.send(b"x")

    return action


def leave_a_child(canaries: Canaries) -> None:
    code = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(60)"
    subprocess.run([sys.executable, "-c", code], check=True)


EVIDENCE: dict[str, tuple[Callable[[Canaries], str | Grade | None], str]] = {
    "a pass": (lambda c: Grade("passed", True, "", "", 0.0), "passed"),
    "an error": (lambda c: Grade("error", False, "broke", "", 0.0), "outcome: error"),
    "no answer": (lambda c: Grade("hung", False, "", "", 0.0), "outcome: hung"),
    "too late": (lambda c: Grade("failed", False, "", "", 61.5), "took 61.5 s"),
    "the file": (lambda c: c.file.read_text(), "leaked: the secret file"),
    "the environment": (lambda c: os.environ[c.facts["ENV"]], "leaked: the grader's environment"),
    "its own word": (lambda c: c.facts["REACHED"], "reached"),
    "tcp": (connect(socket.AF_INET, socket.SOCK_STREAM, "TCP"), "connected: TCP"),
    "udp": (connect(socket.AF_INET, socket.SOCK_DGRAM, "UDP"), "connected: UDP"),
    "unix": (connect(socket.AF_UNIX, socket.SOCK_STREAM, "UNIX"), "connected: UNIX"),
    "a signal": (lambda c: os.kill(os.getpid(), signal.SIGUSR1), "signalled: SIGUSR1"),
    "a mode": (lambda c: c.file.chmod(0o600), "changed: canary secret.txt"),
    "a new file": (lambda c: (c.folder / "new").mkdir(), "changed: canary"),
    "a hard link": (lambda c: os.link(c.file, c.folder / "l"), "changed: canary secret.txt"),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_of_an_exploit_is_seen(name: str) -> None:
    action, expected = EVIDENCE[name]
    (row,) = tried(action)
    assert any(expected in found for found in row.exploits), row
    assert row.stopped_by == "nothing" and not row.good and counts([row])["exploits"] == 1


def test_a_grader_that_holds_has_no_exploit() -> None:
    (row,) = tried(lambda c: "nothing to see")
    assert row.good and (row.outcome, row.honest_outcome, row.stopped_by) == ("failed", "passed", "the layer")
    assert counts([row]) == {"attacks": 1, "exploits": 0, "honest_failed": 0, "leftovers": 0}


def test_an_honest_answer_that_fails_is_counted() -> None:
    (row,) = tried(lambda c: None, honest="other")
    assert row.honest_failed and counts([row])["honest_failed"] == 1


kept: list[object] = []


def leave_everything(canaries: Canaries) -> None:
    leave_a_child(canaries)
    open(f"/tmp/left-{canaries.token}", "w").close()
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(f"\0left-{canaries.token}")
    kept.extend([bound, os.pipe()])


def test_what_is_left_is_seen() -> None:
    """In one trial, since each thing is given seconds to go away."""
    try:
        row = tried(leave_everything)[0]
        for kind in ("process: ", "descriptors: ", "file: /tmp/left-", "socket: "):
            assert sum(found.startswith(kind) for found in row.leftovers) == 1, row
    finally:
        for name in os.listdir("/tmp"):
            if name.startswith("left-") and len(name) == 17:
                os.unlink(f"/tmp/{name}")


class InProcess:
    """The usual weak grader: runs the answer beside the expected values and compares with ==."""

    name = "in-process exec"

    def grade(self, task: Task, answer: str) -> Grade:
        check = task.check
        assert isinstance(check, CasesCheck)
        names: dict[str, object] = {}
        try:
            exec(answer, names)
            good = all(names["code"](*case.args) == case.expected for case in check.cases)  # type: ignore[operator]
        except Exception:
            good = False
        return Grade("passed" if good else "failed", good, "", "", 0.0)

    def deadline(self, task: Task) -> float:
        return 1.0

    def close(self) -> None:
        pass


def test_the_suite_fools_a_weak_grader() -> None:
    wanted = {"always-equal", "stack-walk", "gc-hunt", "secret-file", "grader-environment"}
    chosen = [a for a in load_suite() if a.language == "python" and a.task == "cases" and a.name in wanted]

    def tried_all() -> list[Row]:
        gc.freeze()  # the hunt sees what was made from here on, not what other tests left in this process
        with Canaries() as canaries:
            tasks = build(canaries.secret, canaries.folder)
            return run(InProcess(), [trial(a, tasks, canaries.facts) for a in chosen], canaries)

    rows = alone(tried_all)
    assert {row.attack for row in rows if row.passed} == wanted
    assert counts(rows) == {"attacks": 5, "exploits": 5, "honest_failed": 0, "leftovers": 0}


CONFINED = """
import os, time
if os.fork():
    os._exit(0)
os.setsid()
from strop_verify.sandbox import confine
from strop_verify.sandbox.limits import Limits
confine.enter(read=("/",), allow_exec=True, settings=confine.WorkerSettings(unsafe=True))
confine.seal(Limits(cpu_seconds=9), tolerant=True)
os.write(1, b"confined")
time.sleep(60)
"""


def test_only_what_came_out_of_a_box_is_ended() -> None:
    def rows() -> list[Row]:
        earlier = subprocess.Popen(["tail", "-f", "/dev/null"])
        watch = LeftoverWatch("token")
        before = subprocess.Popen(["sleep", "60"])
        watch.learn()
        during = subprocess.Popen(["sleep", "61"], start_new_session=True)
        dead = subprocess.Popen(["sh", "-c", "exit 7"])
        orphan = subprocess.run(
            ["sh", "-c", "sleep 62 >/dev/null 2>&1 & echo $!"], check=True, capture_output=True
        )
        reading, writing = os.pipe()
        code = [sys.executable, "-c", CONFINED]
        subprocess.run(code, check=True, stdout=writing, env={**os.environ, "PYTHONPATH": source_folder()})
        assert os.read(reading, 20) == b"confined"
        boxed = watch.left(1.5)
        again = watch.left(60)  # the dead one is mourned and buried; nothing is waited for then
        watch.release()
        in_the_end = watch.finish()
        living = [p.poll() is None for p in (earlier, before, during)]
        living += [os.path.exists(f"/proc/{int(orphan.stdout)}/cmdline"), dead.wait() == 7]
        os.close(writing)
        ended = not select.select([reading], [], [], 20)[0] or os.read(reading, 1) == b""
        for process in (earlier, before, during):
            process.kill()
        os.kill(int(orphan.stdout), signal.SIGKILL)
        return [
            Row("found", "", "", "", leftovers=boxed),
            Row("rest", "", "", "", leftovers=again),
            Row("in the end", "", "", "", leftovers=in_the_end),
            Row("lives", "", "", "", leftovers=[str([*living, ended])]),
        ]

    found, rest, end, lives = alone(rows)
    assert sum("python" in name for name in found.leftovers) == 1 and not rest.leftovers, (found, rest)
    assert any("sleep" in name for name in end.leftovers) and not any(
        "tail" in name for name in end.leftovers
    ), end
    assert lives.leftovers == [str([True] * 6)], (found, lives)


def test_what_another_strop_makes_meanwhile_is_no_leftover(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("strop_verify.attacks.leftovers.PLACES", (str(tmp_path),))

    def rows() -> list[Row]:
        watch = LeftoverWatch("token")
        watch.learn()
        for name in ("strop-slots", "strop-1-abc", "strop-suite-1-abc", "strop-abcdefgh"):
            (tmp_path / name).touch()
        mine = [f"strop-{os.getpid()}-abc", f"strop-project-{os.getpid()}-abc"]
        for name in mine:
            (tmp_path / name).mkdir()
        watch.release()
        found = [name.rpartition("/")[2] for name in watch.finish()]
        return [Row(str(sorted(found) == sorted(mine)), "", "", "", leftovers=found)]

    (row,) = alone(rows)
    assert row.attack == "True", row
