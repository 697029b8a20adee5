"""Answer parsing: bare code stays as it is, the right block is found, nothing makes it raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks import extract_code
from strop.tasks.answers import answer_in, until_fence
from strop.tasks.names import names_of
from strop_verify.code.python.source import tree_of
from strop_verify.core.fences import TAGS, blocks, tag_of
from strop_verify.core.task import Task

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
    assert (
        extract_code(f"{before}\n```{tag}\n{text}") == text or not text.strip()
    )  # an empty block is no answer


@given(st.text(st.sampled_from("`~<>/think \n\r\"'py#") | st.characters(), max_size=80))
def test_no_response_raises(text):
    assert isinstance(extract_code(text), str)
    assert isinstance(until_fence(text, "python"), str)


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
    found = [block[:3] for block in blocks("```py\na\n```\n~~~\nb")]
    assert found == [("py", "a\n", True), ("", "b", False)]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("python", ["PYTHON", "Python3.12", "py3", "{.py}", "{python, echo=FALSE}", "python {hl_lines=[1]}", "pypy",
                    "python:src/app/main.py", "main.py", "python,linenos", 'py title="a.rs"', "language-python",
                    "Python (3.11)", "12:30:lib/a.py", "{code-cell} ipython3", "python#L1-L4", "python3-solution"]),
        ("rust", ["Rust", "rs", "rust,ignore", "rust 2021", "src/lib.rs", "{.rust .numberLines}", "rust:src/main.rs"]),
        ("javascript", ["JS", "mjs", "node", "Node.js", "javascript {1,3}", "index.mjs", "js:app.js", "es6", "jsx"]),
        ("c", ["C", "c99", "c17", "h", "main.c", "{.c}", "C (gcc)", "c:src/a.c"]),
        ("c++", ["C++", "cpp", "c++17", "cpp20", "a.cpp", "cxx"]),
        ("bash", ["Bash", "sh", "zsh", "run.sh", "shell"]),
        ("zig", ["zig", "Zig 0.11", "main.zig"]),
    ],
)  # fmt: skip
def test_words_behind_a_fence_mean_a_language(language, words):
    for word in words:
        for fence in ("```", "````", "~~~", "   ```", "``` "):
            indent = fence[: len(fence) - len(fence.lstrip())]
            text = f"Here:\n{fence}{word}\n{indent}x = 1;\n{fence.rstrip()}\nDone."
            assert extract_code(text, language) == "x = 1;", (word, fence)


@pytest.mark.parametrize(
    "word",
    ["json", "c#", "C-sharp", "objective-c", "python-repl", "python-traceback", "diff", "out.json", "html"],
)
def test_other_words_are_other_languages(word):
    assert extract_code(f"```{word}\nx\n```") == extract_code(f"```{word}\nx\n```", "c") == ""


def test_words_that_say_nothing_are_no_language():
    for word in ("", "{}", "code", "Solution:", "2"):
        assert tag_of(word) == ""
    assert extract_code("```text\nx = 1\n```") == "x = 1"
    assert extract_code("```\nx = 1\n```\n```text\n7\n```") == "x = 1"


@pytest.mark.parametrize(
    "text",
    [
        f"1. ```python\n   {CODE.replace(chr(10), chr(10) + '   ')}\n   ```",
        f"> ```python\n> {CODE.replace(chr(10), chr(10) + '> ')}\n> ```",
        f"The code: ```python\n{CODE}\n```",
        f"```python\n{CODE}```",
    ],
)
def test_fences_in_lists_quotes_and_behind_words(text):
    assert extract_code(text) == CODE


DOCUMENTED = 'def f(x):\n    """Twice.\n\n    ```\n    f(1)\n    ```\n    """\n    return x + x'
PROGRAM = "print(sum(map(int, input().split())))"


@pytest.mark.parametrize(
    ("text", "expected", "language", "names"),
    [
        (f"{CODE}\n~~~", CODE, "python", ()),
        (f"{CODE}\n````\n\nIt gives `x` back.\n- as it is", CODE, "python", ()),
        (f"{CODE}\n  ```  \nwords", CODE, "python", ()),
        (f"{CODE}```", CODE, "python", ()),
        (f"{CODE}\n```\nOutput:\n```\n3\n```", CODE, "python", ("f",)),
        (f"{CODE}\n```\nUsage:\n```python\nprint(f(1))\n```", CODE, "python", ("f",)),
        (f"{DOCUMENTED}\n```\nwords", DOCUMENTED, "python", ()),
        (f"{PROGRAM}\n```\nIt adds.", PROGRAM, "python", ()),
        ("fn f() {\n}\n```\nDone.", "fn f() {\n}", "rust", ()),
        ("int f() {\n  return 1;\n}\n```\nDone.", "int f() {\n  return 1;\n}", "c", ()),
        ("echo hi\n```\n", "echo hi", "bash", ()),
        ("Sure:\n```\nx = 1", "x = 1", "python", ()),
    ],
)
def test_code_above_a_fence_that_only_closes(text, expected, language, names):
    assert extract_code(text, language, names) == expected


@pytest.mark.parametrize(
    ("text", "expected", "language", "names"),
    [
        (f"{CODE}\n\nIt's used so:\n\n```\nf(1)\n```", CODE, "python", ("f",)),
        (
            f"Here it is:\n\n{CODE}\n\nComplexity: O(n)\n\n```\n>>> f(1)\n1\n```\nDone.",
            CODE,
            "python",
            ("f",),
        ),
        (f"{CODE}\n\nIt gives:\n```\n1\n```", CODE, "python", ()),
        ("def f(x): ...\n\nis the head:\n```\n" + f"{CODE}\n```", CODE, "python", ("f",)),
        (f"from what I see\n{CODE}\n\nWords (two\n```\n1\n```", CODE, "python", ("f",)),
        (f"n = 3\n{PROGRAM}\n\nFor `1 2`:\n```\n3\n```", f"n = 3\n{PROGRAM}", "python", ()),
        (f"{PROGRAM}\n\nor, shorter,\n```\nprint(3)\n```", "print(3)", "python", ()),
        ("import math\n\nThen:\n```\ny = 1\n```", "y = 1", "python", ()),
        ("int f() {\n  return 1;\n}\n\nIt gives:\n```\n1\n```", "int f() {\n  return 1;\n}", "c", ()),
        ("fn f() -> u8 { 1 }\n\nIn use:\n```\nlet x = f();\n```", "fn f() -> u8 { 1 }", "rust", ("f",)),
    ],
)
def test_code_above_words_and_a_whole_block(text, expected, language, names):
    assert extract_code(text, language, names) == expected


def test_much_code_above_fences_is_parsed_a_few_times(monkeypatch):
    code = "print(f(1))\n" * 1_500
    parsed = []
    for module in ("strop_verify.code.python.source", "strop.tasks.answers"):
        monkeypatch.setattr(f"{module}.tree_of", lambda text: parsed.append(len(text)) or tree_of(text))
    for end in ("```\n", "\nIt works (see\n\n```\n1\n```\n", "```\nx\n```\n" * 10, '"""\n```\n"""\n' * 10):
        parsed.clear()
        assert extract_code(code + end, names=("g",)) is not None
        assert sum(parsed) < 5 * len(code), end


SPLITS = "def f(s):\n    '''Cut\n    at </think> or so.\n    '''"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"so</think> ```python\n{CODE}\n```", CODE),
        (f"I don't know</think>It's this:\n```python\n{CODE}\n```", CODE),
        (f"so </think> {CODE}", CODE),
        (f"draft\n```python\nno\n```\nno, better</think>Then\n\n```\n{CODE}\n```\n", CODE),
        (f"open draft\n```python\nno</think>Then\n```python\n{CODE}\n```", CODE),
        (f"so\n</think>\nNo, wait.\n```python\nno\n```\n</think>\n{CODE}", CODE),
        (f"so</think>\n\n<think>\nmore\n</think>\n{CODE}", CODE),
        (f"so</think>\n```python\n{CODE}\n```\n</think>\n</think>", CODE),
        (f"x = '</think>' is wrong\n</think>\n{CODE}", CODE),
        ("so</think>\n```python\nx = '</think>'\n```", "x = '</think>'"),
        ('so</think>\n```python\nx = """\n<b>\n</think>\n"""\n```', 'x = """\n<b>\n</think>\n"""'),
        ("so\n</think>\n</think>", ""),
        ("```python\nx = a.split('</think>')[1]\n```", "x = a.split('</think>')[1]"),
        ("```python\n# cut </think> off\nx = 1\n```", "# cut </think> off\nx = 1"),
        ("```python\nx = f'{a}</think>{b}'\n```", "x = f'{a}</think>{b}'"),
        (SPLITS, SPLITS),
    ],
)
def test_a_thought_ends_at_its_mark_and_code_may_hold_one(text, expected):
    assert extract_code(text) == expected


