"""Extracts code from a response: bare, or in fenced blocks.

Responses are hostile text: everything here is linear in their length and never runs them.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from strop.code.python.source import (
    UNPARSABLE,
    bound_names,
    made_names,
    missing_names,
    statements,
    tree_of,
    under,
    used_names,
)
from strop.core.checks import PytestCheck
from strop.core.task import Task
from strop.core.text import without_thinking as without_thinking
from strop.tasks.fences import FENCE_LINE, TAGS, TEXT_TAGS, CodeBlock
from strop.tasks.fences import blocks as blocks

_LONGEST_PARSED = 100_000
_MOST_CUTS = 5
"""How often words above and below code are looked for."""
_MOST_WORDS = 3
"""Statements at the end of code that are looked at as words."""
_MOST_BLOCKS = 50
"""Blocks of a kind whose names are looked at: the last ones."""
_MOST_ROUNDS = 8
"""How often the needs of what was taken from other blocks are looked for."""
_GLUED = re.compile(r"(?<=[^\s`])(```+)\s*\Z")
"""A closing fence behind the last line of code."""
_MADE = re.compile(
    r"\b(?:fn|function\*?|class|struct|enum|union|trait|interface|type|const|static|mod|func|def|macro_rules!)"
    r"[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w*)"
)
_RUST_ITEM = re.compile(
    r"^(?:pub(?:\([a-z]+\))?[ \t]+)?(?:(?:async|unsafe|const)[ \t]+)*"
    r"(?:fn|struct|enum|union|trait|type|const|static|mod|macro_rules!)[ \t]+([A-Za-z_]\w*)",
    re.MULTILINE,
)
_PYTHON_HEAD = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)
_C_HEAD = re.compile(r"[\w:<>,*&\[\] \t]*[ \t*&]")
_NO_TYPES = frozenset({"return", "else", "new", "await", "case", "throw", "typeof", "delete"})
_TAGGED = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\w", re.MULTILINE)
_CODE_TOP = re.compile(
    r"^(?:(?:async )?def |class |import |from \w|@\w|#include|#!?\[|use \w|pub |(?:unsafe )?fn |struct |enum |impl\b"
    r"|const |let |var |function\b|async |package |func |(?:static|int|void|char|double|float|long|unsigned|bool)\b)",
    re.MULTILINE,
)
"""Where code begins that is not in a fence."""
_CODE_LINE = re.compile(r"[{};][ \t\r]*$", re.MULTILINE)
_WORDS = re.compile(r"\s*(?:[A-Z]\w*[ ,.:'!]|[*>-] |\*\*|#+ )")
_NO_TAGS = TEXT_TAGS | {""}
_QUOTED_OR_FENCE = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'
    r"'''(?:\\.|[^\\])*?'''|'(?:\\.|[^'\\\n])*'|#[^\n]*"
    rf"|{FENCE_LINE.pattern}",
    re.DOTALL | re.MULTILINE,
)


_LATER = re.compile(
    rf"^[ \t]*<(?P<tag>think|thinking|thought|reasoning|seed:think)>|{FENCE_LINE.pattern}",
    re.MULTILINE | re.IGNORECASE,
)
"""A thought that begins a line, or a fence."""
_ANSWER = re.compile(r"^[ \t]*<(answer|solution)>[ \t]*", re.MULTILINE | re.IGNORECASE)


def extract_code(response: str, language: str = "python", names: Sequence[str] = ()) -> str:
    """The code that a response means as its answer; "" when it only holds blocks of other languages.

    Thoughts are dropped: the one in front, and others that begin a line outside of blocks. What `<answer>` or
    `<solution>` holds is the response, if it stands above all code. Without a fenced block the rest is the code, and so
    is what stands above a closing fence that has no opening one. Of blocks it is the last one that defines a name of
    `names`, with what that takes from other blocks; where none does, the last one tagged with the language, else, in
    this order, an unclosed one with that tag, the last one without a tag, an unclosed one without a tag. Fences inside
    a string literal of Python source are not fences.
    """
    text = _in_answer_tags(without_thinking(response))
    if not ("```" in text or "~~~" in text) or (language == "python" and _is_python_with_quotes(text)):
        return text
    text = _GLUED.sub(r"\n\1", _without_later_thoughts(text))
    found = blocks(text)
    if not found:
        return text
    found = _begun(text, found, language, names) or found
    fitting = TAGS.get(language, set()) | {language}
    ranked = [
        [b for b in found if b.tag in tags and b.closed is closed]
        for tags in (fitting, {""}, TEXT_TAGS)
        for closed in (True, False)
    ]
    written = [[b for b in alike if b.code.strip()] for alike in ranked]
    ranked = [alike for alike in (written if any(written) else ranked) if alike]
    if not ranked:
        return ""
    chosen = _defining(ranked, language, names) or [_last(ranked[0], language)]
    others = [block for alike in ranked for block in alike[-_MOST_BLOCKS:] if block not in chosen]
    texts = [block.code for block in dict.fromkeys(found) if block in chosen]
    return _with_needs(texts, [block.code for block in others], language)


def answer_in(response: str, task: Task) -> str:
    """A response's answer to a task: its code, the text with a label, or all of it where an edit is asked for."""
    if task.check.answer == "edit":
        return response
    if task.check.answer in ("label", "places", "calls"):
        return without_thinking(response)
    return extract_code(response, task.language, names_of(task))


