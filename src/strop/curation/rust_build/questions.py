"""What the model is asked, and the key by which a paid response is known again.

A prompt costs one call to be rewritten for Rust, and one for each answer that is asked for.
"""

from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from strop.core.ids import content_hash, derive_seed
from strop.curation.rust_build.settings import RustBuildSettings
from strop.policies.paid.calls import Question
from strop.tasks import templating

Stage = Literal["rewrite", "solve"]
STAGES: tuple[Stage, ...] = ("rewrite", "solve")
MOST_OUTPUT = 3_000
"""Characters of compiler output shown to the model."""


class FailedAnswer(NamedTuple):
    """Why an answer was not kept, as the model is told."""

    answer: str
    """The whole response."""
    reason: str
    output: str


@cache
def template(name: str) -> str:
    """The text of one of the templates."""
    return (
        resources.files("strop.curation.rust_build").joinpath("templates", f"{name}.txt").read_text("utf-8")
    )


def templates_hash() -> str:
    """A hash of all texts that ask."""
    return content_hash([template(name) for name in ("rewrite", "solve", "repair")])


def rewrite(settings: RustBuildSettings, prompt_id: str, statement: str) -> Question:
    """Asks for the prompt in a form for Rust."""
    return _question(settings, "rewrite", 1, prompt_id, _messages("rewrite", statement=statement), "")


def solve(
    settings: RustBuildSettings, prompt_id: str, statement: str, faults: list[FailedAnswer]
) -> Question:
    """Asks for function and tests; after `faults`, the newest last, for another answer.

    The key holds the answers that were wrong but not what compilers said of them, which may differ from one machine
    to the next: a call that is paid stays paid.
    """
    messages = _messages("solve", statement=statement)
    for fault in faults[-1:]:
        messages.append({"role": "assistant", "content": fault.answer})
        messages += _messages("repair", reason=fault.reason, output=fault.output[:MOST_OUTPUT])
    earlier = content_hash([fault.answer for fault in faults]) if faults else ""
    return _question(settings, "solve", len(faults) + 1, prompt_id, messages, earlier)


def _messages(name: str, **values: str) -> list[dict[str, str]]:
    return [{"role": m.role, "content": m.content} for m in templating.messages(template(name), values)]


def _question(
    settings: RustBuildSettings,
    stage: Stage,
    attempt: int,
    prompt_id: str,
    messages: list[dict[str, str]],
    earlier: str,
) -> Question:
    seed = derive_seed(settings.seed, stage, prompt_id, attempt) % 2**31
    first: Any = messages[:2]
    parts = [settings.model, settings.temperature, settings.max_tokens, seed, stage, attempt, first, earlier]
    return Question(content_hash(parts, length=32), stage, attempt, prompt_id, seed, messages)