def fenced(*codes, tag="python"):
    return "\nThen:\n".join(f"```{tag}\n{code}\n```" for code in codes)


HELPER = "import math\n\nSCALE = 2\n\ndef half(x):\n    return math.floor(x / SCALE)"


@pytest.mark.parametrize(
    "use",
    ["f(1)", "from solution import f\nprint(f(1))", "y = f(1)\nassert y", ">>> f(1)", "x = [f(i)", ""],
)
def test_a_block_that_only_uses_what_is_asked_is_not_the_answer(use):
    assert extract_code(fenced("def f(x):\n    return 0", CODE, use), names=("f",)) == CODE


def test_the_last_block_that_defines_what_is_asked_counts():
    task = Task.model_validate(
        {"statement": "", "check": {"kind": "asserts", "entry_point": "f", "code": "assert f(1) == 1"}}
    )
    assert answer_in(f"```\n{CODE}\n```\n" + fenced("print(f(1))"), task) == CODE
    method = "class Solution:\n    def f(self, x):\n        return x"
    assert answer_in(fenced(method, "print(Solution().f(1))"), task) == method
    assert answer_in(fenced("h = 1", "f = lambda x: x", "f(2)"), task) == "f = lambda x: x"
    assert answer_in(fenced(CODE, "def f(x:\n    broken"), task) == "def f(x:\n    broken"
    assert extract_code(fenced(CODE, "print(1)")) == "print(1)", "a task that names nothing"