def names_of(task: Task) -> tuple[str, ...]:
    """Names that an answer must define, as far as the task says; of Rust also other words of its tests."""
    check = task.check
    called = tuple(match[0] for name in check.functions() if (match := re.match(r"\w+", name)))
    if called or check.answer in ("program", "label", "edit", "patch", "places", "calls"):
        return called
    signature = task.signature.rstrip(" \n;{")
    asked = (_MADE.findall(signature) or list(_c_functions(signature)))[-1:]
    if tests := check.maybe(PytestCheck):
        module = re.escape(tests.path.rpartition("/")[2].removesuffix(".py"))
        for text in tests.files.values():
            for names in re.findall(rf"from [\w.]*\b{module} import (\([^)]*\)|[^\n]*)", text):
                asked += re.findall(r"\w+", re.sub(r"#.*|\bas \w+", "", names))
            asked += re.findall(rf"\b{module}\.(\w+)", text)
    code = check.test_code() if task.language == "rust" else ""
    made = {*_MADE.findall(code), "main"}
    asked += [word for word in re.findall(r"[A-Za-z_]\w*", code) if word not in made]
    if task.language == "rust" and not code.strip():
        asked.append("tests")
    return tuple(dict.fromkeys(asked))


def until_fence(text: str) -> str:
    """The text before the first line that starts with a fence: what follows a prefilled ```` ```python ````."""
    return re.split(r"\n[ \t]*```", text, maxsplit=1)[0]


def _in_answer_tags(text: str) -> str:
    """What `<answer>` or `<solution>` holds, up to its last end; a tag below code or a fence is part of that."""
    found = _ANSWER.search(text)
    if not found or any(one.search(text, 0, found.start()) for one in (FENCE_LINE, _CODE_TOP)):
        return text
    inner = text[found.end() :]
    ends = [match.start() for match in re.finditer(f"</{found[1]}>", inner, re.IGNORECASE)]
    return inner[: ends[-1] if ends else None].strip("\r\n")


def _without_later_thoughts(text: str) -> str:
    """The text without thoughts that begin a line outside of blocks; one that does not end goes on to the end."""
    kept, end, fenced, at = list[str](), 0, False, 0
    while found := _LATER.search(text, at):
        at = found.end()
        if not found["tag"]:
            fenced = not fenced
        elif not fenced:
            kept.append(text[end : found.start()])
            close = re.compile(f"</{found['tag']}>", re.IGNORECASE).search(text, at)
            end = at = close.end() if close else len(text)
    return "".join([*kept, text[end:]])


def _is_python_with_quotes(text: str) -> bool:
    """Whether the text is valid Python as it is, so that its fences can only be in string literals or comments."""
    if len(text) > _LONGEST_PARSED or ("```" not in text and not re.search(r"\"\"\"|'''", text)):
        return False
    return _parses(text)


