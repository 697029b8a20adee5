"""Tasks with a fault of a known code each, and sound ones beside them, for tests of the audit."""

from collections.abc import Iterator
from typing import Any

from strop_verify.core.checks import (
    AssertsCheck,
    Case,
    CasesCheck,
    CommandCheck,
    CommandStep,
    LabelCheck,
    PytestCheck,
    StdioCase,
    StdioCheck,
    WorkspaceCheck,
)
from strop_verify.core.task import Task

SQUARES = "def f(x):\n    return x * x + 1\n"


def cases(reference: str, inputs: Any, wanted: Any, *, shown: int = 2, **more: Any) -> Task:
    """A task of cases; `wanted` gives the expected value of an input."""
    rows = [Case(args=[x], expected=wanted(x), shown=i < shown) for i, x in enumerate(inputs)]
    check = CasesCheck(entry_point="f", cases=rows, **more.pop("check", {}))
    return Task(**{"statement": "Do what f is known for.", "reference": reference, "check": check, **more})


def sound(**more: Any) -> Task:
    """A task with no fault but those of `more`."""
    return cases(more.pop("reference", SQUARES), range(-3, 5), lambda x: x * x + 1, **more)


def asserts(reference: str, code: str, **more: Any) -> Task:
    """A task of assertions."""
    check = AssertsCheck(entry_point="f", code=code)
    return Task(**{"statement": "Do what f is known for.", "reference": reference, "check": check, **more})


def programs(reference: str, pairs: list[tuple[str, str]], *, shown: int = 1, **more: Any) -> Task:
    """A task of programs: (input, output)."""
    rows = [StdioCase(stdin=a, stdout=b, shown=i < shown) for i, (a, b) in enumerate(pairs)]
    check = StdioCheck(cases=rows, **more.pop("check", {}))
    return Task(**{"statement": "Answer the numbers.", "reference": reference, "check": check, **more})


DOUBLE = "n = int(input())\nif n > 2:\n    print(n * 2)\nelse:\n    print(n - 7)\n"
PAIRS = [(f"{n}\n", f"{n * 2 if n > 2 else n - 7}\n") for n in range(8)]
LETTERS = ["delta", "alpha", "charlie", "bravo", "echo"]


def flaky() -> Iterator[tuple[str, Task]]:
    """(name, task): references that fail in some runs, in some processes, or at some times."""
    yield "random", sound(reference="import random\ndef f(x):\n    return x * x + (random.random() < 0.6)\n")
    coin = "import random\n_lucky = random.random() < 0.5\ndef f(x):\n    return x * x + 1 if _lucky else 0\n"
    yield "coin", sound(reference=coin)
    yield "seldom", sound(reference=coin.replace("< 0.5", "< 0.8"))
    order = "def f(x):\n    return list(set(x))\n"
    first = ["bravo", "alpha"]
    yield "set of texts", cases(order, [LETTERS, [], ["a"], ["b"], first, LETTERS[:3]], lambda x: sorted(x))
    hashed = "def f(x):\n    return x * x + 1 if hash('code') % 2 else x\n"
    yield "hash", sound(reference=hashed)
    yield "second", sound(reference="import time\ndef f(x):\n    return x * x + (int(time.time()) % 2)\n")
    fine = "from time import time_ns\ndef f(x):\n    return x * x + (time_ns() // 64 % 2)\n"
    yield "nanosecond", sound(reference=fine)
    year = "import datetime\ndef f(x):\n    return x * x + 1 if datetime.date.today().year < 2027 else 0\n"
    yield "year", sound(reference=year)
    yield "entropy", sound(reference="import os\ndef f(x):\n    return x * x + (os.urandom(1)[0] > 99)\n")
    yield "uuid", sound(reference="import uuid\ndef f(x):\n    return x * x + uuid.uuid4().int % 2\n")
    yield (
        "program",
        programs(
            "import random\nn = int(input())\nprint((n * 2 if n > 2 else n - 7) + (random.random() < .1))\n",
            PAIRS,
        ),
    )


