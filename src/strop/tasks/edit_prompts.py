"""Prompts of tasks whose answer is an edit: the files, the request, and how to write the edit.

Templates: `chat-edit-FAMILY`, else `chat-edit`, and the same with `continue-`. In them `{files}` are the files, each
below a line `### PATH`, with line numbers if the format needs them; `{rule}` is the format's rule, `edit-FORMAT`. A
template that names the tag `<solution>` or `<answer>` asks for a thought in `<think>` before the edit.

The answer is the whole text, including its start in the prompt: the format's parser finds the edit in it. Styles
"chat-prefilled" and "continue" begin it as far as the format alone determines it, and end at the closing fence if the
prompt asks for a single block. The prompt does not depend on the oracle.
"""

from collections.abc import Callable

from strop.tasks import templates
from strop.tasks.templates import Prompt, values
from strop_verify.core.checks import EditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, HOLE, EditError
from strop_verify.edits.fenced_sections import fenced

_TAGS = {"py": "python", "rs": "rust", "c": "c", "h": "c", "js": "javascript", "ts": "typescript", "go": "go"}
"""{file extension: word after the fence}."""
_NAMED = {"swe-rl"}
"""Families whose edits name the file even if there is only one, as the published form requires."""


class EditPrompt(Prompt):
    """A prompt that asks for an edit. `head` is the start of the answer that the prompt contains."""

    fence: str = ""
    """Closes the block that the prompt has opened; "" if it has opened none."""
    tag: str = ""
    """The tag to put the edit in, after a thought; "": the edit alone."""
    named: bool = False
    """Whether the edit names its file, even if there is only one."""

    def assemble(self, completion: str) -> str:
        """The whole answer; closes the block that the prompt has opened."""
        if not self.fence:
            return self.head + completion
        return f"{self.head}{completion.partition(chr(10) + self.fence)[0]}\n{self.fence}\n"


def _chat(task: Task, template: str | None) -> EditPrompt:
    text = template or _packaged(task, "chat-edit")
    named = _named(task, text)
    return EditPrompt(messages=templates.messages(text, _values(task, named)), tag=_tag(text), named=named)


def _prefilled(task: Task, template: str | None) -> EditPrompt:
    prompt = _chat(task, template)
    head, fence = _begun(task, prompt.tag, prompt.named)
    update = {"prefill": head, "head": head, "fence": fence, "stop": (f"\n{fence}",) if fence else ()}
    return prompt.model_copy(update=update)


def _continue(task: Task, template: str | None) -> EditPrompt:
    text = template or _packaged(task, "continue-edit")
    named = _named(task, text)
    head, fence = _begun(task, _tag(text), named)
    return EditPrompt(
        text=f"{templates.fill(text, _values(task, named))}\n\n{head}",
        head=head,
        fence=fence,
        stop=(f"\n{fence}",) if fence else (),
        tag=_tag(text),
        named=named,
    )


def solution(task: Task, prompt: Prompt) -> str:
    """The ideal answer: the oracle's edit without the start that is in the prompt.

    A thought is `metadata["thought"]`, or a line that says where the change is. "" without an oracle, or if its edit
    cannot begin as the prompt does (a deleted file, fences longer than any in the files).
    """
    tag, named = (prompt.tag, prompt.named) if isinstance(prompt, EditPrompt) else ("", _named(task, ""))
    try:
        edit = _written(_check(task), named).rstrip("\n")
    except EditError:
        return ""
    if tag:
        edit = f"<think>\n{_thought(task)}\n</think>\n<{tag}>\n{edit}\n</{tag}>"
    return edit.removeprefix(prompt.head) if edit.startswith(prompt.head) else ""


def reference(check: EditCheck) -> str:
    """The oracle's edit as the format writes it; "" if there is no oracle or it changes nothing."""
    try:
        return FORMATS[check.format].render(check.files, _after(check))
    except EditError:
        return ""


def _check(task: Task) -> EditCheck:
    if task.edit is None or task.edit.format not in FORMATS:
        kind = task.edit.format if task.edit else task.check.kind
        raise UserError(f"task {task.id!r} asks for an edit as {kind!r}: there are {', '.join(FORMATS)}")
    return task.edit


def _after(check: EditCheck) -> dict[str, str]:
    return {path: text for path, text in {**check.files, **check.oracle}.items() if text is not None}


def _packaged(task: Task, style: str) -> str:
    """The family's template, unless it describes a format other than the task's; else the template for all edits."""
    own = templates.packaged_for(style, task.family)
    fits = own and ("{rule}" in own or _check(task).format == "search-replace")
    return own if own and fits else templates.packaged(style)


