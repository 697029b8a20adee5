# ruff: noqa: E501
"""The suite's hostile Python answers on every way of judging that runs in one worker, and what a candidate can reach."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scale import some

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.suite import Attack, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.pool.pool import VerifierPool

TASKS = ("cases", "asserts", "stdio")
ATTACKS = [a for a in load_suite() if a.language == "python" and a.task in (*TASKS, "asserts-builtins")]


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as opened:
        yield opened


@pytest.mark.parametrize("attack", some(ATTACKS, 20), ids=lambda attack: attack.name)
def test_no_attack_passes_or_breaks_the_grader(
    verifier: VerifierPool, canaries: Canaries, attack: Attack
) -> None:
    """On the tasks that it was not written for too."""
    tasks = build(canaries.secret)
    hostile = trial(attack, tasks, canaries.facts).hostile
    assert hostile is not None
    verdicts = {name: verifier.submit(tasks[name], hostile) for name in TASKS}
    for name, future in verdicts.items():
        verdict = future.result(120)
        assert verdict.outcome not in (Outcome.PASSED, Outcome.ERROR), (name, verdict)
        assert name == "stdio" or verdict.fraction < 0.5
        assert str(canaries.secret) not in verdict.detail
        assert not canaries.leaked(verdict.model_dump_json())
    assert not canaries.touched()


def test_after_all_attacks_honest_answers_pass(verifier: VerifierPool, canaries: Canaries) -> None:
    tasks, secret = build(canaries.secret), canaries.secret
    honest = f"def code(x): return [{secret} + x, x]"
    assert verifier.verify(tasks["cases"], honest).passed and verifier.verify(tasks["asserts"], honest).passed
    assert verifier.verify(tasks["stdio"], f"print({secret} + int(input()))").passed


PEEK = """
import os
found = []
def attempt(name, action):
    try:
        action()
        found.append(name)
    except BaseException as error:
        if not isinstance(error, (OSError, ValueError)): found.append(name + ' ' + repr(error))
import socket, resource
attempt('read host file', lambda: open('/etc/passwd').read())
attempt('list home', lambda: os.listdir(os.path.expanduser('~root')))
attempt('read source', lambda: open(SOURCE).read())
attempt('read environment of others', lambda: open('/proc/%d/environ' % os.getppid()).read())
attempt('own proc', lambda: os.listdir('/proc/self/fd'))
attempt('write tmp', lambda: open('/tmp/strop-escape', 'w'))
attempt('write shm', lambda: open('/dev/shm/strop-escape', 'w'))
attempt('mkdir', lambda: os.mkdir('/tmp/strop-escape'))
attempt('chmod', lambda: os.chmod('/tmp', 0o777))
attempt('memfd', lambda: os.memfd_create('x'))
attempt('socket', lambda: socket.socket())
attempt('unix socket', lambda: socket.socket(socket.AF_UNIX))
attempt('fork', lambda: os.fork())
attempt('exec', lambda: os.execv('/bin/true', ['true']))
attempt('kill parent', lambda: os.kill(os.getppid(), 0))
attempt('kill init', lambda: os.kill(1, 0))
attempt('kill all', lambda: os.kill(-1, 0))
attempt('raise limit', lambda: resource.setrlimit(resource.RLIMIT_CPU, (99, 99)))
attempt('affinity', lambda: os.sched_setaffinity(0, {0}))
attempt('mount', lambda: os.chroot('/tmp'))
fds = []
for fd in range(256):
    try: os.fstat(fd); fds.append(fd)
    except OSError: pass
def f(x): return [found, fds, dict(os.environ), os.getpid() > 1]
"""


def test_what_a_candidate_can_reach(verifier: VerifierPool) -> None:
    source = PEEK.replace("SOURCE", repr(str(Path(__file__))))
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/"}
    case = Case(args=[1], expected=[[], [0, 1, 2, 3], environment, True])
    task = Task(statement="s", check=CasesCheck(entry_point="f", cases=[case]))
    verdict = verifier.verify(task, source)
    assert verdict.passed, verdict
    assert not os.path.exists("/tmp/strop-escape")
