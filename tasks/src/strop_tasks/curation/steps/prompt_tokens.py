"""prompt-tokens: keeps tasks whose prompt has at most a given number of a model's tokens, as CodeRepairRL does."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from strop.config.model import ModelConfig
from strop_tasks.curation.engine.output import token_counter
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_verify.core.errors import UserError
from strop_verify.core.section import Section
from strop_verify.core.task import Task


class PromptTokensConfig(Section):
    """Settings of the step `prompt-tokens`."""

    most: int = Field(ge=1)
    """Maximum prompt tokens, chat template included."""
    model: ModelConfig = ModelConfig()
    """The model of the tokenizer, as in a recipe."""
    style: Literal["continue", "chat", "chat-prefilled"] = "chat"
    """How tasks are presented, as tasks.style in a recipe."""
    template: str | None = None
    """File with a prompt template that replaces the style's own."""


class PromptTokens(Step[PromptTokensConfig]):
    """Drops tasks whose prompt has too many tokens of a model."""

    def check(self) -> None:
        """Raises UserError if the template is missing."""
        for path in self.inputs():
            if not path.is_file():
                raise UserError(f"prompt-tokens: no such file {path}; name an existing file")

    def inputs(self) -> Sequence[Path]:
        """The file of the prompt template, if any."""
        return [Path(self.config.template)] if self.config.template else []

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Keeps tasks whose prompt fits; see `Step.run`."""
        config = self.config
        tokens = token_counter(config.model, config.style, config.template)
        for done, task in enumerate(read(), start=1):
            context.progress(done, context.size)
            if (count := tokens(task)) <= config.most:
                yield task
            else:
                yield drop(task, f"a prompt of more than {config.most} tokens", f"{count} tokens")
