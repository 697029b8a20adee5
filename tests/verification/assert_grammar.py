# ruff: noqa: E501
"""Snippets of assert code as people write it, each with a right answer and wrong ones, drawn out of a grammar.

A snippet is a head, some setup and one to four idioms, in any of several frames. What plain Python makes of answer and
snippet in one program is the truth (`plain`).
"""

import json
import os
import random
import subprocess
import sys
import textwrap
from dataclasses import dataclass

MODULES = (
    "collections",
    "contextlib",
    "copy",
    "functools",
    "inspect",
    "io",
    "itertools",
    "json",
    "math",
    "re",
    "sys",
    "unittest",
)


@dataclass(frozen=True)
class Problem:
    """Answers as bodies of `f`, the first one right, and calls whose values the tests expect."""

    answers: tuple[str, ...]
    calls: tuple[str, ...] = ()
    raises: str = ""
    """A call that raises in the right answer."""


VALUES = (
    Problem(
        (
            "def f(x): return x + 1",
            "def f(x): return x",
            "def f(x): return x + 1 if x < 5 else 0",
            "def f(x): raise KeyError('x')",
        ),
        ("1", "-3", "40"),
    ),
    Problem(
        (
            "def f(n): return n % 2 == 0",
            "def f(n): return True",
            "def f(n): return 1 - n % 2 if n > 2 else 7",
        ),
        ("2", "3", "n=10"),
    ),
    Problem(
        (
            "def f(s): return s[::-1]",
            "def f(s): return s",
            "def f(s): return list(s)[::-1]",
            "def f(s): return None",
        ),
        ("'abc'", "''", "'ab\\n\\u00e9'"),
    ),
    Problem(
        (
            "def f(l): return sorted(l)",
            "def f(l): return tuple(sorted(l))",
            "def f(l): return sorted(set(l))",
            "def f(l): l.append(1); return l",
        ),
        ("[3, 1, 1]", "[]", "[[2], [1]]"),
    ),
    Problem(
        (
            "def f(a, b=2): return a / b",
            "def f(a, b=2): return a // b",
            "def f(a, b=2): return round(a / b, 1)",
        ),
        ("1, 3", "10", "b=7, a=1.5"),
    ),
    Problem(
        (
            "def f(w):\n    d = {}\n    for c in w: d[c] = d.get(c, 0) + 1\n    return d",
            "def f(w): return {c: 1 for c in w}",
            "def f(w): return {}",
            "from collections import Counter\nf = Counter",
        ),
        ("'aab'", "[1, (1, 2), 1]"),
    ),
    Problem(
        (
            "def f(a, b): return divmod(a, b)",
            "def f(a, b): return list(divmod(a, b))",
            "def f(a, b): return (a, b)",
        ),
        ("7, 2", "-7, 2"),
    ),
    Problem(
        ("def f(l): return set(l)", "def f(l): return list(l)", "def f(l): return frozenset(list(l)[:2])"),
        ("[1, 2, 2]", "'abca'"),
    ),
    Problem(
        ("def f(x): return None", "def f(x): return 0", "def f(x): return False", "def f(x): return 'None'"),
        ("1", "'a'"),
    ),
    Problem(
        (
            "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(a): return P(a, -a)",
            "def f(a): return (a, a)",
            "def f(a): return [a, -a]",
        ),
        ("1", "2.5"),
    ),
    Problem(
        (
            "def f(g, v): return [g(x) for x in v]",
            "def f(g, v): return list(v)",
            "def f(g, v): return [g(x) for x in v][:1]",
        ),
        ("abs, [-1, 2]", "lambda t: t * 2, (1, 2)", "str, range(3)"),
    ),
    Problem(
        (
            "def f(n):\n    for i in range(n): yield i * i",
            "def f(n):\n    for i in range(n): yield i",
            "def f(n): return iter(())",
        ),
        (),
    ),
    Problem(
        (
            "from fractions import Fraction\ndef f(a, b): return Fraction(a, b)",
            "def f(a, b): return a / b",
            "def f(a, b): return (a, b)",
        ),
        ("1, 3", "2, 4"),
    ),
    Problem(
        (
            "def f(m): return [list(r) for r in zip(*m)]",
            "def f(m): return [r for r in zip(*m)]",
            "def f(m): return m",
        ),
        ("[[1, 2], [3, 4]]", "[]"),
    ),
    Problem(
        (
            "import datetime\ndef f(y): return datetime.date(y, 1, 2)",
            "import datetime\ndef f(y): return datetime.date(y, 2, 1)",
            "def f(y): return f'{y}-01-02'",
        ),
        ("2020", "1999"),
    ),
    Problem(
        (
            "class Solution:\n    def f(self, x): return x * x\ndef f(x): return Solution().f(x)",
            "class Solution:\n    def f(self, x): return x\ndef f(x): return Solution().f(x)",
        ),
        ("3", "-2"),
    ),
)
RAISING = (
    Problem(
        (
            "def f(x):\n    if x < 0: raise ValueError(f'bad {x}')\n    return x",
            "def f(x): return x",
            "def f(x): raise ValueError('other')",
            "def f(x):\n    if x < 0: raise TypeError(f'bad {x}')\n    return x",
            "class Bad(ValueError): pass\ndef f(x):\n    if x < 0: raise Bad(f'bad {x}')\n    return x",
        ),
        ("1", "2"),
        "-1",
    ),
    Problem(
        (
            "def f(k): return {'a': 1}[k]",
            "def f(k): return None if k == 'z' else 1",
            "def f(k): return {'a': 1}.get(k, 1)",
            "def f(k): raise LookupError('z')",
        ),
        ("'a'",),
        "'z'",
    ),
    Problem(
        (
            "def f(x): return 10 / x",
            "def f(x): return 10 / x if x else 0",
            "def f(x): return 10 / x if x else float('inf')",
        ),
        ("2", "4"),
        "0",
    ),
    Problem(
        (
            "import json\ndef f(s): return json.loads(s)",
            "def f(s): return {}",
            "def f(s): raise ValueError(s)",
        ),
        ("'[1]'", "'{}'"),
        "'{'",
    ),
    Problem(
        (
            "class Low(Exception):\n    def __init__(self, code):\n        super().__init__('low', code)\n        self.code = code\ndef f(x):\n    if x > 2: raise Low(x)\n    return x",
            "def f(x):\n    if x > 2: raise Exception('low')\n    return x",
            "def f(x): return x",
        ),
        ("1",),
        "3",
    ),
    Problem(
        (
            "import sys\ndef f(x):\n    if not x: sys.exit(3)\n    return x",
            "def f(x): return x",
            "import sys\ndef f(x): sys.exit(0)",
        ),
        ("1",),
        "0",
    ),
    Problem(
        (
            "def f(p): return open('/nowhere/' + p).read() if p else p",
            "def f(p): return p",
            "def f(p): raise OSError(p)",
        ),
        ("''",),
        "'x'",
    ),
)
EQUAL = (
    "assert f({a}) == {w}",
    "assert f({a}) == {w}, 'wrong'",
    "assert {w} == f({a}), f'got {{1}}'",
    "r = f({a})\nassert r == {w}",
    "assert (r := f({a})) == {w} and r == {w}",
    "if f({a}) != {w}: raise AssertionError('wrong')",
    "if not f({a}) == {w}:\n    sys.exit('wrong')",
    "if f({a}) != {w}: raise SystemExit(1)",
    "assert not f({a}) != {w}",
    "assert [f({a})] == [{w}]",
    "assert {{'k': f({a})}} == dict(k={w})",
    "assert repr(f({a})) == repr({w})",
    "assert str(f({a})) == str({w}) and '%s' % (f({a}),) == '{{}}'.format({w})",
    "assert type(f({a})) == type({w})",
    "assert isinstance(f({a}), type({w})), type(f({a}))",
    "assert json.dumps(f({a}), default=str) == json.dumps({w}, default=str)",
    "def check(candidate):\n    assert candidate({a}) == {w}\n    assert callable(candidate)\ncheck(f)",
    "def test_one():\n    got = f({a})\n    assert got == {w}\ntest_one()",
    "def same(a, b):\n    if a != b: raise ValueError('differs')\nsame(f({a}), {w})",
    "class T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f({a}), {w})\nresult = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\nassert result.wasSuccessful()",
    "unittest.TestCase().assertEqual(f({a}), {w})",
    "try:\n    assert f({a}) == {w}\nexcept AssertionError:\n    print('failed')\n    raise",
    "try:\n    ok = f({a}) == {w}\nfinally:\n    print('done')\nassert ok",
    "1 / (f({a}) == {w})",
    "[x for x in [{w}] if x == f({a})][0]",
    "next(x for x in [{w}] if x == f({a}))",
    "{{True: 1}}[f({a}) == {w}]",
    "failed = [n for n, (got, want) in enumerate([(f({a}), {w})]) if got != want]\nassert not failed, failed",
    "assert all(got == want for got, want in ((f({a}), {w}), (1, 1)))",
    "bad = 0\nfor _ in range(3):\n    if f({a}) != {w}: bad += 1\nassert bad == 0",
    "n = 2\nwhile n:\n    assert f({a}) == {w}\n    n -= 1",
    "match f({a}) == {w}:\n    case True: pass\n    case _: raise RuntimeError('no match')",
    "with contextlib.suppress(KeyError):\n    assert f({a}) == {w}",
    "with contextlib.ExitStack() as stack:\n    stack.callback(print, 'end')\n    assert f({a}) == {w}",
    "call = functools.partial(f)\nassert call({a}) == {w}",
    "assert f(*eval('[]'), {a}) == {w}",
    "assert (lambda g: g({a}))(f) == {w}",
    "assert eval('f({qa})') == {w}",
    "exec('assert f({qa}) == {qw}')",
    "assert f.__name__ == 'f' and f({a}) == {w}",
    "first, second = f({a}), f({a})\nassert first == second == {w}",
    "class Case(NamedTuple):\n    got: object\n    want: object\nfor case in [Case(f({a}), {w})]:\n    assert case.got == case.want",
    "def cases():\n    yield f({a}), {w}\nfor got, want in cases(): assert got == want",
    "assert len(repr(f({a}))) == len(repr({w}))",
    "assert copy.deepcopy(f({a})) == {w}",
    "assert f({a}) in [{w}]",
    "assert hash(str(f({a}))) == hash(str({w}))",
    "check = mock.Mock(return_value=None)\ncheck(f({a}))\ncheck.assert_called_once_with({w})",
    "f({a})",
    "if f({a}) == {w}: sys.exit(0)\nraise AssertionError",
    "assert bool(f({a})) is bool({w})",
    "out = io.StringIO()\nprint(f({a}), file=out)\nassert out.getvalue() == str({w}) + '\\n'",
    "assert f({a}) == {w} if True else False",
    "def outer():\n    def inner():\n        nonlocal_value = f({a})\n        return nonlocal_value\n    return inner\nassert outer()() == {w}",
    "try:\n    got = f({a})\nexcept Exception as e:\n    got = e\nassert got == {w}, type(got)",
)
ERRORS = (
    "try:\n    f({r})\nexcept {k}:\n    pass\nelse:\n    raise AssertionError('no error')",
    "try:\n    f({r})\n    assert False, 'no error'\nexcept {k}:\n    pass",
    "raised = False\ntry: f({r})\nexcept {k}: raised = True\nassert raised",
    "try:\n    f({r})\n    raise RuntimeError('no error')\nexcept {k} as e:\n    assert str(e) == {t!r}",
    "try: f({r})\nexcept {k} as e: assert e.args == {args!r}\nelse: raise AssertionError",
    "try: f({r})\nexcept BaseException as e: assert type(e).__name__ == {n!r}, type(e)\nelse: sys.exit(1)",
    "try: f({r})\nexcept BaseException as e: error = e\nassert isinstance(error, {k}) and repr(error) == {repr!r}",
    "unittest.TestCase().assertRaises({k}, f, {r})",
    "with unittest.TestCase().assertRaises({k}) as caught:\n    f({r})\nassert str(caught.exception) == {t!r}",
    "with unittest.TestCase().assertRaisesRegex({k}, re.escape({t!r})): f({r})",
    "def raises(g):\n    try: g()\n    except {k}: return True\n    return False\nassert raises(lambda: f({r}))",
    "with contextlib.suppress({k}):\n    f({r})\n    raise AssertionError('no error')",
    "try: f({r})\nexcept Exception: pass\nexcept SystemExit as e: assert e.code\nelse: raise AssertionError",
    "try: f({r})\nexcept BaseException as e: assert getattr(e, 'code', None) == {code!r} and getattr(e, 'filename', None) == {file!r}\nelse: raise AssertionError",
)
OTHERS = (  # answers, the first one right, and code that only plain Python can judge
    (
        ("def f(x): print(x)", "def f(x): return x", "def f(x): print(x, end='')"),
        "b = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    f(3)\nassert b.getvalue() == '3\\n'",
    ),
    (("def f():\n    'd'", "def f():\n    'e'", "def f(): pass"), "assert f.__doc__ == 'd'"),
    (
        ("def f(a, b): pass", "def f(a, c): pass", "def f(*a): pass"),
        "assert list(inspect.signature(f).parameters) == ['a', 'b']",
    ),
    (
        ("def f(l):\n    l.sort()\n    return l", "def f(l): return sorted(l)", "def f(l): l.sort()"),
        "l = [3, 1]\nassert f(l) is l",
    ),
    (
        ("def f(l): l.sort()", "def f(l): sorted(l)", "def f(l): l.reverse()"),
        "l = [3, 1, 2]\nassert f(l) is None and l == [1, 2, 3]",
    ),
    (
        ("def f(l): return l + [1]", "def f(l):\n    l.append(1)\n    return l"),
        "l = [0]\nkept = copy.deepcopy(l)\nassert f(l) == [0, 1]\nassert l == kept",
    ),
    (
        ("def f(): return input() + '!'", "def f(): return '!'"),
        "with mock.patch('builtins.input', return_value='a'):\n    assert f() == 'a!'",
    ),
    (
        (
            "def f(n):\n    for i in range(n): yield i * i",
            "def f(n):\n    for i in range(n): yield i",
            "def f(n): return [0, 1, 4][:n - 1]",
        ),
        "g = f(3)\nassert list(g) == [0, 1, 4]\nassert sum(f(4)) == 14",
    ),
    (
        (
            "def f(a):\n    def g(b): return a + b\n    return g",
            "def f(a): return lambda b: b",
            "def f(a): return a",
        ),
        "assert f(1)(2) == 3 and [*map(f(5), [1, 2])] == [6, 7]",
    ),
    (
        ("import random\ndef f(): return random.random()", "def f(): return .5"),
        "import random\nrandom.seed(3)\nwant = random.random()\nrandom.seed(3)\nassert f() == want",
    ),
    (
        ("def f(s):\n    print('Hi ' + s)\n    return len(s)", "def f(s): return len(s)"),
        "old, sys.stdout = sys.stdout, io.StringIO()\ntry:\n    n = f('Bo')\n    said = sys.stdout.getvalue()\nfinally:\n    sys.stdout = old\nassert n == 2 and said == 'Hi Bo\\n'",
    ),
    (
        (
            "class V:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\ndef f(x): return V(x)",
            "class V:\n    def __init__(self, x): self.x = x\ndef f(x): return V(x)",
        ),
        "assert f(1) == f(1) and f(2).x == 2",
    ),
    (
        ("def f(l): return max(l, key=len)", "def f(l): return max(l)"),
        "words = ['aa', 'b', 'ccc']\nassert f(words) is words[2]",
    ),
    (
        ("def f(it): return sum(it)", "def f(it): return 0", "def f(it): return sum(it) + sum(it) + 1"),
        "g = (x for x in [1, 2])\nassert f(g) == 3\nassert list(g) == []",
    ),
)
SHARING = (  # the same, and which containers are one object is all that tells the answers apart
    (
        ("def f(m): return [list(r) for r in m]", "def f(m): return list(m)", "def f(m): return m"),
        "m = [[1], [2]]\nn = f(m)\nn[0][0] = 9\nassert m == [[1], [2]] and n == [[9], [2]]",
    ),
    (
        ("def f(n): return [[0] * n for _ in range(n)]", "def f(n): return [[0] * n] * n"),
        "m = f(2)\nm[0][0] = 1\nassert m == [[1, 0], [0, 0]]",
    ),
    (
        ("def f(k): return {c: [] for c in k}", "def f(k): return dict.fromkeys(k, [])"),
        "d = f('ab')\nd['a'].append(1)\nassert d == {'a': [1], 'b': []}",
    ),
    (
        (
            "def f(x, acc=None): return [*(acc or ()), x]",
            "def f(x, acc=[]):\n    acc.append(x)\n    return acc",
        ),
        "a, b = f(1), f(2)\nassert a == [1] and b == [2]",
    ),
    (
        (
            "def f(n):\n    for i in range(n): yield [*range(i)]",
            "def f(n):\n    c = []\n    for i in range(n):\n        yield c\n        c.append(i)",
        ),
        "assert list(f(3)) == [[], [0], [0, 1]]",
    ),
    (
        (
            "def f(n):\n    c = []\n    for i in range(n):\n        yield c\n        c.append(i)",
            "def f(n): yield []",
        ),
        "assert [list(c) for c in f(3)] == [[], [0], [0, 1]]",
    ),
    (
        ("def f(d, k): return d.setdefault(k, [])", "def f(d, k): return d.get(k, [])"),
        "d = {}\nf(d, 'a').append(1)\nassert d == {'a': [1]}",
    ),
    (("def f(l): l.append(1)", "def f(l): l = l + [1]"), "l = [0]\nf(l=l)\nassert l == [0, 1]"),
    (
        ("def f(t): t[1]['x'].append(2)", "def f(t): t = (0, {'x': [2]})"),
        "inner = []\nf((1, {'x': inner}))\nassert inner == [2]",
    ),
    (
        ("def f(a, b): a.append(b)", "def f(a, b): a.append(b[:])"),
        "a, b = [], []\nf(a, b)\nb.append(1)\nassert a == [[1]]",
    ),
    (
        ("def f(l):\n    l.append(1)\n    raise ValueError", "def f(l): raise ValueError"),
        "l = []\ntry: f(l)\nexcept ValueError: pass\nassert l == [1]",
    ),
    (
        ("def f(l): return l[::-1]", "def f(l): l.reverse(); return l"),
        "l = [1, 2]\nr = f(l)\nr.append(0)\nassert l == [1, 2] and r == [2, 1, 0]",
    ),
)
FRAMES = (
    "{code}",
    "from __future__ import annotations\n{head}{code}",
    "if __name__ == '__main__':\n{indented}",
    "def main():\n{indented}\n\nmain()",
    "def check(f):\n{indented}\n\ncheck(f)",
    "{code}\nprint('all passed')",
    "{code}\nsys.exit()",
    "# tests\n'''text'''\n{code}\n",
    "for _ in range(2):\n{indented}",
    "with contextlib.nullcontext():\n{indented}",
)