def _parses(text: str) -> bool:
    try:
        tree_of(text)
    except UNPARSABLE:
        return False
    return True


def _is_one_fence_off(found: list[CodeBlock]) -> bool:
    """Whether the last block is not closed, or one without a tag holds a fence with a tag."""
    return not found[-1].closed or any(not b.tag and _TAGGED.search(b.code) for b in found)


def _begun(text: str, found: list[CodeBlock], language: str, names: Sequence[str]) -> list[CodeBlock] | None:
    """The blocks of a text that begins with code, as after a prompt that opened its block; None where it does not.

    Such code ends at the first fence if it defines a name of `names`, if nothing is named and no block holds code, and,
    at a bare one, if the fences are one off. Words may stand between the code and a fence that opens a block.
    """
    fence = _first_fence(text, language)
    if len(text) > _LONGEST_PARSED or fence is None:
        return None
    one_off, above, word = _is_one_fence_off(found), text[: fence.start()], fence["words"].strip()
    code, alone = _code_in(above, language)
    if names:
        counts = bool(code) and not made_in(code, language).isdisjoint(names)
    else:
        counts = bool(code) and not any(b.tag not in _NO_TAGS or _holds_code(b, language) for b in found)
    if not counts:
        ends_all = language != "python" and not text[fence.end() :].strip()
        code = code if alone else (above.rstrip("\n") if ends_all else "")
        if not (one_off and not word and code.strip()):
            return None
    below = blocks(text[fence.end() if one_off and not word else fence.start() :].lstrip("\n"))
    for at in range(max(len(below) - _MOST_BLOCKS, 0), len(below) if names else 0):
        if below[at].tag in _NO_TAGS and not made_in(below[at].code, language).isdisjoint(names):
            below[at] = below[at]._replace(tag=language)
    return [CodeBlock(language, code, True), *below]


def _first_fence(text: str, language: str) -> re.Match[str] | None:
    """The first line that is a fence; in Python, one outside of string literals."""
    found = (_QUOTED_OR_FENCE if language == "python" else FENCE_LINE).finditer(text)
    return next((match for match in found if match["words"] is not None), None)


def _code_in(text: str, language: str) -> tuple[str, bool]:
    """The code of a text without words above and below it, "" where there is none; whether no words are below."""
    if language != "python":
        top = _CODE_TOP.search(text)
        ends = [match.end() for match in _CODE_LINE.finditer(text, top.start())] if top else []
        end = ends[-1] if ends and _WORDS.match(text, ends[-1]) else len(text)
        return (text[top.start() : end].rstrip("\n"), True) if top and ends else ("", False)
    code, alone = text.rstrip("\n"), True
    for _ in range(_MOST_CUTS):
        try:
            return _without_words(code, tree_of(code).body), alone
        except SyntaxError as error:
            lines = code.split("\n")
            at = min(error.lineno or 1, len(lines)) - 1
        except UNPARSABLE:
            break
        while at and lines[at][:1] in ("", *" \t)]}"):
            at -= 1
        alone = not at
        if not at:  # words above, perhaps like code
            top = _CODE_TOP.search(code, len(lines[0]) + 1)
            lines = code[top.start() :].split("\n") if top else []
            at = len(lines)
        code = "\n".join(lines[:at]).rstrip("\n")
    return "", False


def _without_words(code: str, body: list[ast.stmt]) -> str:
    """Python code without the words at its end that are statements (`Done`, `Complexity: O(n)`); "" without code."""
    if not any(map(_is_work, body)):
        return ""
    end = len(body)
    missing: set[str] = set()
    if isinstance(body[-1], ast.Expr | ast.AnnAssign) and "import *" not in code:
        missing = missing_names(code)
    while end > max(len(body) - _MOST_WORDS, 1):
        last = body[end - 1]
        if not isinstance(last, ast.Expr | ast.AnnAssign):
            break
        if getattr(last, "value", None) and _is_work(last) and missing.isdisjoint(used_names(last)):
            break
        end -= 1
    return code if end == len(body) else "\n".join(code.split("\n")[: body[end - 1].end_lineno])


