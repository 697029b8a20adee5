# ruff: noqa: E501
"""Right programs that were judged wrong, and rows of the same kinds: exits, handlers, /dev/stdin, stacks, streams."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs

from strop_verify.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.jails import jail_names
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool

CASES = Path(os.environ.get("STROP_CASES", "../shared/cases"))
FOLDERS = (
    "program-exit",
    "program-at-exit",
    "program-dev-stdin",
    "program-stack",
    "program-stream-attributes",
)
MEMORY = 256 << 20


@pytest.fixture(scope="module")
def usual() -> Iterator[VerifierPool]:
    """With the limits of `strop verify`."""
    with open_verifier(workers=1) as opened:
        yield opened


def program(stdin: str, stdout: str, language: str = "python") -> Task:
    check = StdioCheck(cases=[StdioCase(stdin=stdin, stdout=stdout)])
    return Task(statement="s", language=language, check=check)


@pytest.mark.parametrize("name", FOLDERS)
def test_cases(name: str, usual: VerifierPool) -> None:
    folder = CASES / name
    if not folder.is_dir():
        needs.go_without("cases", f"no folder {folder}: set STROP_CASES to the shared cases")
    tasks, answers, expected = (
        [json.loads(line) for line in (folder / f"{part}.jsonl").read_text().splitlines()]
        for part in ("tasks", "answers", "expected")
    )
    by_id = {task["id"]: Task(statement=task.pop("statement", "s"), **task) for task in tasks}
    assert len(answers) == len(expected)
    for answer, right in zip(answers, expected, strict=True):
        task = by_id[answer["task_id"]]
        if task.language == "javascript":
            needs.need("node")
        if answer["task_id"] == "cached-recursion-20000" and sys.version_info >= (3, 12):
            right = {**right, "outcome": "failed"}  # in a plain Python too: C has a limit of its own
        verdict = usual.verify(task, answer["answer"])
        assert verdict.outcome.value == right["outcome"], (answer["task_id"], verdict.detail)


EXIT = "def f(n):\n    try:\n        {}\n    except SystemExit as stop:\n        return [stop.code, n]"
FUNCTIONS = {
    "exit-caught": (EXIT.format("exit(n)"), [3, 3]),
    "quit-caught": (EXIT.format("quit()"), [None, 3]),
    "stream-names": ("import sys\ndef f(n): return [sys.stdout.name, sys.stdin.mode, sys.stderr.errors]",
                     ["<stdout>", "r", "backslashreplace"]),
    "dev-stdin": ("def f(n): return open('/dev/stdin').read()", ""),
    "stack-limit": ("import resource\ndef f(n):\n    resource.setrlimit(resource.RLIMIT_STACK, (2**28, -1))\n    return n", 3),
    "recursion-990": ("def g(n): return n and 1 + g(n - 1)\ndef f(n): return g(990)", 990),
    "thread-stack": ("import threading\ndef f(n):\n    threading.stack_size(2**29)\n    out = []\n"
                     "    t = threading.Thread(target=out.append, args=(n,))\n    t.start()\n    t.join()\n    return out", [3]),
    "recursion-limit": ("import sys\ndef f(n):\n    old = sys.getrecursionlimit()\n    sys.setrecursionlimit(10**5)\n"
                        "    return [old, sys.getrecursionlimit()]", [1000, 100000]),
    "environment": ("import os\ndef f(n): return [os.environ['LANG'], 'PYTHONHASHSEED' in os.environ]", ["C.UTF-8", False]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_find_the_same(name: str, usual: VerifierPool) -> None:
    answer, expected = FUNCTIONS[name]
    check = CasesCheck(entry_point="f", cases=[Case(args=[3], expected=expected)])
    verdict = usual.verify(Task(statement="s", check=check), answer)
    assert verdict.passed, verdict


READERS = {
    "python": "print(open('/dev/stdin').read().split(), flush=True)\nopen('/dev/stdout', 'w').write('end')",
    "javascript": "const fs = require('fs'); const w = fs.readFileSync('/dev/stdin', 'utf8').trim().split(' ');\n"
    "console.log(`['${w[0]}', '${w[1]}']`); fs.writeFileSync('/dev/stdout', 'end');",
}


@pytest.mark.parametrize("jail", jail_names())
def test_dev_stdin_in_every_jail(jail: str) -> None:
    with open_verifier(workers=1, jail=jail) as verifier:
        for language, answer in READERS.items():
            if language != "javascript" or not needs.missing("node"):
                verdict = verifier.verify(program("7 8\n", "['7', '8']\nend", language), answer)
                assert verdict.passed, verdict


@pytest.mark.parametrize("jail", jail_names())
def test_proc_shows_no_other_process(jail: str) -> None:
    answer = """
import os, sys
me = os.getpid()
for pid in (1, os.getppid(), *range(max(2, me - 30), me)):
    for name in ("fd", "environ", "mem", "maps", "cmdline", "root/etc/passwd", "cwd/etc/passwd"):
        try: open(f"/proc/{pid}/{name}").read(1); print(pid, name)
        except OSError: pass
    for name in ("exe", "cwd", "root", "fd/0"):
        try: print(pid, os.readlink(f"/proc/{pid}/{name}"))
        except OSError: pass
