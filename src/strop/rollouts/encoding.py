"""From what an environment says to token ids: the only place where a play's text becomes tokens."""

from collections.abc import Callable, Iterable, Sequence

from strop.core.errors import UserError
from strop.core.play import Opening
from strop.core.protocols import Environment, Tokenizer
from strop.core.rollout import Completion, Message
from strop.core.task import Task
from strop.core.user_code import environment_fault


def opening_ids(opening: Opening, tokenizer: Tokenizer) -> list[int]:
    """Tokens of the first prompt."""
    if opening.sections:
        parts = (
            [*tokenizer.mark(names), *(tokenizer.encode(text) if text else [])]
            for names, text in opening.sections
        )
        return [*tokenizer.encode_text(""), *(token for part in parts for token in part)]
    if not opening.messages:
        return tokenizer.encode_text(opening.text)
    head = tokenizer.encode_chat(opening.messages)
    return [*head, *tokenizer.encode(opening.prefill)] if opening.prefill else head


def turn_ids(
    opening: Opening,
    completion: Completion,
    messages: Sequence[Message],
    tokenizer: Tokenizer,
    prefill: str = "",
) -> list[int]:
    """Tokens between a completion and the next: the end of the turn, what is said, the start of the next turn."""
    if not opening.messages:
        return tokenizer.encode("\n".join(message.content for message in messages) + prefill)
    ended = completion.token_ids[-1] if completion.finish_reason == "eos" and completion.token_ids else None
    head = tokenizer.encode_turn(messages, ended=ended)
    return [*head, *tokenizer.encode(prefill)] if prefill else head


def first_prompt(task: Task, opening: Opening, tokenizer: Tokenizer, most: int) -> list[int]:
    """The prompt that a play begins with. Raises UserError where it has more than `most` tokens."""
    prompt = opening_ids(opening, tokenizer)
    if len(prompt) > most:
        raise UserError(
            f"task {task.id} ({task.source or task.family}): its prompt has {len(prompt)} tokens, more than "
            f"tasks.max_prompt_tokens={most}; raise the limit or leave the task out"
        )
    return prompt


def check_prompts(
    tasks: Iterable[Task], environment: Callable[[Task], Environment], tokenizer: Tokenizer, most: int
) -> int:
    """Tokens of the longest prompt. Raises UserError for the first task whose prompt has more than `most`. Prompts that
    are known only once their environment is set up are not looked at.
    """
    longest = 0
    for task in tasks:
        made = environment(task)
        if hasattr(made, "setup"):
            continue
        try:
            opening = made.begin()
        except Exception as error:
            raise environment_fault(made, task.id, "begin", error) from error
        if isinstance(opening, Opening):  # anything else is said when it is played
            longest = max(longest, len(first_prompt(task, opening, tokenizer, most)))
    return longest
