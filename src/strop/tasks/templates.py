"""Templates of prompts, filled with a task's values, and the kinds of prompt made from them.

A template is text with {placeholders}, filled without executing anything. A value with several lines is indented as far
as the line of its placeholder. If a value is empty, a line that holds nothing else is removed, with the heading above
it that ends in a colon. `{{name}}` means the text `{name}`; other braces are text. A line `[system]`, `[user]` or
`[assistant]` starts a chat message.

A prompt never ends in white space: tokenisers join a newline with the indentation after it, and a prompt that cuts
that token in two puts the model into a state that it never saw in training (pass@1 fell from 0.31 to 0.00).
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypedDict

from pydantic import Field

from strop.tasks.answers import extract_code, until_fence, without_thinking
from strop.tasks.names import made_in, names_of
from strop.tasks.rows import suggestion
from strop_verify.code.python.source import under
from strop_verify.core.errors import UserError
from strop_verify.core.records import Record
from strop_verify.core.rollout import Message
from strop_verify.core.task import Task

PLACEHOLDERS = (
    "statement", "signature", "examples", "tests", "broken", "message", "stub", "language", "choices", "hole", "files",
    "rule", "header", "where",
)  # fmt: skip
"""`tests` are a task's trusted tests; `broken` and `message` come from the metadata of a repair task, `stub` is the
file that an exercise starts from, `choices` are labels, `hole` is code with a mark to fill in; for edit tasks, `files`
are the files and `rule` says how to write the edit (in it, `header` and `where` refer to its file)."""

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
    """The text of a user's template, or of a packaged one by its name. Raises UserError for unknown placeholders."""
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
    """The template with its placeholders replaced, without trailing white space."""
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
    """The template's sections as messages; one user message if it has none."""
    parts = _SECTION.split(template)
    sections = list(zip(parts[1::2], parts[2::2], strict=True)) if len(parts) > 1 else [("user", template)]
    return [Message.model_validate({"role": role, "content": fill(body, values)}) for role, body in sections]


def values(task: Task) -> dict[str, str]:
    """The values of a template's placeholders."""
    statement, hole = task.statement or task.prompt or "", around_hole(task)
    return {
        "statement": statement.strip(),
        "signature": task.signature.rstrip(),
        "examples": examples(task),
        "tests": task.check.test_code().strip(),
        "stub": str(task.metadata.get("stub") or task.signature).strip("\n"),
        "language": task.language,
        "choices": _choices(task),
        "hole": "<FILL>".join(hole).strip("\n") if hole else "",
        **{name: str(task.metadata.get(name, "")).strip("\n") for name in ("broken", "message")},
    }


def examples(task: Task) -> str:
    """The shown cases as doctests, as a program's input and output, or as Rust; "" if there are none."""
    return task.check.examples(task.metadata.get("examples", ()))


def around_hole(task: Task) -> tuple[str, str] | None:
    """The code before and after the hole to fill; None for tasks of other families."""
    prefix, suffix = task.metadata.get("prefix"), task.metadata.get("suffix")
    return (prefix, suffix) if isinstance(prefix, str) and isinstance(suffix, str) else None


def _choices(task: Task) -> str:
    """One label per line, with its meaning if the metadata has it."""
    meanings = task.metadata.get("choices")
    known = meanings if isinstance(meanings, dict) else {}
    return "\n".join(f"- {c}: {known[c]}" if c in known else f"- {c}" for c in task.check.labels())


class Prompt(Record):
    """The input of a policy: either `text`, or `messages` and the `prefill` with which its answer begins."""

    text: str = ""
    messages: list[Message] = Field(default_factory=list)
    prefill: str = ""
    """Start of the assistant's message; the completion continues it."""
    stop: tuple[str, ...] = ()
    """Stop strings that fit the style."""
    head: str = ""
    """Code before the completion: what it continues, or imports and helpers that it may leave out."""
    language: str = ""
    """Language of the answer; "" if it is not code."""
    names: tuple[str, ...] = ()
    """Names that the answer must define, as far as is known."""
    sections: tuple[tuple[tuple[str, ...], str], ...] = ()
    """The parts of `text`, as in `core.play.Opening`."""

    @abstractmethod
    def assemble(self, completion: str) -> str:
        """The complete code to verify, from the completion's text."""


class ContinuePrompt(Prompt):
    """Text that ends inside a function, or above a program; the completion is the rest of the code."""

    def assemble(self, completion: str) -> str:
        """The function's start, if any, followed by the completion; a completion that starts over stands alone."""
        return begun_anew(self, completion) or self.head + completion


class ChatPrompt(Prompt):
    """A question whose answer holds a fenced block."""

    def assemble(self, completion: str) -> str:
        """The answer's code below the imports and helpers of the signature; "" if it has no code."""
        code = extract_code(completion, self.language, self.names)
        return under(self.head, code) if self.head and code.strip() else code


class TextPrompt(Prompt):
    """A question whose answer is text, not code."""

    def assemble(self, completion: str) -> str:
        """The answer without the reasoning before it."""
        return without_thinking(completion)


class PrefilledPrompt(Prompt):
    """A question with the start of the answer: an open fence and the signature, if the task has one."""

    def assemble(self, completion: str) -> str:
        """The signature and the completion up to the end of the fenced block; one that starts over stands alone."""
        return begun_anew(self, completion) or self.head + until_fence(completion, self.language)


class CodeFields(TypedDict):
    """What a prompt knows about the requested code."""

    language: str
    names: tuple[str, ...]


def code_fields(task: Task) -> CodeFields:
    """The fields of a prompt that asks for code."""
    return {"language": task.language, "names": names_of(task)}


_ANEW = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*\w|(?:[ \t]*\r?\n)*(?P<margin>[^\s`~])")


def begun_anew(prompt: Prompt, completion: str) -> str:
    """The code of a completion that starts over instead of continuing, below what precedes the prompt's function.

    Such a completion opens a block or begins at the margin, and defines the requested names; "" for any other.
    """
    start = _ANEW.match(completion) if prompt.language else None
    if start is None or (start["margin"] and not prompt.names):
        return ""
    code = extract_code(completion, prompt.language, prompt.names)
    if prompt.names and made_in(code, prompt.language).isdisjoint(prompt.names):
        return ""
    above = above_last(prompt.head) if prompt.language == "python" else ""
    return under(above, code) if above else code


def above_last(code: str) -> str:
    """Imports and helpers above the last top-level function or class."""
    position = max(code.rfind(f"\n{word} ") for word in ("def", "class"))
    return code[:position].rstrip() if position > 0 else ""
