"""What two solutions are compared by: their normal form, its shape, and its shingles.

Python goes by its syntax tree (`python_labels`), every other language, and Python that does not parse, by its tokens
without comments and layout, with the names that the source declares itself numbered by first use.

The normal form of Python source is its syntax tree as labels, without what an author may choose freely. Out go: names
that the source binds itself (numbered by first use), layout, comments, docstrings, annotations, decorators, imports
(what they bind is called by its origin), `pass`, the guard `__name__ == "__main__"`. `a += b` is `a = a + b`, `a > b`
is `b < a`. What stays: structure, operators, constants, names of builtins and attributes.
"""

import ast
import re
from typing import NamedTuple

from strop.code.near.hashes import Hashes, hash_text, shingles
from strop.code.python.source import UNPARSABLE, tree_of

_SKIPPED = frozenset(
    {"annotation", "returns", "decorator_list", "ctx", "type_comment", "type_ignores", "kind"}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TWO_WAYS = frozenset({ast.AnnAssign, ast.AugAssign, ast.Compare, ast.UnaryOp})
_NAMED = (*_FUNCTIONS, ast.ExceptHandler)


def python_labels(source: str) -> list[str] | None:
    """Labels of the tree, parents first; None if this Python cannot parse it. Constants begin with `=`."""
    try:
        tree = tree_of(source)
        return _Form(tree).labels(tree)
    except UNPARSABLE:
        return None


class _Form:
    """One source's names, and the walk over its tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.own: set[str] = set()
        self.origins: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.found: list[str] = []
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            self._bind(node)
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    waiting.append(value)
                elif isinstance(value, list):
                    waiting.extend(child for child in value if isinstance(child, ast.AST))

    def _bind(self, node: ast.AST) -> None:
        """Records the names that a node binds."""
        kind = type(node)
        if kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                self.own.add(node.id)  # type: ignore[attr-defined]
        elif kind is ast.arg:
            self.own.add(node.arg)  # type: ignore[attr-defined]
        elif isinstance(node, _NAMED):
            if node.name:
                self.own.add(node.name)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                self.own.add(f".{node.attr}")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                self.origins[alias.asname or alias.name] = f"{module}{alias.name}"

    def labels(self, tree: ast.Module) -> list[str]:
        """One label a node, parents first, and `)` where one that has children ends."""
        self._walk(tree)
        return self.found

    def _walk(self, node: ast.AST) -> None:
        node = _plain(node)
        add = self.found.append
        if isinstance(node, ast.Name):
            add(self._named(node.id))
            return
        if isinstance(node, ast.Constant):
            add(f"={type(node.value).__name__}:{node.value!r}")
            return
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id in self.origins:
                add(f"{self.origins[node.value.id]}.{node.attr}")
                return
            add(self._named(f".{node.attr}"))
            self._walk(node.value)
            return
        add(type(node).__name__)
        if isinstance(node, _FUNCTIONS):
            add(self._named(node.name))
        elif isinstance(node, ast.keyword | ast.arg) and node.arg:
            add(self._named(node.arg))
        children = 0
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or name in _SKIPPED:
                continue
            if isinstance(value, list):
                for child in _statements(value) if name == "body" else value:
                    if isinstance(child, ast.AST):
                        children += 1
                        self._walk(child)
            elif isinstance(value, ast.AST):
                children += 1
                self._walk(value)
        if children:
            add(")")

    def _named(self, name: str) -> str:
        if name in self.own:
            return f"own{self.numbers.setdefault(name, len(self.numbers))}"
        return self.origins.get(name, name)


def _plain(node: ast.AST) -> ast.AST:
    """The one form of what can be written in two ways."""
    if type(node) not in _TWO_WAYS:
        return node
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.Assign(targets=[node.target], value=node.value)
    if isinstance(node, ast.AugAssign):
        return ast.Assign(targets=[node.target], value=ast.BinOp(node.target, node.op, node.value))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE):
        turned = ast.Lt() if isinstance(node.ops[0], ast.Gt) else ast.LtE()
        return ast.Compare(left=node.comparators[0], ops=[turned], comparators=[node.left])
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ast.Constant(-value)
    return node


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """A body without statements that do nothing; the guard of a script is unwrapped."""
    kept: list[ast.stmt] = []
    for one in body:
        if isinstance(one, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # a docstring, or `...`
        if isinstance(one, ast.AnnAssign) and one.value is None:
            continue
        if isinstance(one, ast.If) and not one.orelse and "__name__" in ast.dump(one.test):
            kept.extend(_statements(one.body))
        else:
            kept.append(one)
    return kept


WIDTH = 4
_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|\'[^\'\\\n]*\'|\d[\w.]*|\w+|[^\s\w]')
_COMMENT = {
    "slashes": re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL),
    "hashes": re.compile(r'("(?:\\.|[^"\\\n])*")|#[^\n]*'),
    "dashes": re.compile(r'("(?:\\.|[^"\\\n])*")|--[^\n]*'),
}
_STYLE = dict.fromkeys(("python", "ruby", "bash", "sh", "shell", "r", "perl", "julia", "elixir"), "hashes") | {
    "lua": "dashes", "haskell": "dashes", "sql": "dashes", "ada": "dashes"
}  # fmt: skip
_DECLARED = re.compile(
    r"\b(?:fn|let|mut|for|struct|enum|const|var|function|def|func|fun|val|class|static|type|trait)\s+(?:mut\s+)?(\w+)"
    r"|(?<=[(,|{\s&])\b(\w+)\b(?=\s*:[^:=])"  # name: Type
    r"|\b(?!(?:return|new|else|case|goto|throw|await|in|not|and|or|is)\b)[A-Za-z_]\w*(?:<[\w\s,<>]{0,60}>)?"
    r"[\s*&]+(\w+)(?=\s*(?:[=;,)(]|\[))"  # Type name
    r"|\b(\w+)\b(?=\s*:?=[^=])"  # name =, name :=
)
_PARAMETERS = re.compile(
    r"\b(?:function|def|fn|func)\b[^(\n]{0,200}\(([^)]{0,2000})\)|\(([^()]*)\)\s*=>|\b(\w+)\s*=>"
)
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        if else while for in of do return break continue match switch case new delete try catch throw finally import
        from as use pub mod impl self this super true false null nil none fn let mut const static struct enum class def
        func var val function type trait where loop move ref async await yield not and or is lambda end then begin int
        long char short float double void bool unsigned signed size_t string vector auto usize isize i8 i16 i32 i64 u8
        u16 u32 u64 f32 f64 str option result vec some ok err main std println print
        """,
    )
)


