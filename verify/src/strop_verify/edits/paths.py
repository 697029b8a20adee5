"""Paths that an edit may name, and how header lines and diffs write them.

A path is a name in the task's tree and nothing else: paths that could lead out of it, or mean different things on
different systems, are refused. Symbolic links do not exist here: a file is its text.
"""

import json
import re

from strop_verify.edits.changes import EditError

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST, _LONGEST_NAME, _DEEPEST = 4095, 255, 64
_PLAIN = re.compile(r"[^\s\"'`*(),:]+")
_WORDS = {"Makefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Procfile", "LICENSE", "README"}

_ENDINGS = frozenset({
    "cc", "cfg", "cpp", "cs", "css", "go", "hpp", "html", "ini", "java", "js", "json", "jsx", "kt", "md", "mjs", "php",
    "py", "pyi", "rb", "rs", "rst", "sh", "sql", "toml", "ts", "tsx", "txt", "xml", "yaml", "yml",
})  # fmt: skip
"""File extensions that are unlikely as attribute names."""


def check_path(path: str) -> str:
    """The path, if an edit may name it; EditError `bad-path` otherwise."""
    fault = _fault(path)
    if fault:
        raise EditError("bad-path", f"the path {path[:80]!r} {fault}")
    return path


def _fault(path: str) -> str:
    """The fault of a path; "" = none."""
    if not path:
        return "is empty"
    if _CONTROL.search(path):
        return "holds a control character or half of a surrogate pair"
    if "\\" in path:
        return "holds a backslash; folders are separated by /"
    if path.startswith("/") or _DRIVE.match(path):
        return "is absolute; paths are relative to the tree"
    names = path.split("/")
    if not all(names):
        return "holds an empty name"
    if "." in names or ".." in names:
        return "holds . or .."
    if ".git" in map(str.lower, names):
        return "lies in .git"
    if len(path.encode()) > _LONGEST or any(len(name.encode()) > _LONGEST_NAME for name in names):
        return f"is longer than {_LONGEST} bytes, or a name in it than {_LONGEST_NAME}"
    if len(names) > _DEEPEST:
        return f"lies in more than {_DEEPEST - 1} folders"
    return ""


def looks_like_path(text: str) -> bool:
    """Whether a word that could be prose is clearly a path: it has a folder or a file extension."""
    if not _PLAIN.fullmatch(text):
        return False
    last = text.rsplit("/", 1)[-1]
    return "/" in text.strip("/") or text in _WORDS or re.search(r"\.[A-Za-z0-9_+-]+$", last) is not None


def names_a_file(text: str, known: str) -> bool:
    """Whether a line that was read as a path can name a file beside `known`, not an attribute, a module, a fraction, a
    tag or a heading: it has no blanks, and the extension of `known` or of common code and text files.

    Forbidden paths count too: they are refused, not read as something else.
    """
    if not _PLAIN.fullmatch(text) or "<" in text or ">" in text:
        return False
    ending = _ending(text)
    known_ending = ending in _ENDINGS or ending == _ending(known)
    return known_ending or text.rpartition("/")[2] in _WORDS or bool(_fault(text))


def _ending(path: str) -> str:
    name, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending if name and dot else ""


def write_path(path: str) -> str:
    """The path for a header line: unchanged if clearly a path, else as a JSON string."""
    return path if looks_like_path(path) and not path.startswith("./") else json.dumps(path)


def read_path(text: str) -> tuple[str, str] | None:
    """The path at the start of a header's text, and the rest; None if there is none.

    A JSON string, or everything up to ` (` or the end, without Markdown's marks, a colon at its end and `./`.
    """
    if text.startswith('"'):
        try:
            path, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return None
        return path, text[end:].strip()
    path, opening, rest = text.partition(" (")
    path = path.strip().rstrip(":").strip("*").strip("`").rstrip(":").removeprefix("./")
    return (path, f"({rest}".strip() if opening else "") if path else None


NOWHERE = "/dev/null"
_PAIRS = {"ba", "iw", "ci", "cw", "ow", "wi", "wc", "ic"}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


def quoted(path: str) -> str:
    """The path as git writes it: quoted if it holds a quote."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if escaped != path else path


def unquoted(text: str) -> str:
    """The path of a text in git's quotes; a text without quotes is the path. Bytes that are not UTF-8 stay lone
    surrogates, which no path may hold.
    """
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    raw = text[1:-1].encode("utf-8", "surrogatepass")
    return _ESCAPE.sub(_byte, raw).decode("utf-8", "surrogateescape")


def _byte(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([_LETTERS[code] if code in _LETTERS else int(code, 8) & 255])


def stripped(old: str, new: str) -> tuple[str, str]:
    """The two names without git's prefixes, if both have them; "" for `/dev/null`.

    `a/` and `b/` always go; those of diff.mnemonicPrefix and `-R` only before the same name.
    """
    fronts = old.partition("/"), new.partition("/")
    if fronts[0][0] + fronts[1][0] in _PAIRS and fronts[0][2] == fronts[1][2]:
        return fronts[0][2], fronts[1][2]
    if old.startswith(("a/", NOWHERE)) and new.startswith(("b/", NOWHERE)):
        old, new = old.removeprefix("a/"), new.removeprefix("b/")
    return (
        "" if old == NOWHERE else old.removeprefix("./"),
        "" if new == NOWHERE else new.removeprefix("./"),
    )


def prefixed(name: str, path: str) -> bool:
    """Whether a name is the path after one of git's prefixes, including those of diff.mnemonicPrefix."""
    return name[1:] == f"/{path}" and name[0] in "abciwo"


def git_names(text: str) -> tuple[str, str]:
    """The two names after `diff --git`; ("", "") if they differ and hold blanks: then other lines decide."""
    half, odd = divmod(len(text), 2)
    if odd and text[half] == " ":
        old, new = unquoted(text[:half]), unquoted(text[half + 1 :])
        if old.partition("/")[2] == new.partition("/")[2]:
            return stripped(old, new)
    parts = text.split(" ")
    return stripped(unquoted(parts[0]), unquoted(parts[1])) if len(parts) == 2 else ("", "")
