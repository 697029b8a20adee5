"""Rust tasks made from Python ones: literals that rustc takes for their types, tests that tell right from wrong."""

import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tasksets import read_rust_from_python
from tests.scale import some

from strop.tasks import load_tasks
from strop_tasks.curation.rust_build.cases import literal, parse_head, parse_type, rust_tests
from strop_verify.core.checks import Case, RustCheck
from strop_verify.core.task import Task
from strop_verify.verification.rust.calls import calls_of
from strop_verify.verification.verifier import OpenVerifier

TYPES = [
    ("i64", st.integers(-(2**63), 2**63 - 1)),
    ("u8", st.integers(0, 255)),
    ("f64", st.floats(allow_nan=False, allow_infinity=False)),
    ("bool", st.booleans()),
    ("char", st.characters(exclude_categories=["Cs"])),
    ("&str", st.text(st.characters(exclude_categories=["Cs"]))),
    ("String", st.text(st.characters(exclude_categories=["Cs"]))),
]


@st.composite
def typed(draw, depth=2):
    """(type, value) with vectors, options and tuples around the plain ones."""
    shape = draw(st.sampled_from(["plain", "Vec", "Option", "tuple"])) if depth else "plain"
    if shape == "plain":
        name, values = draw(st.sampled_from(TYPES))
        return name, draw(values)
    kind, value = draw(typed(depth - 1))
    if shape == "Vec":
        return f"Vec<{kind}>", [value] * draw(st.integers(0, 2))
    if shape == "Option":
        return f"Option<{kind}>", draw(st.sampled_from([None, value]))
    other, second = draw(typed(0))
    return f"({kind}, {other})", [value, second]


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return [task for task in load_tasks("rust-functions") if task.source.startswith("rust-from-python/")]


@settings(max_examples=25, deadline=None)
@given(st.lists(typed(), min_size=8, max_size=8))
def test_literals_have_their_types(pairs):
    """rustc takes every literal for its type, and every type's text is read back."""
    lines = []
    for i, (kind, value) in enumerate(pairs):
        if isinstance(value, type(None)) and not kind.startswith("Option"):
            continue
        parsed = parse_type(kind)
        assert parse_type(parsed.text) == parsed
        result = kind.replace("&str", "&'static str")
        lines.append(f"pub fn f{i}() -> {result} {{ {literal(value, parsed)} }}")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "-o", f"{folder}/x", "-"],
            input="\n".join(lines), text=True, capture_output=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr


test_literals_have_their_types = pytest.mark.rust(test_literals_have_their_types)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1.5, "i64"),
        (300, "u8"),
        (-1, "usize"),
        ("ab", "char"),
        (True, "i64"),
        ([1], "(i64, i64)"),
        (None, "i64"),
    ],
)
def test_values_of_another_type_are_refused(value, kind):
    with pytest.raises(ValueError, match=r"is not a value of|out of the range"):
        literal(value, parse_type(kind))


@pytest.mark.parametrize(
    "text", ["Vec<i64", "Box<i64>", "impl Fn(i64) -> i64", "Result<i64, String>", "Vec<i64, u8>", ""]
)
def test_types_that_are_not_covered_are_refused(text):
    with pytest.raises(ValueError):
        parse_type(text)


def test_a_head_is_read():
    name, parameters, result = parse_head(
        "pub fn f(a: &[(i64, f64)], b: BTreeMap<String, Vec<i64>>) -> Option<&str> {"
    )
    assert name == "f" and [p.text for p in parameters] == ["&[(i64, f64)]", "BTreeMap<String, Vec<i64>>"]
    assert result.text == "Option<&str>"


def test_floats_are_compared_with_a_margin_and_a_stated_type():
    text = rust_tests("pub fn f(x: f64) -> f64", [Case(args=[3], expected=-0.1, shown=True)])
    assert "let found: f64 = f(3.0);" in text and "(found - (-0.1)).abs() <= 1e-09" in text


def test_many_tasks_that_are_well_formed(tasks):
    assert len(tasks) >= 1100 and len({t.topic for t in tasks}) == 25
    everything = load_tasks("rust-functions")
    assert {t.id for t in tasks} < {t.id for t in everything} and len(everything) >= 1400
    for task in tasks:
        assert isinstance(task.check, RustCheck)
        assert task.reference.startswith(f"{task.signature} {{"), task.source
        assert task.metadata["examples"] and task.test_count >= 2, task.source
        assert "  " not in task.statement and task.level in (1, 2, 3), task.source


def test_tasks_like_their_python_twins_stay_on_one_side():
    """The written set and the one from Python share ideas; those are never on both sides of the split."""
    sides: dict[str, set[str]] = {}
    for task in load_tasks("rust-functions"):
        body = "".join(task.reference.partition("{")[2].split())
        sides.setdefault(task.statement.lower() + body, set()).add(str(task.split))
    assert all(len(found) == 1 for found in sides.values())


@pytest.mark.soak(60)
@pytest.mark.needs("cargo")
def test_references_pass_and_stubs_fail(tasks, verifier: OpenVerifier):
    right = [(t, verifier.submit(t, t.reference)) for t in some(tasks, 240)]
    wrong = [(t, verifier.submit(t, f"{t.signature} {{\n    todo!()\n}}\n")) for t in some(tasks, 60, salt=5)]
    failed = [(t.source, f.result().detail) for t, f in right if not f.result().passed]
    typed = {t.source for t, f in right if f.result().trust != "value"}
    passed = [t.source for t, f in wrong if f.result().passed]
    assert failed == [] and passed == []
    tests = {t.source: (t.check.only(RustCheck).tests, t.reference) for t, _ in right}
    assert typed == {source for source, (text, answer) in tests.items() if not calls_of(text, answer, answer)}


def test_topic_files_are_listed_and_a_stranger_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert "dicts" in read_rust_from_python.topics()
    with pytest.raises(
        ValueError, match=r"rust_from_python/dicts.rs: \w+: python-functions has no such task"
    ):
        list(read_rust_from_python.read_topic("dicts", {}))


def test_examples_are_readable(tasks):
    shown = "\n".join(line for task in tasks for line in task.metadata["examples"])
    assert (
        "String::from" not in shown
        and "::new()" not in shown.replace("BTreeMap::<", "").split("BTreeSet")[0][:2000]
    )
    assert json.dumps(shown)
