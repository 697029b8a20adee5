"""Texts cut into whole functions and classes."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strop_verify.code.chunks import MOST_LINES, chunks

PYTHON = """\
import os

X = 1


# About f.
@cached
def f():
    def g():
        pass

    return g


class Small:
    def a(self):
        pass


if X:
    def inner():
        pass
"""
RUST = """\
use std::fmt;

/// Adds.
#[inline]
pub fn add(a: u8) -> u8 {
    a
}

struct Cart {
    a: u8,
}
"""
GO = """\
package a

func F() {

	x()
}

func G() {
}
"""


def test_python_and_rust_by_their_definitions() -> None:
    assert chunks(PYTHON, "python") == [(1, 3), (6, 12), (15, 17), (20, 22)]
    assert chunks(RUST, "rust") == [(1, 1), (3, 7), (9, 11)]
    assert chunks("", "python") == [] == chunks("\n \n", "")


def test_a_long_class_is_its_head_and_its_methods() -> None:
    body = "        x = 1\n" * MOST_LINES
    head = 'class A:\n    """Doc."""\n\n    y = 1\n\n'
    text = f"{head}    @one\n    def a(self):\n{body}\n    z = 2\n\n    def b(self):\n{body}"
    n = MOST_LINES
    assert chunks(text, "python") == [(1, 4), (6, n + 7), (n + 9, n + 9), (n + 11, 2 * n + 11)]
    methods = "".join(f"    fn f{k}(&self) {{\n        1;\n    }}\n\n" for k in range(MOST_LINES))
    found = chunks(f"impl A {{\n{methods}}}\n", "rust")
    assert found[:3] == [(1, 1), (2, 4), (6, 8)] and len(found) == MOST_LINES + 2


def test_broken_files_and_other_languages() -> None:
    broken = "def f():\n    pass\n\n\ndef g(:\n    pass\n\n\ndef h():\n    pass\n"
    assert {(1, 2), (9, 10)} <= set(chunks(broken, "python"))
    assert chunks(GO, "go") == [(1, 9)]
    long = GO.replace("\tx()\n", "\tx()\n" * 30)
    assert chunks(long, "go") == [(1, 35), (37, 38)]
    assert chunks("line\n" * 150, "") == [(1, 60), (61, 120), (121, 150)]


def test_what_is_nested_without_end_is_cut_in_time() -> None:
    began = time.monotonic()
    for text in (
        "mod a {\n" * 8_000,
        "class A:\n" * 8_000,
        "fn f() { (" * 6_000,
        '"""\n' * 8_000,
        "(" * 60_000,
    ):
        for language in ("python", "rust"):
            assert chunks(text, language)
    assert time.monotonic() - began < 30


TEXTS = st.lists(
    st.sampled_from(
        [
            "def f():",
            "class A:",
            "    def g(self):",
            "        x = 1",
            "",
            "# c",
            "@d",
            "fn f() {",
            "}",
            "(",
            '"""',
        ]
    ),
    max_size=150,
).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(["python", "rust", "go", ""]))
def test_every_line_that_is_not_blank_is_in_one_chunk(text: str, language: str) -> None:
    lines = text.split("\n")
    held = [number for first, last in chunks(text, language) for number in range(first, last + 1)]
    assert held == sorted(set(held)) and set(held) <= set(range(1, len(lines) + 1))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(held)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "src/strop/environments").glob("*.py"))[:6]
)
def test_real_files(path: Path) -> None:
    text = path.read_text()
    found = chunks(text, "python")
    lines = text.split("\n")
    starts = {first for first, _ in found}
    for number, line in enumerate(lines, 1):
        if line.startswith(("def ", "class ")) and not lines[number - 2].startswith(("@", ")", "#")):
            assert number in starts
