"""Answer parsing: bare code stays as it is, the right block is found, nothing makes it raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks import extract_code
from strop.tasks.answers import TAGS, blocks, until_fence

CODE = "def f(x):\n    return x"
line = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="`~<"), max_size=30
)
code = st.lists(line, min_size=1, max_size=8).map("\n".join)
prose = st.lists(line, max_size=4).map("\n".join)
tags = st.sampled_from(["python", "py", "Python", "python3", ""])


@given(code)
def test_bare_code_comes_back_unchanged(text):
    assert extract_code(text) == text
    assert extract_code(extract_code(text)) == text


@given(code, prose, prose, tags, st.integers(3, 6))
def test_fenced_code_is_found_between_prose(text, before, after, tag, width):
    fence = "`" * width
    assert extract_code(f"{before}\n{fence}{tag}\n{text}\n{fence}\n{after}") == text


@given(code, prose, tags)
def test_an_unclosed_block_is_tolerated(text, before, tag):
    assert extract_code(f"{before}\n```{tag}\n{text}") == text


@given(st.text(st.sampled_from("`~<>/think \n\r\"'py#") | st.characters(), max_size=80))
def test_no_response_raises(text):
    assert isinstance(extract_code(text), str)
    assert isinstance(until_fence(text), str)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (f"```python\nold\n```\nBetter:\n```python\n{CODE}\n```", CODE),
        (f"```python\n{CODE}\n```\nIt prints:\n```\n3\n```", CODE),  # a tag tells code from its output
        (f"```\n{CODE}\n```", CODE),
        (f"```python\n{CODE}\n```\nAnd:\n```python\nunfinished(", CODE),  # a complete block goes before
        (f"```json\n{{}}\n```\n~~~py\n{CODE}\n~~~", CODE),
        ("```json\n{}\n```", ""),
        (f"<think>```python\nno\n```</think>\n```python\n{CODE}\n```", CODE),
        (f"so I would\n</think>\n\n{CODE}", CODE),
        ("<think>never ends ```python\nno\n```", ""),
        (f"1. Here:\n   ```python\n   {CODE.replace(chr(10), chr(10) + '   ')}\n   ```", CODE),
        (f"````python\n{CODE}\n# ```\n```\n````", f"{CODE}\n# ```\n```"),
        (f"```python\r\n{CODE}\r\n```\r\n", CODE + "\r"),
        (f"Use `f`:\n``` python title=a\n{CODE}\n```", CODE),
    ],
)
def test_which_block_is_the_answer(response, expected):
    assert extract_code(response) == expected


def test_fences_in_a_docstring_are_not_fences():
    source = 'def f():\n    """Usage:\n\n    ```python\n    f()\n    ```\n    """\n    return 1\n'
    assert extract_code(source) == source


@pytest.mark.parametrize(
    "deep", ["-" * 100_000 + "1", "(" * 50_000, "f(" * 90 + ")" * 90, "x" + ".a" * 45_000]
)
def test_source_made_to_break_a_parser_does_not(deep):
    assert isinstance(extract_code(f'""""""\n{deep}\n#```\n```\n'), str)


def test_other_languages_have_their_own_tags():
    response = "```python\na\n```\n```rs\nfn f() {}\n```"
    assert extract_code(response, "rust") == "fn f() {}"
    assert extract_code("```zig\nx\n```", "zig") == "x"
    assert all(language in names for language, names in TAGS.items())


def test_blocks_say_what_they_are():
    assert blocks("```py\na\n```\n~~~\nb") == [("py", "a", True), ("", "b", False)]
