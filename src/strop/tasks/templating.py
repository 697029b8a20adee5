"""Template files: text with {placeholders}, filled without executing anything.

A value with several lines is indented as far as the line of its placeholder. If a value is empty, a line that holds
nothing else is removed, with the heading above it that ends in a colon. `{{name}}` means the
text `{name}`; other braces are text. A line `[system]`, `[user]` or `[assistant]` starts a chat message.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from strop.core.errors import UserError
from strop.core.rollout import Message
from strop.tasks.rows import suggestion

PLACEHOLDERS = (
    "statement", "signature", "examples", "tests", "broken", "message", "stub", "language", "choices", "hole", "files",
    "rule", "header", "where",
)  # fmt: skip
"""`tests` are a task's trusted tests; `broken` and `message` come from the metadata of a task to repair, `stub` is the
file that an exercise starts from, `choices` are labels, `hole` is code with a mark to fill in; of tasks to edit
`files` are the files, and `rule` says how the edit is written (in it, `header` and `where` refer to its file)."""

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{([A-Za-z_]\w*)\}")
_SECTION = re.compile(r"^\[(system|user|assistant)\][ \t]*\n", re.MULTILINE)


@cache
def packaged(name: str) -> str:
    """The text of a template that comes with Strop."""
    return resources.files("strop.tasks").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")


def packaged_for(style: str, family: str) -> str | None:
    """The packaged template of a task family, or None."""
    name = f"{style}-{family}"
    return packaged(name) if _is_packaged(name) else None


def _is_packaged(name: str) -> bool:
    return resources.files("strop.tasks").joinpath("templates", f"{name}.txt").is_file()


def load(path: str | Path) -> str:
    """The text of a user's template, or of a packaged one by its bare name. UserError for unknown placeholders."""
    file = Path(path).expanduser()
    if str(path) == file.stem and not file.exists() and _is_packaged(file.name):
        return packaged(file.name)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UserError(f"cannot read the prompt template {file}: {cause}") from error
    if not text.strip():
        raise UserError(f"the prompt template {file} is empty")
    for match in _PLACEHOLDER.finditer(text):
        name = match[2]
        if name is not None and name not in PLACEHOLDERS:
            listed = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
            line = text.count("\n", 0, match.start()) + 1
            raise UserError(
                f"{file}:{line}: unknown placeholder {{{name}}}{suggestion(name, PLACEHOLDERS)}: there are {listed}; "
                f"write {{{{{name}}}}} for the text itself"
            )
    return text


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its placeholders replaced, without white space at its end."""
    for name in PLACEHOLDERS:
        if not values.get(name):
            lonely = rf"(?:^[^\n{{}}]*:[ \t]*\n\n)?^[ \t]*\{{{name}\}}[ \t]*(?:\n\n?|\Z)"
            template = re.sub(lonely, "", template, flags=re.MULTILINE)

    def value(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"{{{match[1]}}}"
        line = template[template.rfind("\n", 0, match.start()) + 1 : match.start()]
        indent = line[: len(line) - len(line.lstrip())]
        return re.sub(r"\n(?=[^\n])", "\n" + indent, values.get(match[2], match[0]))

    return _PLACEHOLDER.sub(value, template).rstrip()


def messages(template: str, values: Mapping[str, str]) -> list[Message]:
    """The template's sections as messages; one user message when it has none."""
    parts = _SECTION.split(template)
    sections = list(zip(parts[1::2], parts[2::2], strict=True)) if len(parts) > 1 else [("user", template)]
    return [Message.model_validate({"role": role, "content": fill(body, values)}) for role, body in sections]