@dataclass(frozen=True)
class Snippet:
    """Test code, and an answer with the reference of its task."""

    code: str
    answer: str
    reference: str


def _values(problem: Problem) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "answer"}
    exec(problem.answers[0], names)
    return names


def _equal(r: random.Random, problem: Problem) -> str:
    call = r.choice(problem.calls)
    value = eval(f"f({call})", _values(problem))
    want = (
        {"P": f"({', '.join(map(repr, value))})"}.get(type(value).__name__, repr(value))
        if isinstance(value, tuple)
        else repr(value)
    )
    want = want.replace("datetime.date", "__import__('datetime').date").replace(
        "Fraction", "__import__('fractions').Fraction"
    )
    quoted = {
        name: text.replace("\\", "\\\\").replace("'", "\\'") for name, text in (("qa", call), ("qw", want))
    }
    return r.choice(EQUAL).format(a=call, w=want, **quoted)


def _error(r: random.Random, problem: Problem) -> str:
    if r.random() < 0.3:
        return _equal(r, problem)
    try:
        eval(f"f({problem.raises})", _values(problem))
    except BaseException as error:
        known = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        return r.choice(ERRORS).format(
            r=problem.raises, k=known.__name__, t=str(error), n=type(error).__name__, args=error.args, repr=repr(error),
            code=getattr(error, "code", None), file=getattr(error, "filename", None),
        )  # fmt: skip
    raise AssertionError("the right answer raises")


