"""Any code in any wrapper comes back byte for byte: real files and wrappers out of a grammar, drawn by the seed."""

import importlib.util
import json
import random
import sysconfig
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import most, seed

from strop.tasks import extract_code, load_tasks
from strop.tasks.names import made_in, stubs_in
from strop_verify.core.fences import blocks
from strop_verify.core.text import CODE_ANSWERS, THOUGHTS
from strop_verify.edits import EditError, apply_answer

STANDARD = Path(sysconfig.get_paths()["stdlib"])
CPP = Path("/usr/include/c++")
_FENCES = ["```\nf(1)\n```", "  ```python\n  f(1)\n  ```", "~~~\nx\n~~~", "```python\n", "````\n```\n````"]
HOLDERS = {
    "python": ['"""Usage:\n\n{}\n"""\n', "'''\n{}\n'''\n", "TEXT = f'''\n{}\n'''\n", "# as ```python\nx = '```'\n"],
    "rust": [
        "/*\n{}\n*/\n", '/// ```rust\n/// f(1);\n/// ```\nconst A: &str = r#"\n{}\n"#;\n',
        'const B: &str = "\n{}\n";\n',
    ],
    "c++": ["/*\n{}\n*/\n", 'auto a = R"x(\n{}\n)x";\n', "// ```cpp\n"],
}  # fmt: skip
"""Code that holds fences in strings and comments."""
WORDS = {
    "python": ["python", "py", "Python 3", 'python title="a.py"', "src/a.py", ""],
    "rust": ["rust", "rs", "rust,ignore", "src/main.rs", ""],
    "c++": ["cpp", "c++", "C++17", "cpp:src/a.cpp", ""],
}
STUBS = {
    "python": [
        "def {}(*args): ...", "def {}(n):\n    '''Does it.'''\n    pass",
        "def {}(n):\n    raise NotImplementedError",
    ],
    "rust": ["fn {}() {{\n    todo!()\n}}"],
    "c++": ["int {}(int n) {{\n    // your code\n}}"],
}  # fmt: skip
USAGE = {
    "python": "print({}(1))", "rust": "fn main() {{\n    {}(1);\n}}", "c++": "int main() {{\n    {}(1);\n}}",
}  # fmt: skip


@cache
def sources(language: str) -> list[Path | str]:
    if language == "python":
        folders = [STANDARD, STANDARD / "test", STANDARD / "asyncio", STANDARD / "email"]
        for name in ("hypothesis", "pydantic", "rich", "httpx", "markdown_it", "pytest"):
            if (spec := importlib.util.find_spec(name)) and spec.origin:
                folders.append(Path(spec.origin).parent)
        return [path for folder in folders for path in sorted(folder.glob("*.py"))]
    if language == "c++":
        return [path for path in sorted(CPP.glob("*/*")) + sorted(CPP.glob("*/bits/*")) if path.is_file()]
    return [task.reference for task in load_tasks("rust-functions")]