def _tag(template: str) -> str:
    return next((tag for tag in ("solution", "answer") if f"<{tag}>" in template), "")


def _named(task: Task, template: str) -> bool:
    return len(_check(task).files) != 1 or task.family in _NAMED or "\n### PATH\n" in template


def _values(task: Task, named: bool) -> dict[str, str]:
    """The values of a template's placeholders; the examples are those that the judge shows."""
    check = _check(task)
    shown = task.model_copy(update={"check": check.effective()})
    own = {
        "files": _files(check),
        "header": "### PATH" if named else "",
        "where": "PATH " if named else "",
    }
    rule = templates.packaged(f"edit-{check.format}" if not _spans(check) else "edit-infill-span")
    return {**values(shown), **own, "rule": templates.fill(rule, own)}


def _files(check: EditCheck) -> str:
    numbered = check.format == "line-range" or _spans(check)
    return "\n\n".join(
        f"### {path}\n{_fenced(_numbered(text) if numbered else text, path)}".rstrip()
        for path, text in check.files.items()
    )


def _fenced(text: str, path: str) -> str:
    body = text if text.endswith("\n") or not text else text + "\n"
    fence, _, rest = fenced(body).partition("\n")
    return f"{fence}{_word(path)}\n{rest}"


def _word(path: str) -> str:
    return _TAGS.get(path.rpartition(".")[2], "")


def _numbered(text: str) -> str:
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    width = len(str(len(lines)))
    return "".join(f"{number:>{width}}| {line}\n" for number, line in enumerate(lines, start=1))


def _spans(check: EditCheck) -> bool:
    """Whether an infill edit must say where its hole is."""
    return check.format == "infill" and sum(text.count(HOLE) for text in check.files.values()) != 1


def _fence(check: EditCheck) -> str:
    return fenced("".join(text + "\n" for text in check.files.values())).partition("\n")[0]


def _one_block(check: EditCheck) -> bool:
    """Whether the answer is a single fenced text, for the only file."""
    return check.format == "whole-file" or (check.format == "infill" and not _spans(check))


def _begun(task: Task, tag: str, named: bool) -> tuple[str, str]:
    """(the start that every well-formed answer has, the fence that ends it). The start never ends in white space."""
    check = _check(task)
    if tag:
        return "<think>", ""
    if named:
        head = {"search-replace": "```\n###", "unified-diff": "```diff\ndiff --git"}
        return head.get(check.format, "###"), "```" if check.format == "unified-diff" else ""
    ((path, text),) = check.files.items()
    fence = _fence(check)
    if check.format == "search-replace":
        return f"{fence}\n<<<<<<< SEARCH", fence
    if check.format == "unified-diff":
        return f"```diff\n--- a/{path}\n+++ b/{path}\n@@", "```"
    if _one_block(check):
        is_open = check.format == "whole-file" and bool(text) and not text.endswith("\n")
        return ("### (no newline)\n" if is_open else "") + fence + _word(path), fence
    return "### (", ""


def _written(check: EditCheck, named: bool) -> str:
    """The oracle's edit in the form that `_begun` begins."""
    before, after = dict(check.files), _after(check)
    if named and len(before) == 1:  # an unchanged second file makes the format name the files
        other = next(iter(before)) + ".other"
        before, after = {**before, other: "\n"}, {**after, other: "\n"}
    text = FORMATS[check.format].render(before, after)
    if check.format == "unified-diff":
        return f"```diff\n{text if named else text.partition(chr(10))[2]}```\n"
    if named or not (check.format == "search-replace" or _one_block(check)):
        return text
    header, mark, rest = text.partition("```")
    tail = rest.lstrip("`")
    own, fence = mark + "`" * (len(rest) - len(tail)), _fence(check)
    if len(own) > len(fence) or not tail.endswith(f"\n{own}\n"):
        return text
    word = "" if check.format == "search-replace" else _word(next(iter(check.files)))
    return f"{header}{fence}{word}{tail.removesuffix(own + chr(10))}{fence}\n"


def _thought(task: Task) -> str:
    own = task.metadata.get("thought")
    if isinstance(own, str) and own.strip():
        return own.strip()
    paths = sorted(_check(task).oracle)
    return f"The change belongs in {', '.join(paths)}."


STYLES: dict[str, Callable[[Task, str | None], EditPrompt]] = {
    "continue": _continue,
    "chat": _chat,
    "chat-prefilled": _prefilled,
}
"""Prompt styles by name, as in `strop.tasks.prompts.STYLES`."""