def unfit() -> Iterator[tuple[str, str, Task]]:
    """(code, name, task): every fault that must be found, and be fatal."""
    yield "no-statement", "blank", sound(statement=" \n")
    yield "no-reference", "none", sound(reference="")
    yield "reference-fails", "wrong", sound(reference="def f(x):\n    return x * x\n")
    yield "reference-fails", "broken syntax", sound(reference="def f(x:\n")
    yield "reference-fails", "program", programs("print(3)\n", PAIRS)
    yield "reference-fails", "choice", Task(statement="Which?", check=_label(["a", "b"], "c"))
    for name, task in flaky():
        yield "flaky", name, task
    yield "constant-passes", "all equal", cases("def f(x):\n    return 7\n", range(6), lambda x: 7)
    yield "constant-passes", "echo", cases("def f(x):\n    return x\n", range(6), lambda x: x)
    truthy = "assert f(1)\nassert f(2)\nassert f(3)\n"
    yield "constant-passes", "truth", asserts("def f(x):\n    return x > 0\n", truthy)
    kinds = "".join(f"assert isinstance(f({n}), int)\n" for n in range(6))
    yield "constant-passes", "types", asserts(SQUARES, kinds)
    yield "constant-passes", "program", programs("print('YES')\n", [(f"{n}\n", "YES\n") for n in range(6)])
    lax = "def check(args, kwargs, expected, result):\n    return isinstance(result, int)\n"
    yield "constant-passes", "checker", sound(check={"checker": lax})
    yield "exit-passes", "silent program", programs("pass\n", [(f"{n}\n", "") for n in range(6)])
    status = CommandCheck(path="a.py", steps=[CommandStep(stage="test", argv=["python3", "a.py"])])
    yield "exit-passes", "status", Task(statement="Run.", reference="print(1)\n", check=status)
    table = [1, 2, 1, 2, 1, 2]
    yield "cheat-passes", "table", cases(SQUARES, table, lambda x: x * x + 1)
    yield "broken-passes", "bug", sound(metadata={"broken": "def f(x):\n    return 1 + x ** 2\n"})
    sorting = "def f(x):\n    found = sorted(set(x))\n    while found and found[0] < 0:\n"
    sorting += "        found.pop(0)\n    return found\n"
    lists = [[3, 1], [-1, 2], [], [5, 5], [0], [9, -9, 1]]
    told = f"Sort.\n\n```python\n{sorting}```\n"
    yield (
        "leak-answer",
        "fence",
        cases(sorting, lists, lambda x: sorted({n for n in x if n >= 0}), statement=told),
    )
    quoted = "Sort.\n" + "".join(f">   {line}\n" for line in sorting.splitlines() if line.strip())
    yield (
        "leak-answer",
        "quoted",
        cases(sorting, lists, lambda x: sorted({n for n in x if n >= 0}), statement=quoted),
    )
    yield "leak-answer", "one line", sound(statement=f"Solution:\n{SQUARES}")
    yield "leak-answer", "prompt", sound(prompt=f"# {SQUARES}\n{SQUARES}")
    yield "leak-tests", "call", sound(statement="Do it. Note that f(4) is 17.")
    yield "leak-tests", "asserts", sound(statement="assert f(1) == 2\nassert f(4) == 17\n")
    plain = "".join(f"assert f({n}) == {n * n + 1}\n" for n in range(6))
    yield "leak-tests", "test code", asserts(SQUARES, plain, statement=f"Pass these:\n{plain}")
    said = "Input:\n7\nOutput:\n14\n"
    yield (
        "leak-tests",
        "program",
        programs(DOUBLE, PAIRS, statement=f"Double.\n{said}\nInput:\n6\nOutput:\n12\n"),
    )
    yield "leak-tests", "all shown", sound(shown=99)
    long = "def f(x):\n    if x < 10:\n        return x + 1\n    total = 0\n    for n in range(x):\n"
    long += "        if n % 3 == 0:\n            total += n * 2\n        elif n % 5 == 2:\n            total -= n + 4\n"
    long += "        else:\n            total += 1\n    return total\n"
    yield "weak-tests", "one branch", cases(long, range(6), lambda x: x + 1)
    shape = "".join(f"assert len(f([{n}, 3, {n}])) == {n + 2}\n" for n in range(6))
    sizes = "def f(x):\n    return [n * 2 if n > 3 else n - 1 for n in range(x[0] + 2)]\n"
    yield "weak-tests", "sizes", asserts(sizes, shape)
    yield "few-tests", "cases", cases(SQUARES, range(3), lambda x: x * x + 1)
    yield "few-tests", "repeats", cases(SQUARES, [0, 1, 2, 2, 2, 2, 2], lambda x: x * x + 1)
    yield "few-tests", "asserts", asserts(SQUARES, "assert f(2) == 5\nassert f(3) == 10\n")
    yield "few-tests", "programs", programs(DOUBLE, PAIRS[:3])
    yield (
        "few-tests",
        "empty suite",
        Task(statement="Do.", reference="x = 1\n", check=PytestCheck(files={}, tests=[])),
    )
    anyhow = "Return the prime factors in any order."
    factors = "def f(n):\n    return [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))]\n"
    numbers = [2, 6, 30, 12, 9, 77]
    wanted = lambda n: [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))]  # noqa: E731
    yield "special-judge", "any order", cases(factors, numbers, wanted, statement=anyhow)
    several = "Print the sum. If there are multiple answers, print any of them."
    yield "special-judge", "several", programs(DOUBLE, PAIRS, statement=several)
    yes = "n = int(input())\nprint('YES' if n % 3 == 0 else 'NO')\n"
    three = [(f"{n}\n", "YES\n" if n % 3 == 0 else "NO\n") for n in range(7)]
    case = "Say whether three divides it. You may print each letter in any case."
    yield "special-judge", "case", programs(yes, three, statement=case)
    half = [(f"{n}\n", f"{n / 3:.6f}\n") for n in range(7)]
    near = "A third. Your answer is right when its absolute or relative error is at most 10^-6."
    yield "special-judge", "error", programs("print(f'{int(input()) / 3:.6f}')\n", half, statement=near)
    bag = "def f(x):\n    return list({n % 8 for n in x})\n"
    yield (
        "special-judge",
        "set of numbers",
        cases(bag, [[9, 1, 3], [8], [], [7, 2], [5, 4, 3], [6, 1]], lambda x: sorted({n % 8 for n in x})),
    )
    spin = "def f(x):\n    for _ in range(45_000_000):\n        pass\n    return x * x + 1\n"
    yield "slow", "spins", cases(spin, range(6), lambda x: x * x + 1)
    yield "slow", "never ends", sound(reference="def f(x):\n    while True:\n        pass\n")
    heap = "_a = bytearray(300 << 20)\ndef f(x):\n    return x * x + 1\n"
    yield "heavy", "allocates", cases(heap, range(6), lambda x: x * x + 1)
    yield (
        "unverifiable",
        "workspace",
        Task(statement="Mend.", reference="x", check=WorkspaceCheck(failing=["t"])),
    )
    yield "unverifiable", "no toolchain", sound(language="cobol")


