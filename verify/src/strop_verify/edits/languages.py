"""The language of a file by its extension, and of a diff by the files that it changes."""

import re
from collections import Counter

_FILE = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)
_GONE = re.compile(r"^--- (?:a/)?(\S+)", re.MULTILINE)
LANGUAGES = {
    "py": "python", "pyx": "python", "rs": "rust", "go": "go", "java": "java", "js": "javascript", "jsx": "javascript",
    "ts": "typescript", "tsx": "typescript", "c": "c", "h": "c", "cc": "c++", "cpp": "c++", "hpp": "c++", "rb": "ruby",
    "php": "php", "cs": "c#", "kt": "kotlin", "swift": "swift", "scala": "scala",
}  # fmt: skip
"""Languages by file extension."""


def language_of(patch: str) -> str:
    """The language of most of the files that a diff changes; "python" if no extension is known."""
    names = [*_FILE.findall(patch), *_GONE.findall(patch)]
    found = Counter(LANGUAGES.get(name.rpartition(".")[2].lower(), "") for name in names)
    del found[""]
    return found.most_common(1)[0][0] if found else "python"