def snippet(r: random.Random, *, others: float = 0.08) -> Snippet:
    """One snippet, with a right answer in two of five cases; `others`: the share of what only plain Python can judge."""
    kind = r.random()
    if kind < others:
        answers, code = r.choice(OTHERS)
    elif kind < others + 0.1:
        answers, code = r.choice(SHARING)
    else:
        problem = r.choice(RAISING if kind < others + 0.4 else [p for p in VALUES if p.calls])
        answers, draw = problem.answers, _error if problem.raises else _equal
        code = "\n".join(draw(r, problem) for _ in range(r.randint(1, 4)))
    frame = r.choice(FRAMES)
    used = [name for name in MODULES if f"{name}." in frame + code]
    special = [
        line
        for word, line in (
            ("mock.", "from unittest import mock"),
            ("NamedTuple", "from typing import NamedTuple"),
        )
        if word in code
    ]
    imports = "".join(f"{line}\n" for line in [*(f"import {name}" for name in used), *special])
    text = frame.format(code=code, indented=textwrap.indent(code, "    "), head=imports)
    head = "" if "{head}" in frame else imports
    answer = answers[0] if r.random() < 0.4 else r.choice(answers[1:])
    return Snippet(head + text, answer, answers[0])


_RUNNER = """
import json, os, sys
for line in sys.stdin:
    answer, code = json.loads(line)
    pid = os.fork()
    if not pid:
        status = 1
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2): os.dup2(null, fd)
            names = {"__name__": "__main__"}
            import types
            module = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(answer, "answer.py", "exec", dont_inherit=True), module.__dict__)
            exec(compile(code, "tests.py", "exec", dont_inherit=True), module.__dict__)
            status = 0
        except SystemExit as stop:
            trace = stop.__traceback__
            while trace.tb_next: trace = trace.tb_next
            status = 1 if stop.code or trace.tb_frame.f_code.co_filename == "answer.py" else 0
        except BaseException:
            pass
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def plain(snippets: list[Snippet]) -> list[bool]:
    """Of each, whether answer and tests come to their end in one program; an answer that ends it by itself has not."""
    lines = "".join(json.dumps([one.answer, one.code]) + "\n" for one in snippets)
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-c", _RUNNER],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # as Strop's: the order of a set is part of some snippets
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [line == "0" for line in done.stdout.split()]
