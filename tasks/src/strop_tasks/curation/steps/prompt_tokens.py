"""prompt-tokens: keeps tasks whose prompt fits, counted in a model's tokens; CodeRepairRL leaves out longer ones so."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from strop.config.model import ModelConfig
from strop.rollouts.encoding import opening_ids
from strop.tasks.prompts import render
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_verify.core.errors import UserError
from strop_verify.core.play import Opening
from strop_verify.core.section import Section
from strop_verify.core.task import Task


class PromptTokensConfig(Section):
    """Settings of prompt-tokens."""

    most: int = Field(ge=1)
    """Longest prompt that is kept, with what the model's chat template adds."""
    model: ModelConfig = ModelConfig()
    """Whose tokens, as in a recipe."""
    style: Literal["continue", "chat", "chat-prefilled"] = "chat"
    """How tasks are put, as tasks.style in a recipe."""
    template: str | None = None
    """File with a prompt template that replaces the style's own."""


class PromptTokens(Step[PromptTokensConfig]):
    """Drops tasks whose prompt has too many tokens of a model."""

    def check(self) -> None:
        """Raises UserError where the template is missing."""
        for path in self.inputs():
            if not path.is_file():
                raise UserError(f"prompt-tokens: no such file {path}; name an existing file")

    def inputs(self) -> Sequence[Path]:
        """The prompt template."""
        return [Path(self.config.template)] if self.config.template else []

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`."""
        from strop.config.schema import Recipe
        from strop.policies.open import tokenizer_of

        config = self.config
        tokenizer = tokenizer_of(Recipe(model=config.model))
        for done, task in enumerate(read(), start=1):
            context.progress(done, context.size)
            asked = render(task, config.style, config.template)
            opening = Opening(asked.text, tuple(asked.messages), asked.prefill, sections=asked.sections)
            count = len(opening_ids(opening, tokenizer))
            if count <= config.most:
                yield task
            else:
                yield drop(task, f"a prompt of more than {config.most} tokens", f"{count} tokens")