def test_what_a_block_needs_is_taken_from_the_others():
    needs = "def f(x):\n    return half(x)"
    for text in (fenced(HELPER, needs, "print(f(4))"), fenced(needs, HELPER + "\n\nprint(half(4))")):
        code = extract_code(text, names=("f",))
        space: dict[str, object] = {}
        exec(code, space)
        assert space["f"](5) == 2 and "print" not in code
    future = extract_code(fenced(HELPER, f"from __future__ import annotations\n{needs}"), names=("f",))
    exec(future, {})
    twice = fenced("def half(x): return 1", "def half(x): return x", needs)
    assert extract_code(twice, names=("f",)).startswith("def half(x): return x\n")
    parts = "def f(x): return g(x)", "def g(x): return x"
    assert extract_code(fenced(*parts), names=("f", "g")) == "\n\n\n".join(parts)


def test_the_block_that_defines_it_in_other_languages():
    rust = "pub fn f(x: i32) -> i32 {\n    half(x)\n}"
    helper, use = "fn half(x: i32) -> i32 {\n    x / 2\n}", "fn main() {\n    let x = f(4);\n}"
    assert extract_code(fenced(rust, use, tag="rust"), "rust", ("f",)) == rust
    assert extract_code(fenced(helper, rust, use, tag="rs"), "rust", ("f",)) == f"{helper}\n\n\n{rust}"
    kind, part = "pub struct S;", "impl S {\n    pub fn size(&self) -> u8 { 1 }\n}"
    assert extract_code(fenced(kind, part, use, tag="rust"), "rust", ("S", "size")) == f"{kind}\n\n\n{part}"
    js = "const f = (x) => {\n  return x;\n};"
    assert extract_code(fenced(js, "const y = f(1);\nconsole.log(y);", tag="js"), "javascript", ("f",)) == js
    c = "static int *f(int x)\n{\n    return 0;\n}"
    assert extract_code(fenced(c, "int main(void) {\n    return f(1);\n}", tag="c"), "c", ("f",)) == c


