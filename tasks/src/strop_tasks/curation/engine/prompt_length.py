"""The length of a task's prompt in a model's tokens."""

from collections.abc import Callable

from strop.config.model import ModelConfig
from strop_verify.core.play import Opening
from strop_verify.core.task import Task


def token_counter(
    model: ModelConfig, style: str = "chat", template: str | None = None
) -> Callable[[Task], int]:
    """Counts the tokens of a task's prompt, with what the model's chat template adds. Raises UserError."""
    from strop.config.schema import Recipe
    from strop.policies.open import tokenizer_of
    from strop.rollouts.encoding import opening_ids
    from strop.tasks.prompts import render

    tokenizer = tokenizer_of(Recipe(model=model))

    def count(task: Task) -> int:
        asked = render(task, style, template)
        opening = Opening(asked.text, tuple(asked.messages), asked.prefill, sections=asked.sections)
        return len(opening_ids(opening, tokenizer))

    return count