class Drawn:
    """A code, the name that it defines, and the words around it."""

    def __init__(self, rng: random.Random, language: str, code: str) -> None:
        self.rng, self.language, self.code = rng, language, code
        names = sorted(name for name in made_in(code, language) if name.isidentifier() and len(name) > 3)
        stubs = stubs_in(code, names, language)
        names = [name for name in names if name not in stubs] if language == "python" else []
        self.name = rng.choice(names) if names and rng.random() < 0.7 else ""
        self.names = (self.name,) if self.name else ()

    def block(self) -> str:
        rng, code = self.rng, self.code
        longest = 3 if rng.random() < 0.7 else rng.randrange(4, 7)
        fence = rng.choice("`~" if rng.random() < 0.2 else "`") * longest
        indent = rng.choice(["", "", "", "  ", "   ", "> ", "\t"])
        word = rng.choice(WORDS[self.language])
        front = indent + fence + rng.choice(["", " "]) * bool(word) + word
        end = indent + fence
        if not indent and fence[0] == "`":
            if word in ("python", "rust", "cpp") and rng.random() < 0.3:
                front = f"Here it is: {fence}{word}"
            elif not word and rng.random() < 0.3:
                front = f"The code:{fence}"
            end += rng.choice(["", "", " ", " That is it.", "<|im_end|>", ".", "</s>"])
        if indent:
            code = "\n".join(indent + line for line in code.split("\n"))
            front = front.replace("   ", rng.choice(["   ", "1. ", " - "]), 1)
            return f"{front}\n{code}\n{end}"
        last = code.rpartition("\n")[2]
        if fence[0] == "`" and word and last.strip() and not set("#/'\"\\") & set(last):
            return f"{front}\n{code}{fence}"
        if rng.random() < 0.1:
            return (
                f"{fence[0] * 8}markdown\n# Solution\n\n{front}\n{code}\n{end}\n\nIt works.\n{fence[0] * 8}"
            )
        return f"{front}\n{code}\n{end}"

    def json(self) -> str:
        held = {"explanation": "It adds.", self.rng.choice(["code", "answer", "solution"]): self.code}
        text = json.dumps(held, indent=self.rng.choice([None, 2]), ensure_ascii=self.rng.random() < 0.5)
        return self.rng.choice([text, f"```json\n{text}\n```", f"Sure:\n\n```json\n{text}\n```\n"])

    def around(self, text: str) -> str:
        """Words, drafts, stubs and usage around a block, then thoughts and tags around all."""
        rng, word = self.rng, WORDS[self.language][0]
        if self.name:
            stub = rng.choice(STUBS[self.language]).format(self.name)
            shown = [
                f"The signature was:\n```{word}\n{stub}\n```",
                f"So:\n```{word}\n{USAGE[self.language].format(self.name)}\n```",
            ]
            for extra in rng.sample(shown, rng.randrange(3)):
                text = f"{text}\n{extra}" if rng.random() < 0.6 else f"{extra}\n{text}"
        if rng.random() < 0.3:
            text += rng.choice(
                [
                    "\nIt prints:\n```\n3\n```",
                    "\nRun:\n```bash\n$ python a.py\n```\nDone.",
                    "\n\nO(n), `x` is it.",
                ]
            )
        if rng.random() < 0.3:
            text = (
                rng.choice(["Sure! It's this:\n", 'I don\'t know "why".\n\n', "1. First\n2. Then\n\n"]) + text
            )
        return self.wrapped(text)

    def wrapped(self, text: str) -> str:
        rng = self.rng
        if rng.random() < 0.25:
            begin, end = rng.choice(CODE_ANSWERS)
            text = f"{begin}\n{text}\n{end}" + rng.choice(["", "\n", "<|im_end|>"])
        if rng.random() < 0.4:
            begin, end = rng.choice(THOUGHTS)
            draft = f"I'd try\n```{WORDS[self.language][0]}\n{self.code[:40]}\n```\nno"
            text = f"{begin}\n{rng.choice(['Hm.', draft])}\n{end}\n{text}"
        return text

    def answer(self) -> str:
        kind = self.rng.random()
        if kind < 0.1:
            return self.wrapped(self.code)
        if kind < 0.2:
            return self.wrapped(self.json())
        return self.around(self.block())


def draw(index: int) -> Drawn:
    rng = random.Random(f"{seed()} wrapped {index}")
    language = rng.choice(["python", "python", "rust", "c++"])
    found = sources(language)
    if not found:
        language, found = "python", sources("python")
    source = rng.choice(found)
    code = source if isinstance(source, str) else source.read_bytes().decode("utf-8", "replace")
    if rng.random() < 0.5:
        held = rng.choice(HOLDERS[language]).format(rng.choice(_FENCES))
        code = held + code if language != "python" or "__future__" not in code else code + "\n" + held
    if rng.random() < 0.1:
        code = code.replace("\r\n", "\n").replace("\n", "\r\n")
    return Drawn(rng, language, code.lstrip("\r\n"))  # blank lines behind a thought are no code


@pytest.mark.parametrize("part", range(10))
def test_code_in_a_drawn_wrapper_comes_back_byte_for_byte(part):
    number = most(3_000, 300) // 10
    for index in range(part * number, (part + 1) * number):
        drawn = draw(index)
        assert extract_code(drawn.answer(), drawn.language, drawn.names) == drawn.code, index


ENDINGS = {"python": "py", "rust": "rs", "c++": "cpp"}


