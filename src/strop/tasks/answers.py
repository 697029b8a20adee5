"""Extracts code from a response: bare, or in fenced blocks.

Responses are hostile text: everything here takes time linear in their length and never runs them.
"""

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress

from strop.tasks.names import made_in, names_of, stubs_in
from strop_verify.code.python.source import (
    UNPARSABLE,
    bound_names,
    missing_names,
    statements,
    tree_of,
    under,
    used_names,
)
from strop_verify.core.fences import (
    CODE_TOP,
    FENCE_LINE,
    MARKDOWN,
    NO_LANGUAGE,
    TAGS,
    TEXT_TAGS,
    CodeBlock,
    FenceReader,
    blocks,
    fences_in,
    is_info,
)
from strop_verify.core.task import Task
from strop_verify.core.text import CODE_ANSWERS, in_answer_tags, without_later_thoughts
from strop_verify.core.text import without_thinking as without_thinking

_LONGEST_PARSED = 100_000
_MOST_CUTS = 5
"""Maximum attempts to cut words above and below code."""
_MOST_WORDS = 3
"""Maximum statements at the end of code that are checked for being words."""
_MOST_BLOCKS = 50
"""Maximum blocks of a kind whose names are checked: the last ones."""
_MOST_ROUNDS = 8
"""Maximum rounds of adding what the code needs from other blocks."""
_GLUED = re.compile(r"^([^`\n]*[^\s`])(```+)\s*\Z", re.MULTILINE)
"""A closing fence at the end of the last line of code."""
_RUST_ITEM = re.compile(
    r"^(?:pub(?:\([a-z]+\))?[ \t]+)?(?:(?:async|unsafe|const)[ \t]+)*"
    r"(?:fn|struct|enum|union|trait|type|const|static|mod|macro_rules!)[ \t]+([A-Za-z_]\w*)",
    re.MULTILINE,
)
_CODE_LINE = re.compile(r"[{};][ \t\r]*$", re.MULTILINE)
_WORDS = re.compile(r"\s*(?:[A-Z]\w*[ ,.:'!]|[*>-] |\*\*|#+ )")
_STARTS = re.compile(f"{FENCE_LINE.pattern}|{CODE_TOP.pattern}", re.MULTILINE)
_CODE_START = re.compile(
    rf"\s*(?://|/\*|#|['\"]{{3}}|[^\n]*[;{{}}(][ \t\r]*$|{CODE_TOP.pattern})", re.MULTILINE
)
_READS = re.compile(r"\binput\(|stdin|\bcin\b|\b(?:scanf|getline|read_line|readline|getchar)\b|\bopen\(0")
"""Ways in which a program reads its input."""
_JSON_KEYS = frozenset({
    "answer", "code", "completion", "final_answer", "implementation", "program", "response", "solution", "source",
    "source_code",
})  # fmt: skip
"""Keys whose string is the answer, in a JSON object."""


