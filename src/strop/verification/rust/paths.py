"""Paths in Rust source, read from its text."""

import re


def rest_of_path(data: bytes, end: int) -> str:
    """The text behind a name, white space and comments left out, up to the end of its statement."""
    text = data[end : end + 2000].decode(errors="replace")
    return re.sub(r"//[^\n]*|/\*.*?\*/|\s+", "", text, flags=re.S).partition(";")[0]


def first_names(group: str) -> set[str]:
    """First names of the paths in a braced list, nested lists left out."""
    names, depth, start = set(), 0, 0
    for position, char in enumerate(group + ","):
        if (char == "," and depth == 0) or (char == "}" and depth == 0):
            names.add(re.split(r"::|as", group[start:position], maxsplit=1)[0].removeprefix("r#"))
            start = position + 1
            if char == "}":
                break
        depth += (char == "{") - (char == "}")
    return names
