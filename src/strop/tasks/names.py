"""The names that a task asks for, and those that code defines."""

import ast
import re
from collections.abc import Iterable, Iterator

from strop_verify.code.python.source import UNPARSABLE, made_names, statements, used_names
from strop_verify.core.checks import PytestCheck
from strop_verify.core.task import Task

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_LONGEST_PARSED = 100_000
_MADE = re.compile(
    r"\b(?:fn|function\*?|class|struct|enum|union|trait|interface|type|const|static|mod|func|def|macro_rules!)"
    r"[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w*)"
)
_PYTHON_HEAD = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)
_C_HEAD = re.compile(r"[\w:<>,*&\[\] \t]*[ \t*&]")
_NO_TYPES = frozenset({"return", "else", "new", "await", "case", "throw", "typeof", "delete"})
_EMPTY_BODY = r"\{\s*(?:(?://[^\n]*|/\*.{0,99}?\*/|(?:todo|unimplemented)!\([^()\n]*\);?|\.\.\.)\s*)*\}"


def names_of(task: Task) -> tuple[str, ...]:
    """Names that an answer must define, as far as the task tells; for Rust also other words in its tests."""
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


def made_in(code: str, language: str) -> set[str]:
    """Names that code defines, as far as its text shows."""
    if language == "python":
        try:
            return made_names(code[: _LONGEST_PARSED + 1])
        except UNPARSABLE:
            return {name for pair in _PYTHON_HEAD.findall(code) for name in pair if name}
    made = set(_MADE.findall(code))
    return made if language == "rust" else made.union(_c_functions(code))


def _c_functions(code: str) -> Iterator[str]:
    """Names of functions as C writes them: a type, the name, a parenthesis, then a body or the end of the line."""
    for line in code.split("\n"):
        front, bracket, behind = line.partition("(")
        front = front.rstrip()
        word = re.match(r"\w*", front[::-1])
        head = front[: len(front) - word.end()] if word else ""
        words = head.split() if bracket and _C_HEAD.fullmatch(head) else []
        if words and words[0] not in _NO_TYPES and not behind.rstrip().endswith((";", ",")):
            yield front[len(head) :]


def stubs_in(code: str, names: Iterable[str], language: str) -> set[str]:
    """The names whose functions or classes do nothing in this code."""
    if language != "python":
        found = (re.search(rf"\b{re.escape(name)}\b[^{{}};]{{0,300}}{_EMPTY_BODY}", code) for name in names)
        return {name for name, match in zip(names, found, strict=True) if match}
    idle = {node.name: _is_idle(node) for node in statements(code) if isinstance(node, Definition)}
    return {name for name in names if idle.get(name)}


def _is_idle(node: ast.stmt) -> bool:
    """Whether a statement does nothing: a docstring, `...`, `pass`, `raise NotImplementedError`, or a block of them."""
    if isinstance(node, Definition):
        return all(map(_is_idle, node.body))
    if isinstance(node, ast.Raise) and node.exc:
        return "NotImplementedError" in used_names(node.exc)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
