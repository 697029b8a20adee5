"""File names in a diff: git's quotes, its prefixes `a/` and `b/`, and `/dev/null`."""

import re

NOWHERE = "/dev/null"
_PAIRS = {"ba", "iw", "ci", "cw", "ow", "wi", "wc", "ic"}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


def quoted(path: str) -> str:
    """The path as git writes it: in quotes where it holds one."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if escaped != path else path


def unquoted(text: str) -> str:
    """The path that a text in git's quotes means; a text without quotes is the path. Bytes that are not UTF-8 stay lone
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

    `a/` and `b/` are taken off in any case; those of diff.mnemonicPrefix and `-R` only in front of the same name.
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
    """Whether a name is the path behind one of git's prefixes, those of diff.mnemonicPrefix among them."""
    return name[1:] == f"/{path}" and name[0] in "abciwo"


def git_names(text: str) -> tuple[str, str]:
    """The two names behind `diff --git`; ("", "") where they differ and hold blanks, so that other lines must tell."""
    half, odd = divmod(len(text), 2)
    if odd and text[half] == " ":
        old, new = unquoted(text[:half]), unquoted(text[half + 1 :])
        if old.partition("/")[2] == new.partition("/")[2]:
            return stripped(old, new)
    parts = text.split(" ")
    return stripped(unquoted(parts[0]), unquoted(parts[1])) if len(parts) == 2 else ("", "")