def extract_code(response: str, language: str = "python", names: Sequence[str] = ()) -> str:
    """The code that a response gives as its answer; "" if it holds only blocks of other languages.

        response = [ thought ], [ answer tag ], ( bare code | json | markdown ), [ end tag ] ;
        json     = an object with one string under a name of `_JSON_KEYS`, which is then the response ;
        markdown = { block | words | thought } ;        (* blocks: `strop_verify.core.fences`; thoughts:
        `strop_verify.core.text` *)

    1. Code whose fences are all inside literals or comments is bare. So is a text without fences.
    2. Text above a closing fence without an opening one is a block too. Markdown in a block is read as such.
    3. The answer is the last block that defines a name of `names`, with what it uses from other blocks. A stub, whose
       body does nothing, counts only if no other block defines the name.
    4. If none does, it is the last block tagged with the language, or the last of these that reads input if one does;
       else, in this order, an unclosed one with that tag, the last without a tag, an unclosed one without a tag, one
       tagged as text, one of JSON as above.
    5. JSON with several such strings is ambiguous: "".
    """
    said = without_thinking(response)
    text = in_answer_tags(said, _STARTS, CODE_ANSWERS)
    if text is not said:
        text = text.removesuffix("\n")
    if (inner := _in_json(text)) is not None:
        return extract_code(inner, language, names)
    if not ("```" in text or "~~~" in text) or _is_bare(text, language):
        return text
    text = _GLUED.sub(r"\1\n\2", without_later_thoughts(text, language))
    found = blocks(text, language)
    if not found:
        return text
    found = _begun(text, found, language, names) or [b for outer in found for b in _inner(outer, language)]
    fitting = TAGS.get(language, set()) | {language}
    ranked = [
        [b for b in found if b.tag in tags and b.closed is closed]
        for tags in (fitting, {""}, TEXT_TAGS)
        for closed in (True, False)
    ]
    written = [[b for b in alike if b.code.strip()] for alike in ranked]
    ranked = [alike for alike in (written if any(written) else ranked) if alike]
    if not ranked:
        held = [inner for b in found if b.tag == "json" and (inner := _in_json(b.code)) is not None]
        return extract_code(held[-1], language, names) if held else ""
    others = [block.code for alike in ranked for block in alike[-_MOST_BLOCKS:]]
    chosen = _defining(ranked, language, names) or [_last(ranked[0], others, language, named=bool(names))]
    texts = [block.code for block in dict.fromkeys(found) if block in chosen]
    code = _with_needs(texts, [text for text in others if text not in texts], language)
    inner = _in_json(code)
    return code if inner is None else extract_code(inner, language, names)


def answer_in(response: str, task: Task) -> str:
    """A response's answer to a task: its code, the text with a label, or all of it if the task asks for an edit."""
    if task.check.answer == "edit":
        return response
    if task.check.answer in ("label", "places", "calls"):
        return without_thinking(response)
    return extract_code(response, task.language, names_of(task))


def until_fence(text: str, language: str) -> str:
    """The code up to the fence that closes its block, for text after a prefilled ```` ```python ````."""
    end = FenceReader(text).end_of_code(0, language)
    return text[:end].removesuffix("\n") if 0 < end < len(text) else text


def _in_json(text: str) -> str | None:
    """The string that a JSON object holds under a key of `_JSON_KEYS`; "" for several, None for other texts."""
    bare = text.strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return None
    try:
        read = json.loads(bare, strict=False)
    except (ValueError, RecursionError):
        return None
    held = [value for key, value in read.items() if key.lower() in _JSON_KEYS and isinstance(value, str)]
    return (held[0] if len(held) == 1 else "") if held else None


def _is_bare(text: str, language: str) -> bool:
    """Whether the text as a whole is code, with fences only in literals and comments."""
    if next(fences_in(text, language), None):
        return False
    if language != "python" or len(text) > 10 * _LONGEST_PARSED:
        return _CODE_START.match(text) is not None
    with suppress(*UNPARSABLE):
        return bool(tree_of(text))
    return False


def _inner(block: CodeBlock, language: str) -> list[CodeBlock]:
    """The blocks in a block that is Markdown, or that has no language and holds blocks; else the block itself."""
    holds = block.tag in MARKDOWN or (block.tag in NO_LANGUAGE and _holds_blocks(block, language))
    return (blocks(block.code, language) if holds else None) or [block]


def _holds_blocks(block: CodeBlock, language: str) -> bool:
    return any(is_info(fence["words"]) for fence in fences_in(block.code, language))


