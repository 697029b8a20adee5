"""Demonstrations: multi-turn plays as conversations, one JSON object per line, for a warm start.

    {"task_id": "...", "messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}, ...]}

`messages` is the form that other trainers read. A play whose first prompt is plain text has it as `prompt`, and its
messages begin with the assistant's; `prefill` is the start of the first answer in its prompt, `begun` of later ones.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.play import Opening
from strop_verify.core.records import Record
from strop_verify.core.rollout import Message


class Demo(Record):
    """One play that solved its task; the last message is the assistant's."""

    task_id: str
    prompt: str = Field(default="", exclude_if=lambda text: not text)
    prefill: str = Field(default="", exclude_if=lambda text: not text)
    messages: list[Message]
    begun: list[str] = Field(default_factory=list, exclude_if=lambda texts: not texts)
    """The starts of the second answer, the third, ... that their prompts contain; empty if there are none."""

    def opening(self) -> Opening:
        """The first prompt, as text or messages."""
        head = self.messages[: self._answers()[0]]
        return Opening(text=self.prompt, messages=tuple(head), prefill=self.prefill)

    def turns(self) -> Iterator[tuple[str, list[Message]]]:
        """Each answer and the messages after it; none after the last."""
        places = self._answers()
        for at, following in zip(places, [*places[1:], len(self.messages)], strict=True):
            yield self.messages[at].content, self.messages[at + 1 : following]

    def _answers(self) -> list[int]:
        return [at for at, message in enumerate(self.messages) if message.role == "assistant"]


def read_demos(path: Path) -> list[Demo]:
    """The demonstrations of a file. Raises UserError for one that cannot be read or holds none, and for a bad line."""
    if not path.is_file():
        raise UserError(f"sft.demos={str(path)!r}: no such file; make one with strop build demos")
    demos = []
    for number, line in enumerate(files.read_jsonl(path), start=1):
        try:
            demo = Demo.model_validate(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UserError(f"{path}:{number}: not a demonstration: {where}: {first['msg']}") from None
        if not demo.messages or demo.messages[-1].role != "assistant":
            raise UserError(f"{path}:{number}: not a demonstration: its last message is not the assistant's")
        demos.append(demo)
    if not demos:
        raise UserError(f"{path} holds no demonstration; make some with strop build demos")
    return demos