def _holds_code(block: CodeBlock, language: str) -> bool:
    """Whether a block's text is code and not what a program prints, as far as can be seen."""
    if language == "python":
        return _is_code(block.code, language)
    return bool(_CODE_LINE.search(block.code) or _CODE_TOP.search(block.code))


def _is_code(text: str, language: str) -> bool:
    """Whether a text is code and no output: in Python, more than names and values."""
    if language != "python":
        return True
    return any(map(_is_work, statements(text)))


def _is_work(node: ast.stmt) -> bool:
    """Whether a statement is more than names and values."""
    return not isinstance(node, ast.Expr) or any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _last(alike: list[CodeBlock], language: str) -> CodeBlock:
    """The last block; without a tag the last that is code, where one is."""
    if alike[0].tag in _NO_TAGS:
        return next((b for b in alike[: -_MOST_BLOCKS - 1 : -1] if _is_code(b.code, language)), alike[-1])
    return alike[-1]


def _defining(ranked: list[list[CodeBlock]], language: str, names: Sequence[str]) -> list[CodeBlock]:
    """For each name the last block of the best kind that defines it."""
    chosen: dict[str, CodeBlock] = {}
    if not names or sum(map(len, ranked)) == 1:
        return []
    for alike in ranked:
        defined: dict[str, CodeBlock] = {}
        for block in alike[-_MOST_BLOCKS:]:
            defined |= dict.fromkeys(made_in(block.code, language).intersection(names), block)
        chosen = defined | chosen
    return list(chosen.values())


def made_in(code: str, language: str) -> set[str]:
    """Names that code defines, as far as can be seen from outside."""
    if language == "python":
        try:
            return made_names(code[: _LONGEST_PARSED + 1])
        except UNPARSABLE:
            return {name for pair in _PYTHON_HEAD.findall(code) for name in pair if name}
    made = set(_MADE.findall(code))
    return made if language == "rust" else made.union(_c_functions(code))


def _c_functions(code: str) -> Iterator[str]:
    """Names before a bracket, with a type in front and a body or a line's end behind, as C writes functions."""
    for line in code.split("\n"):
        front, bracket, behind = line.partition("(")
        front = front.rstrip()
        word = re.match(r"\w*", front[::-1])
        head = front[: len(front) - word.end()] if word else ""
        words = head.split() if bracket and _C_HEAD.fullmatch(head) else []
        if words and words[0] not in _NO_TYPES and not behind.rstrip().endswith((";", ",")):
            yield front[len(head) :]


def _with_needs(chosen: list[str], others: list[str], language: str) -> str:
    """The chosen blocks as one text, above them what they use and only other blocks define.

    Of Python that is the statements that define it, of Rust whole blocks that define nothing again.
    """
    code = "\n\n\n".join(chosen)
    if language == "rust":
        for other in reversed(others):
            made = set(_RUST_ITEM.findall(other)) - {"main"}
            if not made.isdisjoint(re.findall(r"\w+", code)) and made.isdisjoint(_RUST_ITEM.findall(code)):
                code = f"{other}\n\n\n{code}"
    if language == "python" and len(code) <= _LONGEST_PARSED:
        with suppress(*UNPARSABLE):
            return _with_definitions(code, others)
    return code


def _with_definitions(code: str, others: list[str]) -> str:
    """The code under the statements of other texts that bind what it misses. Raises one of `UNPARSABLE`."""
    offered = [
        (bound_names(node), node, lines)
        for text in others
        if len(text) <= _LONGEST_PARSED
        for lines in [text.split("\n")]
        for node in statements(text)
    ]
    for _ in range(_MOST_ROUNDS if offered else 0):
        missing, taken = missing_names(code), set()
        for at in reversed(range(len(offered))):
            if offered[at][0] & missing:
                taken.add(at)
                missing -= offered[at][0]
        if not taken:
            break
        above = [_source(node, lines) for at, (_, node, lines) in enumerate(offered) if at in taken]
        offered = [made for at, made in enumerate(offered) if at not in taken]
        code = under("\n\n\n".join(above), code)
    return code


def _source(node: ast.stmt, lines: list[str]) -> str:
    """The lines of a statement, its decorators too."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(lines[first - 1 : node.end_lineno])