for name in ("environ", "mem", "maps", "cmdline", "root/etc/passwd"):
    try: open(f"/proc/self/{name}").read(1); print(name)
    except OSError: pass
try: os.write(os.open("/dev/stdin", os.O_RDWR), b"x"); print("changed the input")
except OSError: pass
"""
    with open_verifier(workers=1, jail=jail) as verifier:
        verdict = verifier.verify(program("7\n", ""), answer)
    assert verdict.passed and not verdict.output.strip(), verdict


HUNGRY = {
    "by threads": "import threading\nthreading.stack_size(2**29)\na = bytearray(b'x') * (400 << 20)\nprint(1)",
    "by the limit": "import resource\nhard = resource.getrlimit(resource.RLIMIT_AS)[1]\n"
    "resource.setrlimit(resource.RLIMIT_AS, (hard, hard))\na = bytearray(b'x') * (400 << 20)\nprint(1)",
    "without": "a = bytearray(b'x') * (400 << 20)\nprint(1)",
    "too much": "import threading\nthreading.stack_size(2**29)\na = [b'x' * (400 << 20) for _ in range(9)]\nprint(1)",
}


@pytest.mark.parametrize("name", HUNGRY)
def test_addresses_for_stacks_are_no_memory(name: str) -> None:
    roomy = Limits(
        memory_bytes=MEMORY, cpu_seconds=20, wall_seconds=60
    )  # pages are slow where memory is short
    with open_verifier(workers=1, limits=roomy) as verifier:
        assert verifier.verify(program("", "1"), HUNGRY[name]).outcome is Outcome.OUT_OF_MEMORY
        function = HUNGRY[name].replace("print(1)", "def f(x): return x")
        check = CasesCheck(entry_point="f", cases=[Case(args=[3], expected=3)])
        assert verifier.verify(Task(statement="s", check=check), function).outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize("name", ["AS", "NOFILE", "CPU", "FSIZE", "DATA", "CORE"])
def test_other_limits_stay(name: str, usual: VerifierPool) -> None:
    answer = f"""
import resource
which = resource.RLIMIT_{name}
soft, hard = resource.getrlimit(which)
more = hard + 1 if hard > 0 else 1
for pair in ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), (more, more)):
    try: resource.setrlimit(which, pair); print("set", pair)
    except (OSError, ValueError): pass
print(resource.getrlimit(which) == (soft, hard))
"""
    assert usual.verify(program("", "True\n"), answer).passed


def test_output_of_a_program_that_ends_at_once(usual: VerifierPool) -> None:
    needs.need("node")
    answer = "process.stdout.write('x'.repeat(300000)); process.exit();"
    assert usual.verify(program("", "x" * 300_000, "javascript"), answer).passed


FRAMES = "import os\nfrom strop_verify.verification.python.wire import frame\n"
ENDINGS = {
    "handler-sends-frames": (
        "import atexit\n@atexit.register\ndef end():\n    for m in ({'built': True}, {'i': 1, 'v': b'I3'}, {'x': None}):\n"
        "        os.write(3, frame(m))\n    os._exit(0)\nprint('wrong')",
        (Outcome.FAILED, Outcome.TAMPERED),
    ),
    "handler-sends-rubbish": (
        "import atexit\natexit.register(lambda: (os.write(3, b'\\xff' * 99), os._exit(0)))\nprint(3)",
        (Outcome.TAMPERED,),
    ),
    "handler-never-ends": (
        "import atexit\n@atexit.register\ndef end():\n    while True: pass\nprint(3)",
        (Outcome.TIMED_OUT,),
    ),
    "thread-never-ends": (
        "import threading\ndef run():\n    while True: pass\nthreading.Thread(target=run).start()\nprint(3)",
        (Outcome.TIMED_OUT,),
    ),
    "handler-adds-output": ("import atexit\natexit.register(print, 'more')\nprint(3)", (Outcome.FAILED,)),
    "handler-floods": (
        "import atexit\n@atexit.register\ndef end():\n    while True: os.write(1, b'x' * 65536)\nprint(3)",
        (Outcome.FAILED,),
    ),
    "finalizer-kills": (
        "import signal\nclass A:\n    def __del__(self): os.kill(os.getpid(), signal.SIGKILL)\na = A()\nprint(3)",
        (Outcome.OUT_OF_MEMORY,),
    ),
    "finalizer-fails": ("class A:\n    def __del__(self): os._exit(9)\na = A()\nprint(3)", (Outcome.FAILED,)),
    "error-after-output": ("print(3, flush=True)\nraise ValueError", (Outcome.FAILED,)),
    "closed-channel-lives-on": (
        "import time\nprint(3, flush=True)\nfor fd in range(4): os.close(fd)\ntime.sleep(60)",
        (Outcome.TAMPERED,),
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_end_changes_only_its_own_output(name: str, usual: VerifierPool) -> None:
    answer, outcomes = ENDINGS[name]
    verdict = usual.verify(program("3\n", "3\n"), FRAMES + answer)
    assert verdict.outcome in outcomes, verdict
    assert usual.verify(program("3\n", "3\n"), f"print(input())  # after {name}").passed
