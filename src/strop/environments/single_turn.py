"""One question, one answer, one verdict."""

from collections.abc import Callable
from functools import cache

from strop.config.schema import Recipe
from strop.core.protocols import Tokenizer
from strop.core.rollout import Completion
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.tasks.prompt import Prompt
from strop.tasks.prompts import render
from strop.tasks.rust_prompts import AnswerForm


class SingleTurn:
    """Puts the task's prompt and takes the first completion as the answer. Single use."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt

    @property
    def text(self) -> str:
        """The prompt as text, for readers."""
        said = "".join(f"<{m.role}>\n{m.content}\n" for m in self._prompt.messages)
        return self._prompt.text or f"{said}<assistant>\n{self._prompt.prefill}"

    @property
    def stop(self) -> tuple[str, ...]:
        """Stop strings that suit the prompt's style."""
        return self._prompt.stop

    def prompt(self, tokenizer: Tokenizer) -> list[int]:
        """Tokens of the prompt."""
        if self._prompt.messages:
            head = tokenizer.encode_chat(self._prompt.messages)
            return [*head, *tokenizer.encode(self._prompt.prefill)] if self._prompt.prefill else head
        return tokenizer.encode(self._prompt.text)

    def answer(self, completion: Completion) -> str:
        """The code to verify."""
        return self._prompt.assemble(completion.text)

    def observe(
        self, completion: Completion, verdict: Verdict | None, tokenizer: Tokenizer
    ) -> list[int] | None:
        """None: the play is over after one turn."""
        return None


def played_by(recipe: Recipe, style: str | None = None) -> Callable[[Task], SingleTurn]:
    """How a recipe's tasks are played; `style` takes the place of tasks.style."""
    return single_turn(style or recipe.tasks.style, recipe.tasks.template, recipe.tasks.answer)


def single_turn(
    style: str, template: str | None = None, answer: AnswerForm = "function"
) -> Callable[[Task], SingleTurn]:
    """A factory of single-turn environments in one prompt style, or with a template file of the user's own."""

    @cache
    def rendered(task_id: str) -> Prompt:
        return render(by_id[task_id], style, template, answer)

    by_id: dict[str, Task] = {}

    def make(task: Task) -> SingleTurn:
        by_id[task.id] = task
        return SingleTurn(rendered(task.id))

    return make
