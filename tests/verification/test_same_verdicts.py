# ruff: noqa: E501
"""A verdict is the same whatever was judged before, beside it and how long that took; another secret draws otherwise."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pytest
from tests.verification.test_rust_second_look import FORGERS, HONEST, POINT, SET

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.projects import projects
from strop_verify.attacks.suite import as_given
from strop_verify.core.checks import AssertsCheck, PytestCheck, RustCheck, StdioCase, StdioCheck
from strop_verify.core.protocols import Toolchain
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.edit import EditToolchain
from strop_verify.verification.project import backend as backends
from strop_verify.verification.project.cargo import CargoBackend
from strop_verify.verification.python import toolchain as python
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.tests import StrictRunner
from strop_verify.verification.secret_rng import VARIABLE
from strop_verify.verification.settings import Settings
from strop_verify.verification.toolchains import build

Jobs = list[tuple[Task, str]]
LIMITS = Limits(cpu_seconds=2, wall_seconds=20)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def use(text: str) -> None:
        monkeypatch.setenv(VARIABLE, text)

    use("one")
    return use


def told(verdict: Verdict) -> dict[str, Any]:
    """All of a verdict but what was measured."""
    found = verdict.model_dump(exclude={"seconds", "cpu_seconds", "peak_bytes"})
    for part in (*found["stages"], *found["tests"]):
        part.pop("seconds")
    return found


def in_parts(opened: Callable[[], Toolchain], parts: list[Jobs]) -> dict[tuple[str, str], dict[str, Any]]:
    """What a fresh toolchain says, by task and answer."""
    found = {}
    with closing(opened()) as toolchain:  # type: ignore[type-var]
        for part in parts:
            verdicts = toolchain.judge(part)
            found |= {(t.id, a): told(v) for (t, a), v in zip(part, verdicts, strict=True)}
    return found


@contextmanager
def noted(owner: Any, name: str, note: Callable[..., Any]) -> Iterator[dict[str, list[Any]]]:
    """What is noted of calls of a function, by answer."""
    found: dict[str, list[Any]] = {}
    inner = getattr(owner, name)

    def outer(*args: Any, **kwargs: Any) -> Any:
        answer, what = note(*args, **kwargs)
        found.setdefault(answer, []).append(what)
        return inner(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, outer)
        yield found


POINTS = """
from solution import Point, total
def test_add(): assert Point(1, 2) + Point(3, 4) == Point(4, 6)
def test_other(): assert Point(1, 2) != Point(2, 1) and Point(5, 5) == Point(5, 5)
def test_text(): assert str(Point(7, 8)) == str(Point(3, 4) + Point(4, 4))
def test_total(): assert total([Point(1, 2), Point(3, 3)]) == Point(4, 5)
"""
POINT_CLASS = """
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Point(self.x + o.x, self.y + o.y)
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __str__(self): return f"{self.x} {self.y}"
def total(points):
    first, *rest = points
    for one in rest: first = first + one
    return first