def test_what_a_task_names():
    def named(check, **more):
        return names_of(Task.model_validate({"statement": "", "check": check, **more}))

    assert named({"kind": "cases", "entry_point": "f", "cases": []}) == ("f",)
    assert named({"kind": "stdio", "cases": []}, signature="def f(x):") == ()
    suite = (
        "from solution import (  # all\n    Stack as S,\n    pop,\n)\nimport solution\n\nsolution.push(1)\n"
    )
    assert named({"kind": "pytest", "tests": ["t"], "files": {"t.py": suite}}) == ("Stack", "pop", "push")
    tests = "#[test]\nfn works() {\n    let x = 1;\n    assert_eq!(add(x), 2);\n}"
    found = named({"kind": "rust", "tests": tests}, language="rust", signature="pub fn add(x: i32) -> i32 {")
    assert found[0] == "add" and "works" not in found
    assert named(
        {"kind": "command", "path": "a.c", "steps": []}, language="c", signature="int f(int x);"
    ) == ("f",)


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n\n{CODE}\n```\nIt gives `x` back.",
        f"{CODE}\n```python\nprint(f(1))\n```",
        f"```python\n```python\n{CODE}\n```",
        f"````markdown\n```python\n{CODE}\n```\n````",
    ],
)
def test_code_that_a_fence_ends_or_that_is_opened_twice(text):
    assert extract_code(text, names=("f",)) == CODE


def test_tests_of_its_own_belong_to_an_answer_without_trusted_ones():
    task = Task.model_validate(
        {"statement": "", "language": "rust", "signature": "fn f() -> u8", "check": {"kind": "rust"}}
    )
    parts = "fn f() -> u8 { 1 }", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}"
    assert answer_in(fenced(*parts, "fn main() { f(); }", tag="rust"), task) == "\n\n\n".join(parts)


@pytest.mark.parametrize("tag", ["think", "Think", "thinking", "thought", "reasoning", "seed:think"])
@pytest.mark.parametrize(
    "response",
    [
        "Sure.\n<T>\n```python\ndef f(x): draft\n```\n</T>\n```\nCODE\n```",
        "<T>\n```python\ndef f(x): draft\n```\n</T>\n```\nCODE\n```",
        "```\nCODE\n```\n<T>\nIs it?\n```python\ndef f(x): draft\n```\n</T>\nIt is.",
        "```\nCODE\n```\n<T>\nIs it?\n```python\ndef f(x): draft",  # cut off
    ],
)
def test_a_draft_in_a_later_thought_is_not_the_answer(tag, response):
    assert extract_code(response.replace("T>", f"{tag}>").replace("CODE", CODE), names=["f"]) == CODE


def test_a_tag_inside_a_block_is_code():
    code = "TEXT = '''\n<think>\n'''\nprint(TEXT)"
    assert extract_code(f"Here:\n```python\n{code}\n```\nDone.") == code


@pytest.mark.parametrize("tag", ["answer", "Solution"])
def test_what_an_answer_s_tags_hold_is_the_response(tag):
    for inside in (CODE, f"```python\n{CODE}\n```", f"Here:\n```\n{CODE}\n```"):
        for front in ("", "<think>x</think>\n", "It is simple.\n"):
            assert extract_code(f"{front}<{tag}>\n{inside}\n</{tag}>\nDone.") == CODE
            assert extract_code(f"{front}<{tag}>\n{inside}") == CODE  # cut off
    for code in (f"{CODE}\n\nTEXT = '''\n<{tag}>\n1\n</{tag}>\n'''", f"import re\n\n'''\n<{tag}>\n'''"):
        assert extract_code(code) == code