def _begun(text: str, found: list[CodeBlock], language: str, names: Sequence[str]) -> list[CodeBlock] | None:
    """The blocks of a text that begins with code, as after a prompt that opened its block; None for other texts.

    Such code ends at the first fence if it defines a name of `names`; if there are no `names` and no block holds code;
    or, at a bare fence, if the fences are off by one. Words may stand between the code and a fence that opens a block.
    """
    fence = _first_fence(text, language)
    if len(text) > _LONGEST_PARSED or fence is None:
        return None
    if found[0].start < fence.start() and not FENCE_LINE.match(text, found[0].start):  # opened after words
        return None
    one_off = any(not b.closed or (not b.tag and _holds_blocks(b, language)) for b in found)
    above, word = text[: fence.start()], fence["words"].strip()
    code, alone = _code_in(above, language)
    if names:
        counts = bool(code) and not made_in(code, language).isdisjoint(names)
    else:
        counts = bool(code) and not any(b.tag not in NO_LANGUAGE or _holds_code(b, language) for b in found)
    if not counts:
        ends_all = language != "python" and not text[fence.end() :].strip()
        code = code if alone else (above.rstrip("\n") if ends_all else "")
        if not (one_off and not word and code.strip()):
            return None
    below = blocks(text[fence.end() if one_off and not word else fence.start() :].lstrip("\n"), language)
    for at in range(max(len(below) - _MOST_BLOCKS, 0), len(below) if names else 0):
        if below[at].tag in NO_LANGUAGE and not made_in(below[at].code, language).isdisjoint(names):
            below[at] = below[at]._replace(tag=language)
    return [CodeBlock(language, code, True, 0, 0), *below]


def _first_fence(text: str, language: str) -> re.Match[str] | None:
    """The first line that is a fence; in text that begins with code, the first outside its literals."""
    found = (
        fences_in(text, language)
        if language == "python" or _CODE_START.match(text)
        else FENCE_LINE.finditer(text)
    )
    return next(found, None)


def _code_in(text: str, language: str) -> tuple[str, bool]:
    """(the code of a text without words above and below it, "" if there is none; whether no words are below)."""
    if language != "python":
        top = CODE_TOP.search(text)
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
        if not at:  # words above, which may look like code
            top = CODE_TOP.search(code, len(lines[0]) + 1)
            lines = code[top.start() :].split("\n") if top else []
            at = len(lines)
        code = "\n".join(lines[:at]).rstrip("\n")
    return "", False


def _without_words(code: str, body: list[ast.stmt]) -> str:
    """Python code without final words that parse as statements (`Done`, `Complexity: O(n)`); "" if there is no code."""
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
    """Whether a block's text looks like code rather than the output of a program."""
    if language == "python":
        return any(map(_is_work, statements(block.code)))
    return bool(_CODE_LINE.search(block.code) or CODE_TOP.search(block.code))


def _is_work(node: ast.stmt) -> bool:
    """Whether a statement does more than name values."""
    return not isinstance(node, ast.Expr) or any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _last(alike: list[CodeBlock], others: list[str], language: str, *, named: bool) -> CodeBlock:
    """The last block; without a tag, the last with code; for a program, the last that reads input, if any does."""
    last = alike[-_MOST_BLOCKS:][::-1]
    if alike[0].tag in NO_LANGUAGE:
        last = [b for b in last if _holds_code(b, language)] or last[:1]
    if named or _READS.search(last[0].code) or not any(_READS.search(b.code) for b in last):
        return last[0]
    reading = (b for b in last[:_MOST_ROUNDS] if _READS.search(_with_needs([b.code], others, language)))
    return next(reading, last[0])


def _defining(ranked: list[list[CodeBlock]], language: str, names: Sequence[str]) -> list[CodeBlock]:
    """For each name, the last block of the best kind that defines it; a stub only if there is nothing else."""
    chosen: dict[str, CodeBlock] = {}
    stubs: dict[str, CodeBlock] = {}
    if not names or sum(map(len, ranked)) == 1:
        return []
    for alike in ranked:
        defined: dict[str, CodeBlock] = {}
        empty: dict[str, CodeBlock] = {}
        for block in alike[-_MOST_BLOCKS:]:
            made = made_in(block.code, language).intersection(names)
            idle = stubs_in(block.code, made, language)
            defined |= dict.fromkeys(made - idle, block)
            empty |= dict.fromkeys(idle, block)
        chosen, stubs = defined | chosen, empty | stubs
    return list((stubs | chosen).values())


def _with_needs(chosen: list[str], others: list[str], language: str) -> str:
    """The chosen blocks as one text, below what they use and only other blocks define.

    For Python these are the defining statements, for Rust whole blocks that redefine nothing.
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
    """The code below the statements of other texts that bind its missing names. Raises one of `UNPARSABLE`."""
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
    """The lines of a statement, including its decorators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(lines[first - 1 : node.end_lineno])
