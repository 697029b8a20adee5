"""Header lines `### path (notes)` and fenced sections, which three formats share. Grammar: docs/edits.md."""

import re
from typing import NamedTuple

from strop.core.fences import FENCE_LINE, FenceReader, tag_of
from strop.edits.changes import MOST_CHANGES, Change, Delete, Rename
from strop.edits.lines import split
from strop.edits.paths import looks_like_path, read_path, write_path

_MARK = "###"
_MARKS = re.compile(r"[#*`~<>!\[\](){}\"',;|]+|//|--+")
_LABELS = frozenset(
    {"file", "filename", "path", "filepath", "in", "edit", "update", "modify", "title", "code"}
)


class Header(NamedTuple):
    """A header line: the path ("" = none), and the notes in parentheses after it."""

    path: str
    notes: tuple[str, ...]
    renamed_to: str | None = None


class FileSection(NamedTuple):
    """A fenced block, or a header that needs none: a file deleted or renamed."""

    header: Header | None
    text: str | None
    """The lines between the fences, verbatim; None without fences."""
    line: int
    """Of the header or else the opening fence, from 1."""
    closed: bool = True
    tag: str = ""
    """The language that the fence or else the header names, as `core.fences.tag_of` has it."""


def write_header(path: str, *notes: str) -> str:
    """A header line, without its end."""
    words = [_MARK, *([write_path(path)] if path else []), *([f"({', '.join(notes)})"] if notes else [])]
    return " ".join(words)


def renamed_to(path: str) -> str:
    """The note of a renamed file."""
    return f"renamed to {write_path(path)}"


def read_header(line: str) -> Header | None:
    """The header that a line is; None if it is none."""
    if not line.startswith(_MARK + " "):
        return None
    text = line[len(_MARK) :].strip()
    found = ("", text) if text.startswith("(") else read_path(text)
    if found is None:
        return None
    path, rest = found
    if not rest:
        return Header(path, ())
    if not (rest.startswith("(") and rest.endswith(")")):
        return None
    notes = rest[1:-1].strip()
    if notes.startswith("renamed to "):
        to = read_path(notes.removeprefix("renamed to ").strip())
        return Header(path, (), to[0]) if to and not to[1] else None
    return Header(path, tuple(note.strip() for note in notes.split(",")))


def moved(header: Header, line: int) -> Change | None:
    """The change that a header alone says: its file is deleted or renamed; None for other headers."""
    if header.renamed_to is not None:
        return Rename(header.path, header.renamed_to, at=line)
    return Delete(header.path, at=line) if header.notes == ("deleted",) else None


def fenced(text: str) -> str:
    """The text, whose lines all have ends, between fences that are longer than any that it holds."""
    inner = [line.lstrip(" ") for line in split(text)]
    longest = max((len(line) - len(line.lstrip("`")) for line in inner), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}{fence}\n"


def sections(text: str, *, fragments: bool) -> list[FileSection]:
    """The fenced blocks of a text in order, each with the header above it, blank lines allowed. Stops at too many.

    A header whose path is a plain word counts only if it is surely a path: headings of prose are not. The ending of
    its path is the language of a block that names none. `fragments` is as of `FenceReader`.
    """
    reader, found, at, number = FenceReader(text, fragments=fragments), list[FileSection](), 0, 1
    while at < len(text) and len(found) <= MOST_CHANGES:
        opening = reader.opening(at)
        end = opening.start if opening else len(text)
        header, line_of = None, 0
        for line in split(text[at:end]):
            if not line.isspace():
                header, line_of = sure_header(line) if line[0] == "#" else None, number
                if header and moved(header, number):
                    found.append(FileSection(header, None, number))
                    header = None
            number += 1
        if not opening:
            break
        if not opening.alone:
            header = None
        tag = opening.tag or (tag_of(header.path) if header else "")
        block = reader.block(opening._replace(tag=tag))
        if block.closed or block.end == len(text) or block.text.strip():
            found.append(FileSection(header, block.text, line_of if header else number, block.closed, tag))
        number += text.count("\n", opening.start, block.end)
        at = block.end
    return found


def sure_header(line: str) -> Header | None:
    """The header that a line is, if no heading of prose reads like it."""
    header = read_header(line.rstrip("\r\n"))
    if header is None or not header.path:
        return header
    quoted = line[len(_MARK) :].lstrip().startswith('"')
    return header if quoted or looks_like_path(header.path) else None


def named_file(line: str) -> str | None:
    """The path that a heading, a label or a fence names in another way than a header does; None where none does.

    `# b.py`, `File: b.py`, `**b.py**`, ```` ```python b.py ````: a word that is surely a path, and marks, label,
    language.
    """
    words = _MARKS.sub(" ", line).replace(":", " ").replace("=", " ").split()
    paths = [word for word in words if looks_like_path(word)]
    rest = [word for word in words if word not in paths]
    is_fence = FENCE_LINE.match(line) is not None
    if len(paths) != 1 or (len(rest) > 1 and not is_fence):
        return None
    labelled = not rest or rest[0].lower() in _LABELS or is_fence
    return paths[0].removeprefix("./") if labelled else None


def without_end(text: str, header: Header | None) -> tuple[str, tuple[str, ...]]:
    """A section's text, its last line end gone where the header notes it, and the notes that are left."""
    notes = header.notes if header else ()
    if "no newline" in notes:
        return text.removesuffix("\n"), tuple(note for note in notes if note != "no newline")
    return text, notes