def _label(choices: list[str], expected: str) -> LabelCheck:
    return LabelCheck(choices=choices, expected=expected)


def fit() -> Iterator[tuple[str, Task]]:
    """(name, task): nothing fatal may be found, though some come close."""
    yield "plain", sound()
    yield "program", programs(DOUBLE, PAIRS)
    yield (
        "seeded",
        sound(
            reference="import random\nrandom.seed(3)\ndef f(x):\n    random.random()\n    return x * x + 1\n"
        ),
    )
    yield (
        "sorted set",
        cases(
            "def f(x):\n    return sorted(set(x))\n",
            [LETTERS, ["b", "a"], [], ["z", "z"], ["q"]],
            lambda x: sorted(set(x)),
        ),
    )
    yield (
        "timed",
        sound(
            reference="import time\ndef f(x):\n    _t = time.time()\n    assert _t > 0\n    return x * x + 1\n"
        ),
    )
    when = "from datetime import date, datetime, timedelta\n"
    when += "def f(x):\n    datetime.now()\n    return (date(2024, 2, 27) + timedelta(days=x)).isoformat()\n"
    yield (
        "dates",
        cases(
            when,
            range(6),
            lambda x: ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03"][x],
        ),
    )
    yield "example in words", sound(statement="Add one to the square, so f(-3) is 10.")
    yield (
        "any order checked",
        cases(
            "def f(x):\n    return list({c + c for c in x})\n",
            [["a", "b"], [], ["c"], ["b", "c"], ["d"], ["x", "y"]],
            lambda x: [c + c for c in x],
            statement="Once each, in any order.",
            check={"any_order": True},
        ),
    )
    yield "words of code", sound(statement="Return the square of x plus one; return x * x + 1 as an int.")
    yield "label", Task(statement="Which?", reference="a", check=_label(["a", "b"], "a"))
    method = "class Solution:\n    def f(self, x):\n        return x * x + 1 if x > 0 else 1 + x * x\n"
    yield "method", sound(reference=method)
