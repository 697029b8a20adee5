# ruff: noqa: E501
"""Answers that try to pass without solving the task, to hang the grader or to harm its process. None may."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strop.core.checks import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck
from strop.core.task import Task
from strop.core.verdict import Outcome
from strop.verification.pool.pool import VerifierPool

SECRET = 73313
CASES = Task(
    statement="s",
    check=CasesCheck(
        entry_point="f", cases=[Case(args=[i], expected=[SECRET + i, abs(-i)]) for i in range(3)]
    ),
)
ASSERTS = Task(
    statement="s",
    check=AssertsCheck(
        entry_point="f",
        code=f"def check(c):\n    for i in range(3):\n        assert c(i) == [{SECRET} + i, abs(-i)]\ncheck(f)\nassert f(1) == [{SECRET} + 1, 1]",
    ),
)
STDIO = Task(statement="s", check=StdioCheck(cases=[StdioCase(stdin="1\n", stdout=f"{SECRET}\n")]))

ATTACKS = {
    "always equal": "class A:\n  __eq__ = lambda s, o: True\n  __hash__ = None\ndef f(x): return A()",
    "always equal list": "class A(list):\n  __eq__ = lambda s, o: True\n  __len__ = lambda s: 2\ndef f(x): return A()",
    "equal parts": "class A(int):\n  __eq__ = lambda s, o: True\ndef f(x): return [A(), A()]",
    "frame walk": """
import sys
def f(x):
    frame, seen = sys._getframe(), []
    while frame:
        for values in (frame.f_locals, frame.f_globals):
            for value in list(values.values()):
                if isinstance(value, list) and value and isinstance(value[0], int) and value[0] >= 73313:
                    return value
                if hasattr(value, 'expected'): return value.expected
        frame = frame.f_back
""",
    "gc hunt": """
import gc
def f(x):
    for o in gc.get_objects():
        for r in gc.get_referents(o):
            if type(r) is int and 73313 <= r <= 73400: return [r, x]
            if isinstance(o, dict) and 'expected' in o: return o['expected']
""",
    "memory file": "def f(x):\n  data = open('/proc/self/mem', 'rb').read(100)\n  return [73313 + x, x] if not data else 0",
    "write every descriptor": """
import os
for fd in range(64):
    for data in (b'\\x00\\x00\\x00\\x10{"i":0,"v":true}', b'{"test":0,"ok":true,"x":"","s":0}', b'PASSED'):
        try: os.write(fd, data)
        except OSError: pass
def f(x): return 0
""",
    "tester frames": """
import os, json
def send(m):
    d = json.dumps(m).encode(); os.write(3, len(d).to_bytes(4, 'big') + d)
send({"loaded": True})
for i in range(5): send({"test": i, "ok": True, "x": "", "s": 0.1})
send({"done": None})
os._exit(0)
""",
    "jail frame": """
import os, json
d = json.dumps({"jail": "broken"}).encode(); os.write(3, len(d).to_bytes(4, 'big') + d)
os._exit(97)
""",
    "sys.exit": "import sys\nsys.exit(0)",
    "sys.exit in call": "import sys\ndef f(x): sys.exit(0)",
    "os._exit": "import os\ndef f(x): os._exit(0)",
    "raise SystemExit": "def f(x): raise SystemExit(0)",
    "keyboard interrupt": "def f(x): raise KeyboardInterrupt",
    "close everything": "import os\nos.closerange(0, 64)\ndef f(x): return [1, 2]",
    "close and live on": "import os, time\nos.closerange(0, 64)\ntime.sleep(100)",
    "patch builtins": """
import builtins
builtins.abs = lambda x: x
builtins.all = builtins.isinstance = lambda *a: True
builtins.len = lambda x: 2
def f(x): return [0, 0]
""",
    "shadow abs": "def abs(x): return x\ndef check(c): pass\ndef f(x): return [73313, 0]",
    "patch json": """
import json, sys
json.dumps = lambda *a, **k: '{"i":0,"v":[73313,0]}'
json.loads = lambda *a, **k: {}
m = sys.modules
for name in list(m):
    if name.startswith('strop'):
        m[name].__dict__.update(encode=lambda v: [73313, 0], matches=lambda *a: True, decode=lambda v: v)
def f(x): return 0
""",
    "threads": """