@pytest.mark.parametrize("part", range(5))
def test_a_whole_file_in_a_drawn_block_comes_back_byte_for_byte(part):
    number = most(500, 50) // 5
    for index in range(part * number, (part + 1) * number):
        drawn = draw(index)
        path = f"a.{ENDINGS[drawn.language]}"
        fence, header = drawn.rng.choice(["```", "````", "~~~"]), f"### {path}\n"
        word = drawn.rng.choice(WORDS[drawn.language][:2])
        header, word = drawn.rng.choice([("", word), (header, word), (header, "")])
        text = drawn.code if drawn.code.endswith("\n") else drawn.code + "\n"
        answer = f"Here is the file.\n{header}{fence}{word}\n{text}{fence}\nRun:\n```bash\npython a.py\n```\n"
        assert apply_answer(answer, {path: "x = 1\n"}, "whole-file") == {path: text}, index


PYTHON = [
    "def f(x):", "    return x", "x = 1", "", "print('```')", "# ```", "'''", "```", "```python", "~~~", '"""', "  a",
]  # fmt: skip
lines = st.lists(st.sampled_from(PYTHON), min_size=1, max_size=12).map("\n".join)


@given(lines, st.sampled_from(["```", "````", "~~~"]), st.sampled_from(["python", ""]))
def test_any_lines_that_are_python_come_back(text, fence, word):
    try:
        compile(text, "", "exec")
    except SyntaxError:
        return
    if text.strip():
        assert extract_code(f"Here:\n{fence}{word}\n{text}\n{fence}\nDone.") == text


words = st.sampled_from(
    [*PYTHON, "words", "<think>", "</think>", "<answer>", "{", "```md", "x```", "/*", 'r#"']
)


@given(st.lists(words, max_size=14).map("\n".join), st.sampled_from(["python", "rust", "c++", "go", ""]))
def test_blocks_are_in_order_and_nothing_raises(text, language):
    assert isinstance(extract_code(text, language, ("f",)), str)
    found = blocks(text, language)
    assert all(block.start < block.end <= len(text) for block in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python def f(n): return n```", "def f(n): return n"),
        ("Answer: ```python print(1)```", "print(1)"),
        ("```print(1)```", "print(1)"),
        ("Use ```f``` so:\n```\nf(1)\n```", "f(1)"),
        ("```python\nprint(1)\n```bash\npython a.py\n```", "print(1)\n"),
        ('{"code": "x = 1", "language": "python"}', "x = 1"),
        ('{"code": "```python\\nx = 1\\n```"}', "x = 1"),
        ('{"code": "x = 1", "solution": "x = 2"}', ""),
        ('```json\n{"Answer": "x = 1"}\n```', "x = 1"),
        ("```\n# T\n```python\nx = 1\n```\nmore\n```", "x = 1"),
        (
            "```python\nn = int(input())\nprint(n)\n```\nSo:\n```python\nprint(3)\n```",
            "n = int(input())\nprint(n)",
        ),
    ],
)
def test_rules_of_the_grammar(text, expected):
    assert extract_code(text) == expected


README = "# T\n\n```\nx\n```\n\nmore\n"


@pytest.mark.parametrize(
    ("files", "answer", "code"),
    [
        ({"README.md": "# T\n"}, f"```markdown\n{README}```\n", "ambiguous-fence"),
        ({"README.md": "# T\n"}, f"### README.md\n```\n{README}```\n", "ambiguous-fence"),
        ({"README.md": "# T\n"}, "```\n# T\n```\nx\n```\nmore\n```\n", "ambiguous"),
        ({"a.py": "x = 1\n"}, "```bash\npython a.py\n```\n", "no-edit"),
        ({"a.py": "x = 1\n"}, "```python\nx = 2\n```bash\npython a.py\n```\n", "no-edit"),
    ],
)
def test_a_text_that_a_fence_may_cut_is_refused(files, answer, code):
    with pytest.raises(EditError) as caught:
        apply_answer(answer, files, "whole-file")
    assert caught.value.code == code


def test_longer_fences_and_languages_keep_a_text_with_fences_whole():
    tagged = README.replace("```\nx", "```python\nx")
    for answer, text in ((f"````\n{README}````\n", README), (f"```md\n{tagged}```\nDone.", tagged)):
        assert apply_answer(answer, {"README.md": ""}, "whole-file") == {"README.md": text}


def test_of_several_whole_files_the_last_that_is_like_the_file_counts():
    old = "".join(f"line_{i} = {i}\n" for i in range(9))
    new = old.replace("= 3", "= 4")
    parts = [f"```python\n{text}```\n" for text in (old, new, "print(line_3)\n")]
    assert apply_answer("Then\n".join(parts), {"a.py": old}, "whole-file") == {"a.py": new}