class Form(NamedTuple):
    """A solution's normal form; all zero or empty where there is none."""

    size: int
    """Labels or tokens."""
    exact: int
    """Hash of everything; equal means the same program but for names and layout."""
    shape: int
    """Hash without constants; equal with `exact` different means the same program for another constant."""
    shingles: Hashes
    """Runs of four labels, constants in."""


EMPTY = Form(0, 0, 0, shingles([], WIDTH))


def form(source: str, language: str = "python") -> Form:
    """The normal form of an answer: bare code, or a response, of which the last fenced block counts."""
    if fenced := _FENCE.findall(source):
        source = fenced[-1]
    found = python_labels(source) if language == "python" else None
    labels = found if found is not None else _token_labels(source, language)
    if len(labels) < 3 or not any(label.isidentifier() or label.startswith("=") for label in labels):
        return EMPTY
    own_free = ["own" if label[:3] == "own" and label[3:].isdigit() else label for label in labels]
    return Form(
        size=len(labels),
        exact=hash_text("\n".join(labels)),
        shape=hash_text("\n".join(_kind(label) for label in labels)),
        shingles=shingles(own_free, WIDTH),
    )


def _kind(label: str) -> str:
    """A constant's type, any other label itself."""
    return label.partition(":")[0] if label.startswith("=") and len(label) > 1 else label


def _token_labels(source: str, language: str) -> list[str]:
    """Tokens in the manner of `python_labels`."""
    source = _COMMENT[_STYLE.get(language, "slashes")].sub(lambda m: m.group(1) or " ", source)
    own = {name for found in _DECLARED.findall(source) for name in found if name}
    for found in _PARAMETERS.findall(source):
        own.update(re.findall(r"(?<![\w:.] )(?<!:)\b[a-zA-Z_]\w*", " ".join(found)))
    own -= _KEYWORDS
    numbers: dict[str, int] = {}
    labels: list[str] = []
    for token in _TOKEN.findall(source):
        if token[0].isdigit():
            labels.append(f"=number:{token}")
        elif token[0] in "\"'" and len(token) > 1:
            labels.append(f"=text:{token}")
        elif token in own:
            labels.append(f"own{numbers.setdefault(token, len(numbers))}")
        else:
            labels.append(token)
    return labels