import threading, os
def spam():
    while True:
        try: os.write(3, b'\\x00\\x00\\x00\\x02{}')
        except OSError: pass
for _ in range(4): threading.Thread(target=spam, daemon=True).start()
def f(x): return 0
""",
    "thread bomb": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
    "fake verdicts": "print('1 passed in 0.01s')\nprint('{\"outcome\": \"passed\"}')\ndef f(x): print('OK'); return 'passed'",
    "giant int": "def f(x): return 7 ** 5_000_000",
    "giant string": "def f(x): return 'x' * 50_000_000",
    "nested": "def f(x):\n  a = []\n  for _ in range(100000): a = [a]\n  return a",
    "colliding set": "def f(x): return {i * (2**61 - 1) for i in range(3000)}",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f(x) + 1",
    "endless generator": "def f(x):\n  while True: yield 1",
    "endless list": "import itertools\ndef f(x): return list(itertools.repeat(1))",
    "catch everything": "def f(x):\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass",
    "ignore signals": "import signal\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass",
    "raise limits": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (999, 999))\ndef f(x):\n  while True: pass",
    "fork": "import os\nwhile True: os.fork()",
    "exec": "import os\nos.execv('/bin/sh', ['sh', '-c', 'exit 0'])",
    "subprocess": "import subprocess\nsubprocess.run(['true'])\ndef f(x): return 0",
    "kill parent": "import os\nfor p in (os.getppid(), 1, 0, -1):\n  try: os.kill(p, 9)\n  except OSError: pass\ndef f(x): return 0",
    "socket": "import socket\nsocket.socket()\ndef f(x): return 0",
    "ctypes": "import ctypes\nctypes.CDLL(None).prctl(1, 0)\nctypes.string_at(0)\ndef f(x): return 0",
    "metaclass callable": "class M(type):\n  def __call__(c, *a): return c\n  __eq__ = lambda s, o: True\n  __hash__ = None\nclass f(metaclass=M): pass",
    "exception with lying text": "class E(Exception):\n  def __str__(s): raise SystemExit\ndef f(x): raise E()",
    "stdin": "def f(x): return input()",
    "null byte": "def f(x):\n  return 0\n\0",
    "surrogate": "def f(x): return '\ud800'",
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("task", [CASES, ASSERTS, STDIO], ids=["cases", "asserts", "stdio"])
def test_no_attack_passes_or_breaks_the_grader(verifier: VerifierPool, name: str, task: Task) -> None:
    began = time.monotonic()
    verdict = verifier.verify(task, ATTACKS[name])
    assert time.monotonic() - began < 120
    assert verdict.outcome not in (Outcome.PASSED, Outcome.ERROR), verdict
    if task is not STDIO:
        assert verdict.fraction < 0.5
    assert str(SECRET) not in verdict.detail or name in ("patch json", "shadow abs")


def test_after_all_attacks_honest_answers_pass(verifier: VerifierPool) -> None:
    honest = f"def f(x): return [{SECRET} + x, x]"
    assert verifier.verify(CASES, honest).passed and verifier.verify(ASSERTS, honest).passed
    assert verifier.verify(STDIO, f"print({SECRET})").passed


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
    task = Task(
        statement="s",
        check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=[[], [0, 1, 2, 3], {}, True])]),
    )
    verdict = verifier.verify(task, source)
    assert verdict.passed, verdict
    assert not os.path.exists("/tmp/strop-escape")


OWNER = """
import sys, time
from strop.core.checks import *
from strop.core.task import *
from strop.sandbox.limits import Limits
from strop.verification import open_verifier
v = open_verifier(workers=2, limits=Limits(cpu_seconds=60, wall_seconds=60))
cases = Task(statement='s', check=CasesCheck(entry_point='f', cases=[Case(args=[1], expected=1)]))
asserts = Task(statement='s', check=AssertsCheck(entry_point='f', code='assert f(1) == 1'))
for task in (cases, asserts): v.submit(task, 'while True: pass')
time.sleep(1.5)
print('ready', flush=True)
time.sleep(60)
"""


def descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(
                    Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_nothing_outlives_a_killed_parent() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, env={**os.environ})
    try:
        assert owner.stdout is not None and owner.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 30
        while len(family := descendants(owner.pid)) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(family) >= 5  # two zygotes, a tester, two candidates
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    deadline = time.monotonic() + 5
    while (left := [pid for pid in family if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