"""
SUITE = Task(
    id="points",
    statement="s",
    check=PytestCheck(
        path="solution.py",
        files={"test_it.py": POINTS},
        tests=[f"test_it.py::test_{name}" for name in ("add", "other", "text", "total")],
    ),
    reference=POINT_CLASS,
)
EQUAL = "(self.x, self.y) == (o.x, o.y)"
SOMETIMES = POINT_CLASS.replace(EQUAL, f"{EQUAL} or o.x - self.x == 3 and o.y - self.y == 3")
"""It lies where a call is altered by one amount only; whether that is drawn decides."""
IN_PLACE = Task(
    id="in place",
    statement="s",
    check=AssertsCheck(
        entry_point="f", code="a = [3, 1]\nassert f(a) == sorted(a)\nassert f([2, 1]) == [1, 2]"
    ),
    reference="def f(a): return sorted(a)",
)
PYTHON: Jobs = [
    (SUITE, POINT_CLASS.replace("first + one", "one + first")),
    (SUITE, f"import time; time.sleep(0.3)\n{POINT_CLASS}"),
    (SUITE, POINT_CLASS.replace(EQUAL, "isinstance(o, Point) and self.x != 2")),
    (SUITE, POINT_CLASS.replace('f"{self.x} {self.y}"', '"point"')),
    (SUITE, POINT_CLASS.replace("self.y + o.y", "self.y - o.y")),
    (SUITE, "class Point: pass\n"),
    (SUITE, "import no_such_module\n"),
    (SUITE, SOMETIMES),
    (IN_PLACE, "def f(a):\n    a.sort()\n    return a"),
    (IN_PLACE, "def f(a):\n    a[:] = [0]\n    return a"),
    (IN_PLACE, "def f(a): return sorted(a)[::-1]"),
]


@pytest.mark.soak(22)
def test_python_verdicts(secret: Callable[[str], None]) -> None:
    def opened() -> Toolchain:
        return PythonToolchain(Settings(limits=LIMITS))

    def altered(check: Any, answer: str, *rest: Any, **_: Any) -> Any:
        return answer, rest[3] if len(rest) > 3 else None

    with noted(python, "run_pytest", altered) as first:
        forwards = in_parts(opened, [PYTHON])
    with noted(python, "run_pytest", altered) as second:
        backwards = in_parts(opened, [[job] for job in reversed(PYTHON)])
    assert forwards == backwards
    assert [one["outcome"] for one in forwards.values()].count(Outcome.PASSED) >= 2
    assert first == second and any(filter(None, first[PYTHON[0][1]]))
    alone = [in_parts(opened, [[job]]) for job in PYTHON[-4:]]
    assert all(found[key] == forwards[key] for found in alone for key in found)
    with open_verifier(workers=2, limits=LIMITS) as verifier:
        futures = [verifier.submit(task, answer) for task, answer in PYTHON[::-1]]
        found = [told(future.result(timeout=300)) for future in futures][::-1]
    trust = {"trust": None}
    assert [one | trust for one in found] == [one | trust for one in forwards.values()]
    secret("two")
    with noted(python, "run_pytest", altered) as third:
        in_parts(opened, [PYTHON])
    assert third != first


@pytest.mark.soak(13)
def test_what_an_answer_gets_by_lot_is_the_same_each_time(secret: Callable[[str], None]) -> None:
    outcomes = set()
    for number in range(6):
        secret(str(number))
        before = [(SUITE, PYTHON[0][1])] if number % 2 else []
        found = [
            in_parts(lambda: PythonToolchain(Settings(limits=LIMITS)), [jobs])["points", SOMETIMES]
            for jobs in ([(SUITE, SOMETIMES)], [*before, (SUITE, SOMETIMES)])
        ]
        assert found[0] == found[1]
        outcomes.add(found[0]["outcome"])
    assert outcomes == {Outcome.FAILED, Outcome.PASSED}


VALUES = "#[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(twice(4), 8); } #[test] fn u() { assert_eq!(twice(0), 0); } }"
_TWICE = "pub fn twice(x: i32) -> i32 { 2 * x }"
TWICE = Task(id="twice", language="rust", statement="s", reference=_TWICE, check=RustCheck(tests=VALUES))
OWN = Task(id="own", language="rust", statement="s", check=RustCheck())
_OWN = "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(add(1, 2), 3); assert_eq!(add(-1, 5), 4); } }"
RUST: Jobs = [
    *(FORGERS[name] for name in ("nothing kept", "equal by length", "texts alike")),
    *(HONEST[name] for name in ("a tuple", "a tree", "texts")),
    (POINT, POINT.reference.replace("self.x + o.x", "self.x - o.x")),
    (POINT, POINT.reference.replace("self.x + o.x", 'panic!("{:?}", o)')),
    (SET, SET.reference.replace("v.sort();", "let unused = 1; v.sort();")),
    (TWICE, "pub fn twice(x: i32) -> i32 { let y = 3; 2 * x }"),
    (TWICE, _TWICE.replace("2", "3")),
    (TWICE, "pub fn twice(x: i32) -> &str { 2 * x }"),
    (TWICE, "pub fn twice(x: i32) -> i32 { 2 * x"),
    (TWICE, "pub fn twice(x: i32) -> i32 { let s: i32 = vec![\"a\"].iter().sum(); Rank(s, x) }"),
    (TWICE, 'extern "C" { fn nope(); } pub fn twice(x: i32) -> i32 { unsafe { nope() }; x }'),
    (TWICE, "pub struct Vec; pub fn twice(x: i32) -> i32 { let s: Result<i32, ()> = Vec; x }"),
    (TWICE, 'pub fn twice(x: i32) -> i32 { eprintln!("hello {}", std::any::type_name::<Q>()); panic!("no {x}") } struct Q;'),
    (OWN, _OWN),
    (OWN, _OWN.replace("a + b", "rank(a) + b")),
    (OWN, "pub fn rank(a: u8) -> u8 { a } #[test] fn t() { assert!(true); }"),
]  # fmt: skip


@pytest.mark.rust(60)
@pytest.mark.parametrize("verdict", ["strict", "cargo"])
def test_rust_verdicts(verdict: Any, secret: Callable[[str], None]) -> None:
    def opened() -> Toolchain:
        return RustToolchain(verdict=verdict, limits=LIMITS)

    def altered(self: Any, work: Any, layout: Any, case: Any, tests: dict[str, Any]) -> Any:
        prefix = layout.prefix(case)
        return case.answer, {name.removeprefix(prefix): alter for name, alter in tests.items()}

    with noted(StrictRunner, "_process", altered) as first:
        together = in_parts(opened, [RUST])
    with noted(StrictRunner, "_process", altered) as second:
        backwards = in_parts(opened, [[job] for job in reversed(RUST)])
    for key, found in together.items():
        assert found == backwards[key]
    assert in_parts(opened, [RUST[9:][::-1], RUST[:9]]) == together
    if verdict == "strict":
        assert [one["outcome"] for one in together.values()].count(Outcome.PASSED) == 6
        looked = [answer for _, answer in RUST[:6]]
        assert [first[answer] for answer in looked] == [second[answer] for answer in looked]
        secret("two")
        with noted(StrictRunner, "_process", altered) as third:
            in_parts(opened, [RUST[:6]])
        assert [third[answer] for answer in looked] != [first[answer] for answer in looked]


@pytest.mark.needs("gcc")
def test_c_verdicts() -> None:
    task = Task(language="c", statement="s", check=StdioCheck(cases=[StdioCase(stdin="", stdout="1")]))
    jobs = [
        (task, f"{head}int main(void) {{ return {value}; }}")
        for head, value in (("", 0), ("int f(void); ", "f()"))
    ]
    opened = partial(build, "command", Settings(limits=LIMITS))
    assert in_parts(opened, [jobs]) == in_parts(opened, [[job] for job in reversed(jobs)])


@pytest.mark.parametrize(
    "name, answers",
    [
        ("project", ["@RIGHT@\n# said twice\n", "@WRONG@\n# once\n", "import no_such_module\n", "@RIGHT@\nraise SystemExit(0)\n"]),
        pytest.param("cargo", ["@CRATE_RIGHT@", "pub fn broken(", "// said twice\n@CRATE_RIGHT@"], marks=pytest.mark.rust(30)),
    ],
)  # fmt: skip
def test_project_verdicts(name: str, answers: list[str], secret: Callable[[str], None]) -> None:
    def opened() -> Toolchain:
        return EditToolchain(lambda kind: build(kind, Settings(limits=LIMITS)), "project")

    def asked(self: Any, request: Any = None, *, files: Any = None, removed: Any = ()) -> Any:
        edited = next(iter((files or {}).values()), "")
        return edited, (request.tests, request.order, files)

    owner = CargoBackend if name == "cargo" else backends.PytestBackend
    with Canaries() as canaries:
        task = projects(canaries.folder)[name]
        jobs = [(task, as_given(task, text, canaries.facts, honest=True)) for text in answers]
        with noted(owner, "run", asked) as first:
            forwards = in_parts(opened, [jobs])
        with noted(owner, "run", asked) as second:
            backwards = in_parts(opened, [[job] for job in reversed(jobs)])
        assert forwards == backwards
        assert forwards[jobs[0][0].id, jobs[0][1]]["outcome"] == Outcome.PASSED
        edited = [text for text in first if text in second]
        assert [first[text] for text in edited] == [second[text] for text in edited]
        secret("two")
        with noted(owner, "run", asked) as third:
            in_parts(opened, [jobs])
        assert [third.get(text) for text in edited] != [first[text] for text in edited]
