"""Reads fenced blocks in model output: answers, edits and thoughts.

    text   = { block | words } ;
    block  = open, EOL, { line }, [ close, EOL ]
           | [ words ], fence, [ language ], code, fence, EOL ;        (* on one line *)
    open   = indent, fence, [ info ]                                   (* on a line of its own *)
           | words, fence, language | words, ":", fence                (* after words *)
           | [ words ], fence, language, blank, code ;                 (* the first line of code after it *)
    indent = { blank }, [ ( "-" | "*" | "+" | ">" | number ), blanks ] ;
    fence  = 3 or more "`" | 3 or more "~" ;
    info   = a language, the name of a file, attributes ;
    close  = [ indent ], fence, [ words ] | line of code, fence, [ words ] ;

1. A closing fence has the same character as the opening one and is at least as long. Words after it (`That is it.`,
   `<|im_end|>`) need a backtick fence, and so does code before it, in a language without backticks outside literals.
2. A fence inside a string literal or a comment of the block's language is text. If the language is unknown, only
   Python's triple quotes and `/* */` comments at the start of a line count. An unterminated literal hides no fence.
3. A fence with an info string opens a nested block in Markdown and in blocks without a language, if the outer block
   ends too. Anywhere else it ends the block, which then counts as unclosed, and is dropped if empty.
4. A block on one line fills the whole line or names a known language; anything else between fences is words.
5. If all lines of a block have the indent of its fence, the indent is removed.

The input is untrusted, so reading takes time linear in its length.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

TAGS = {
    "python": {"python", "py", "pyi", "pypy", "cpython", "micropython", "ipython", "jupyter", "ipynb"},
    "rust": {"rust", "rs"},
    "javascript": {"javascript", "js", "mjs", "cjs", "jsx", "node", "nodejs", "ecmascript", "es"},
    "typescript": {"typescript", "ts", "tsx", "mts", "cts"},
    "c": {"c", "h"},
    "c++": {"c++", "cpp", "cc", "cxx", "hpp", "cplusplus"},
    "c#": {"c#", "cs", "csharp"},
    "bash": {"bash", "sh", "shell", "zsh"},
    "go": {"go", "golang"},
    "java": {"java"},
    "kotlin": {"kotlin", "kt", "kts"},
    "ruby": {"ruby", "rb"},
}
"""Words after a fence, and file name extensions, that denote the language, without versions; a language that is not
listed is known only by its own name."""

TEXT_TAGS = {"text", "txt", "plain", "plaintext", "pycon"}
"""Uninformative words: blocks that they label are usually program output."""
MARKDOWN = {"markdown", "md", "mdx", "rst"}
"""Languages whose texts contain fenced blocks themselves."""
NO_LANGUAGE = TEXT_TAGS | {""}

_LANGUAGE = {word: language for language, words in TAGS.items() for word in words}
_LABELS = frozenset({
    "answer", "cell", "code", "code-cell", "file", "filename", "filepath", "final", "highlight", "in", "lang",
    "language", "name", "path", "script", "solution", "source", "src", "title",
})  # fmt: skip
"""Words that may precede or replace the language."""
_NO_CODE = frozenset(
    {"con", "console", "error", "errors", "output", "repl", "result", "session", "traceback"}
)
_WORD = re.compile(r"(?:[cf]#|[\w.+/-]+)(?!\w)")
_NO_WORD = re.compile(r"(?<!\w)(?:#[\w-]+|[a-z]:[\\/]+)")
"""An identifier among attributes, or the drive letter of a path."""
_VERSION = re.compile(r"[-_]?v?[0-9][0-9.]*$")

FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})(?P<words>[^`\n]*)$", re.MULTILINE)
"""A line that is a fence."""
CODE_TOP = re.compile(
    r"^(?:(?:async )?def |class |import |from \w|@\w|#include|#!?\[|use \w|pub |(?:unsafe )?fn |struct |enum |impl\b"
    r"|const |let |var |function\b|async |package |func |(?:static|int|void|char|double|float|long|unsigned|bool)\b)",
    re.MULTILINE,
)
"""Where unfenced code begins."""
_RUN = re.compile(r"`{3,}|~{3,}")
_OWN_LINE = re.compile(r"([ \t]*(?:(?:[-*+>]|[0-9]{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})(.*)")
_BEHIND_WORDS = re.compile(r"(.*?[^`~])(`{3,})(.*)")
_CODE_BEHIND = re.compile(r"[ \t]*([A-Za-z][\w+#]*)[ \t]+(\S.*)")
_STATEMENT = re.compile(r"(?:print|println!|console\.log)\(|(?:for|if|while) .*[:{]|\w+ = |#include")
_INFO = re.compile(r"[a-z{.][\w+#./:=,{}\"'-]*[\w+#}\"']|[a-z]")
_MOST_OPEN = 5
"""Unterminated literals and unclosed outer blocks that are handled in one text, which bounds the time."""

_COMMENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|(?P<open0>\Z))"
_STRING = r'"(?:\\.|[^"\\\n])*+"'
_QUOTED = r"'(?:\\.|[^'\\\n])*+'"
_CHARACTER = r"'(?:\\[^\n]{1,8}?|[^'\\\n])'"
_TRIPLE = r'"""(?:\\.|"(?!"")|[^"\\])*+(?:"""|(?P<open1>\\?\Z))'
_TRIPLES = rf"{_TRIPLE}|'''(?:\\.|'(?!'')|[^'\\])*+(?:'''|(?P<open2>\\?\Z))"
_RUST_STRING = (
    r'\bb?r(?P<marks>#*)"(?:[^"]|"(?!(?P=marks)))*+(?:"(?P=marks)|(?P<open3>\Z))'
    r'|"(?:\\.|[^"\\])*+(?:"|(?P<open4>\\?\Z))'
)
_RAW = r'R"(?P<marks>[^()\\\s]{0,16})\((?:[^)]|\)(?!(?P=marks)"))*+(?:\)(?P=marks)"|(?P<open3>\Z))'
_TEMPLATE = r"`(?:\\.|[^`\\])*+(?:`|(?P<open3>\\?\Z))"
_LITERALS = {
    "": rf"{_TRIPLES}|(?m:^[ \t]*)/\*(?:[^*]|\*(?!/))*+(?:\*/|(?P<open0>\Z))",
    "python": rf"#[^\n]*|{_TRIPLES}|{_STRING}|{_QUOTED}",
    "rust": rf"{_COMMENT}|{_RUST_STRING}|{_CHARACTER}",
    "c++": rf"{_COMMENT}|{_RAW}|{_STRING}|{_CHARACTER}",
    "java": rf"{_COMMENT}|{_TRIPLE}|{_STRING}|{_CHARACTER}",
    "javascript": rf"{_COMMENT}|{_STRING}|{_QUOTED}|{_TEMPLATE}",
}
"""String literals and comments. A group open* matches if one is unterminated."""
_KIN = {"c": "c++", "typescript": "javascript", "go": "javascript", "kotlin": "java", "c#": "java"}
_NEAR = {"c": "c++", "javascript": "typescript"}
_NO_BACKTICKS = {"python", "rust", "c++", "java"}
"""Languages without backticks outside literals."""


class CodeBlock(NamedTuple):
    """A fenced block: its content and place."""

    tag: str
    """Its language, see `tag_of`."""
    text: str
    """Its lines with their line ends."""
    closed: bool
    """Whether its end was found."""
    start: int
    """Offset of the line of its opening fence."""
    end: int
    """Offset of the line after its closing fence."""

    @property
    def code(self) -> str:
        """Its lines without the last line end, which belongs to the fence."""
        return self.text.removesuffix("\n") if self.closed else self.text


class OpenFence(NamedTuple):
    """A fence that opens a block."""

    indent: str
    fence: str
    tag: str
    start: int
    """Offset of its line."""
    below: int
    """Offset of the next line."""
    code: str | None = None
    """The text after the language."""
    whole: bool = False
    """Whether the block ends on this line."""
    alone: bool = True
    """Whether no words precede it."""


def blocks(text: str, language: str = "") -> list[CodeBlock]:
    """The fenced blocks of a text in order; `language` is assumed for those that name none."""
    reader, found, at = FenceReader(text), list[CodeBlock](), 0
    while opening := reader.opening(at):
        block = reader.block(opening, language)
        at = block.end
        if block.closed or block.end == len(text) or block.text.strip():
            found.append(block)
    return found


class FenceReader:
    """Reads the blocks of one text, each from its opening fence.

    fragments  whether blocks hold parts of files: their literals may end elsewhere, so the first closing fence counts
    """

    def __init__(self, text: str, *, fragments: bool = False) -> None:
        self.text, self.fragments = text, fragments
        self._left = _MOST_OPEN
        self._literals: dict[str, tuple[int, re.Match[str] | None]] = {}

    def opening(self, at: int) -> OpenFence | None:
        """The first fence that opens a block at or after an offset, which must be the start of a line."""
        while run := _RUN.search(self.text, at):
            start = max(self.text.rfind("\n", at, run.start()) + 1, at)
            end = self._line_end(run.end())
            at = min(end + 1, len(self.text))
            if found := _opening_in(self.text[start:end].rstrip("\r"), start, at):
                return found
        return None

    def block(self, opening: OpenFence, language: str = "") -> CodeBlock:
        """The block that a fence opens; `language` is assumed if the fence names none."""
        indent, _, tag, start, below, code, whole, _ = opening
        if whole:
            return CodeBlock(tag, code or "", True, start, below)
        end, behind, closed = self._end(opening, language if tag in NO_LANGUAGE else _LANGUAGE.get(tag, tag))
        held = _dedented(self.text[below:end], indent)
        return CodeBlock(tag, held if code is None else f"{code}\n{held}", closed, start, behind)

    def end_of_code(self, start: int, language: str) -> int:
        """Offset of the fence that closes a code block, given the `start` of the rest of that block."""
        return self._end(OpenFence("", "```", language, start, start), language)[0]

    def _literal(self, kin: str, at: int) -> re.Match[str] | None:
        """The first literal at or after an offset that is itself outside literals."""
        known = self._literals.get(kin)
        if known is None or at < known[0] or (known[1] and at > known[1].start()):
            known = self._literals[kin] = at, _pattern(kin).search(self.text, at)
        return known[1]

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _end(self, opening: OpenFence, language: str) -> tuple[int, int, bool]:
        """(end of its lines, offset after the block, whether it is closed) of the block that a fence opens."""
        text, start, fence, tag = self.text, opening.below, opening.fence, opening.tag
        kin = _KIN.get(language, language)
        plain = self.fragments or tag in MARKDOWN or kin == "bash" or self._left <= 0
        literal = None if plain else self._literal(kin, start)
        glued = not self.fragments and kin in _NO_BACKTICKS and tag not in NO_LANGUAGE and fence[0] == "`"
        holds = tag in MARKDOWN or tag in NO_LANGUAGE
        depth, line_end, outer = 0, -1, None
        for run in re.compile(f"{fence[0]}{{{len(fence)},}}").finditer(text, start):
            own = run.start() >= line_end
            if own:
                line = max(text.rfind("\n", max(line_end, start), run.start()) + 1, start)
                line_end = self._line_end(run.end())
                own = text[line : run.start()].strip() in ("", opening.indent.strip())
            if not own and (not glued or text[run.start() - 1].isspace()):
                continue
            while literal and literal.end() <= run.start():
                literal = self._literal(kin, literal.end())
            if literal and literal.start() < run.start():
                if not (literal.lastgroup or "").startswith("open"):
                    continue
                literal, self._left = None, self._left - 1
            below = min(line_end + 1, len(text))
            if not own:
                return run.start(), below, True
            words = text[run.end() : line_end]
            if "`" in words or (self.fragments and words.strip()):
                continue
            if is_info(words):
                twice = not tag and not outer and not text[start:line].strip()
                if twice or not holds or self._left <= 0:
                    return line, line, False
                outer = outer or (line, line, False)
                depth += 1
            elif depth:
                depth -= 1
            elif fence[0] == "`" or not words.strip():
                return line, below, True
        self._left -= outer is not None
        return outer or (len(text), len(text), False)


def tag_of(info: str) -> str:
    """The language that the words after a fence name, as a word of `TAGS` if it is known; "" if they name none.

    `Python 3`, `{.python .numberLines}`, `rust,ignore`, `js title=a`, `python:src/a.py`, `src/a.py`, `c++17`.
    """
    lower = _NO_WORD.sub(" ", info.lower())
    classes = re.findall(r"\.[\w+-]+", lower) if lower.lstrip().startswith("{") else []
    if known := next(filter(None, map(_known, (word[1:] for word in classes))), ""):
        return known
    for found in _WORD.findall(lower):
        word = found.lstrip("./-+").rstrip("./-") if not found.endswith("#") else found
        if word and word not in _LABELS and not word.isdigit():
            return _known(word) or word.rpartition(".")[2]
    return ""


@lru_cache
def is_info(words: str) -> bool:
    """Whether the words after a fence can open a block: a language, a name, attributes, code; not a sentence."""
    first, _, rest = words.strip().partition(" ")
    if not first or _code_behind(words) is not None:
        return bool(first)
    tag = tag_of(first)
    if rest and not (rest[0] in "{([\"'0123456789" or "=" in rest.split(" ")[0] or first[0] == "{"):
        return False
    return (tag in _LANGUAGE and first[-1] not in ".!:;") or _INFO.fullmatch(first) is not None


def language_of(tag: str) -> str:
    """The language that a tag denotes; "" if unknown."""
    return _LANGUAGE.get(tag, "")


def same_language(tag: str, other: str) -> bool:
    """Whether two tags denote the same language; C counts as C++, JavaScript as TypeScript."""
    one, two = (_NEAR.get(known := _LANGUAGE.get(word, word), known) for word in (tag, other))
    return one == two


def _opening_in(line: str, start: int, below: int) -> OpenFence | None:
    """The fence in a line that opens a block; `start` is the line's offset, `below` that of the next line."""
    words, indent = "", ""
    if match := _OWN_LINE.fullmatch(line):
        indent, fence, rest = match.groups()
    elif match := _BEHIND_WORDS.fullmatch(line):
        words, fence, rest = match.groups()
    else:
        return None
    if "`" in rest:
        inner = rest.rstrip().removesuffix(fence)
        if fence[0] == "~" or "`" in inner or inner == rest.rstrip():
            return None
        if found := _code_behind(inner):
            return OpenFence(indent, fence, found[0], start, below, found[1], True, not words)
        alone = not words and inner.strip() and tag_of(inner) not in _LANGUAGE
        return OpenFence(indent, fence, "", start, below, inner.strip(), True) if alone else None
    if found := _code_behind(rest):
        return OpenFence(indent, fence, found[0], start, below, found[1], False, not words)
    tag, named = tag_of(rest), len(rest.split()) == 1
    if words and not (named and tag in _LANGUAGE) and (rest.strip() or not words.rstrip().endswith(":")):
        return None
    return OpenFence(indent, fence, tag, start, below, alone=not words)


def _code_behind(words: str) -> tuple[str, str] | None:
    """The language at the start of the words after a fence, and the code that follows; None for other words."""
    match = _CODE_BEHIND.fullmatch(words)
    if not match or (tag := _known(match[1].lower())) == "":
        return None
    code = match[2]
    is_code = _STATEMENT.match(code) or (CODE_TOP.match(code) and re.search(r"[({=:;]|import ", code))
    return (tag, code.rstrip()) if is_code else None


@cache
def _pattern(kin: str) -> re.Pattern[str]:
    return re.compile(_LITERALS.get(kin, _LITERALS[""]), re.DOTALL)


def fences_in(text: str, language: str) -> Iterator[re.Match[str]]:
    """The lines of unfenced code that are fences, outside its literals and comments."""
    literals = _pattern(_KIN.get(language, language)).finditer(text)
    literal = next(literals, None)
    for fence in FENCE_LINE.finditer(text):
        while literal and literal.end() <= fence.start():
            literal = next(literals, None)
        if not literal or literal.start() >= fence.start() or (literal.lastgroup or "").startswith("open"):
            yield fence


def _known(word: str) -> str:
    """The word of `TAGS` in a word that may have a version or be a file name or a compound; "" if there is none."""
    bare = _VERSION.sub("", word)
    ending = _VERSION.sub("", word.rpartition(".")[2].rpartition("/")[2])
    parts = [_VERSION.sub("", part) for part in re.split("[-_]", bare)]
    compound = [p for p in (parts[0], parts[-1]) if len(p) > 1 and parts[-1] not in _NO_CODE]
    return next((w for w in (word, bare, ending, *compound) if w in _LANGUAGE), "")


def _dedented(text: str, indent: str) -> str:
    """The lines without the indent of their fence, if all have it; spaces may stand in for a list marker."""
    if not indent:
        return text
    fronts = (indent, " " * len(indent)) if indent.strip() not in ("", ">") else (indent,)
    lines, out = text.split("\n"), []
    for line in lines:
        front = next((front for front in fronts if line.startswith(front)), None)
        if front is None and line.strip() not in ("", indent.strip()):
            return text
        out.append(line[len(front) :] if front else ("" if line.strip() == ">" else line))
    return "\n".join(out)
