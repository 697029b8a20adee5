"""The pool on real worker processes: what is killed under it, what it leaves behind, what it keeps."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.processes import alive
from tests.scale import most
from tests.waiting import wait_until

from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.settings import Settings
from strop_verify.verification.toolchains import build

Family = Callable[..., list[int]]
CASES = Task(
    statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[n], expected=2 * n) for n in range(3)])
)
ASSERTS = Task(statement="s", check=AssertsCheck(entry_point="f", code="assert f(1) == 2\nassert f(4) == 8"))
IN_C = Task(statement="s", language="c", check=StdioCheck(cases=[StdioCase(stdin="3\n", stdout="6\n")]))
STDIO = Task(statement="s", check=StdioCheck(cases=[StdioCase(stdin="3\n", stdout="6\n")]))
RIGHT = "def f(x): return 2 * x  # {}"


@pytest.mark.parametrize(("victim", "task"), [("zygote", CASES), ("zygote", ASSERTS), ("tester", ASSERTS)])
def test_kill_of_workers_in_the_middle_loses_and_doubles_nothing(
    family: Family, victim: str, task: Task
) -> None:
    answer = "import time\ndef f(x):\n    time.sleep(0.02)\n    return 2 * x  # {}"
    settled: Counter[int] = Counter()
    count = most(60, 36)
    moments = range(6, count, 12)  # far apart, so that no job loses both of its runs
    with open_verifier(workers=2) as pool:
        ours = set(family(victim))
        futures = [pool.submit(task, answer.format(i)) for i in range(count)]
        for i, future in enumerate(futures):
            future.add_done_callback(lambda _, i=i: settled.update([i]))
        kills = 0
        for moment in moments:
            wait_until(lambda moment=moment: len(settled) >= moment)
            # Parents first: a candidate that is killed before its zygote has an end of its own.
            for pid in [pid for pid in family(victim) if pid not in ours]:
                with suppress(ProcessLookupError):  # it may be gone already
                    os.kill(pid, signal.SIGKILL)
                kills += 1
        verdicts = [future.result(120) for future in futures]
        assert kills >= len(moments)
        assert [v.outcome for v in verdicts] == [Outcome.PASSED] * count
        assert set(settled.values()) == {1} and len(settled) == count
        assert pool.stats()["retries"] >= 1
        assert not any(v.detail for v in verdicts)


def test_a_fault_of_the_task_is_its_own_behind_a_dead_process_too(family: Family) -> None:
    broken = Task(
        statement="s", check=AssertsCheck(entry_point="f", code="import nothing_like_it\nassert f(1)")
    )
    with open_verifier(workers=1) as pool:
        assert pool.verify(ASSERTS, RIGHT).passed
        for pid in family("tester"):
            with suppress(ProcessLookupError):  # the last job's fork
                os.kill(pid, signal.SIGKILL)
        verdict = pool.verify(broken, RIGHT)
        assert verdict.outcome is Outcome.ERROR and "ModuleNotFoundError" in verdict.detail
        assert pool.stats()["retries"] >= 1


@pytest.mark.needs("gcc")
def test_kill_of_a_box_in_the_middle_loses_nothing(family: Family) -> None:
    program = '#include <stdio.h>\nint main() { int x; scanf("%d", &x); printf("%d\\n", 2 * x); }  // {}'
    with open_verifier(workers=1) as pool:
        futures = [pool.submit(IN_C, program.replace("{}", str(i))) for i in range(16)]
        for count in (2, 8):
            wait_until(lambda count=count: sum(f.done() for f in futures) >= count)
            for pid in family("box_supervisor"):
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(pid, signal.SIGKILL)
        assert [f.result(120).detail for f in futures] == [""] * 16
        assert all(f.result().passed for f in futures) and pool.stats()["retries"] >= 1
    wait_until(lambda: not family("box_supervisor"))


def test_nothing_is_left_after_close_in_the_middle(family: Family) -> None:
    before, fds = set(family()), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        pool = open_verifier(workers=2, limits=Limits(cpu_seconds=30, wall_seconds=60))
        futures = [pool.submit(task, "while True: pass") for task in (CASES, ASSERTS, STDIO)] * 2
        wait_until(lambda: len(set(family()) - before) >= 5)  # two zygotes, a tester, two candidates
        pool.close()
        assert {future.result(120).outcome for future in futures} == {Outcome.ERROR}
    wait_until(lambda: set(family()) <= before)
    assert len(os.listdir("/proc/self/fd")) <= fds


SCRIPT = """
import sys, time
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
cases = Task(statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=2)]))
asserts = Task(statement="s", check=AssertsCheck(entry_point="f", code="assert f(1) == 2"))
with open_verifier(workers=2, limits=Limits(cpu_seconds=60, wall_seconds=60)) as pool:
    futures = [pool.submit(task, f"while True: pass  # {i}") for i in range(5) for task in (cases, asserts)]
    while pool.stats()["running"] < 2:
        time.sleep(0.01)
    print("ready", flush=True)
    futures[-1].result()
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_interrupt_and_kill_of_the_owner_leave_no_process(family: Family, sign: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None and owner.stdout.readline() == "ready\n"
        wait_until(lambda: len(family(root=owner.pid)) >= 5)  # two zygotes, a tester, two candidates
        workers = family(root=owner.pid)
        owner.send_signal(sign)
        owner.wait(120)
    finally:
        owner.kill()
        _, said = owner.communicate()
    assert sign is signal.SIGKILL or said.rstrip().endswith("KeyboardInterrupt")
    wait_until(lambda: not any(alive(pid) for pid in workers))


KINDS: list[tuple[Task, str, Outcome]] = [
    (CASES, RIGHT, Outcome.PASSED),
    (ASSERTS, RIGHT, Outcome.PASSED),
    (STDIO, "print(2 * int(input()))  # {}", Outcome.PASSED),
    (CASES, "def f(x): return x  # {}", Outcome.FAILED),
    (ASSERTS, "def f(x): return [x]  # {}", Outcome.FAILED),
    (CASES, "def f(x: return  # {}", Outcome.FAILED),
    (CASES, "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSEGV)  # {}", Outcome.FAILED),
    (ASSERTS, "import os\ndef f(x): os._exit(0)  # {}", Outcome.FAILED),
    (CASES, "def f(x):\n    while True: print('x' * 10000)  # {}", Outcome.FAILED),
    (STDIO, "while True: print('x' * 10000)  # {}", Outcome.FAILED),
    (CASES, "def f(x): return bytearray(10**9)  # {}", Outcome.OUT_OF_MEMORY),
]
LOOPS: list[tuple[Task, str, Outcome]] = [
    (CASES, "while True: pass  # {}", Outcome.TIMED_OUT),
    (
        ASSERTS,
        "def f(x):\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass  # {}",
        Outcome.TIMED_OUT,
    ),
    (STDIO, "import signal\nsignal.signal(15, signal.SIG_IGN)\nwhile True: pass  # {}", Outcome.TIMED_OUT),
]


def run_mixed(pool: VerifierPool, count: int, start: int) -> Counter[str]:
    """Counts wrong outcomes by what was expected and found."""
    wrong: Counter[str] = Counter()
    pending = []
    for number in range(start, start + count):
        kinds = LOOPS if number % 100 < 3 else KINDS
        task, answer, wanted = kinds[number % len(kinds)]
        pending.append((pool.submit(task, answer.format(number)), wanted))
    for future, wanted in pending:
        found = future.result(120).outcome
        if found is not wanted:
            wrong[f"{wanted} -> {found}"] += 1
    return wrong


def footprint(family: Family) -> dict[str, int]:
    """Resident KiB of this process and its workers, open files of both, and how many workers there are."""
    pids = [os.getpid(), *family()]
    sizes = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
    resident = [int(text.partition("VmRSS:")[2].split()[0]) for text in sizes]
    return {
        "own": resident[0],
        "workers": sum(resident[1:]),
        "files": len(os.listdir("/proc/self/fd")),
        "files of workers": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids[1:]),
        "processes": len(pids),
    }


@pytest.mark.soak(28)
def test_thousands_of_mixed_checks_leave_everything_flat(family: Family) -> None:
    limits = Limits(cpu_seconds=0.2, wall_seconds=10, memory_bytes=256 * 2**20, output_bytes=4096)
    small = 2**20  # full after the first thousand
    with VerifierPool(
        workers=2,
        route=Task.toolchain,
        build=partial(build, settings=Settings(limits=limits)),
        cache_bytes=small,
    ) as pool:
        wrong = run_mixed(pool, 1000, 0)
        before = footprint(family)
        for batch in range(1, most(10, 4)):
            wrong += run_mixed(pool, 1000, 1000 * batch)
        after = footprint(family)
    assert not wrong, (before, after)
    assert after["files"] <= before["files"] and after["files of workers"] <= before["files of workers"]
    assert after["processes"] <= before["processes"]
    assert after["own"] - before["own"] < 8 * 1024
    assert after["workers"] - before["workers"] < 8 * 1024
