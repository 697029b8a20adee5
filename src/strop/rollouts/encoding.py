"""Encodes the messages of environments: the only place where a play's text becomes tokens."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from strop.policies.tokenizer import HubTokenizer
from strop.tasks.demos import Demo
from strop_verify.core.errors import UserError
from strop_verify.core.play import Converse, Opening
from strop_verify.core.protocols import Environment, Tokenizer
from strop_verify.core.rollout import Completion, Message, Turn, TurnTokens, end_to_end
from strop_verify.core.task import Task
from strop_verify.core.user_code import environment_fault


def opening_ids(opening: Opening, tokenizer: Tokenizer) -> list[int]:
    """Token ids of the first prompt."""
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


def begun_ids(converse: Converse, tokenizer: Tokenizer) -> list[int]:
    """Token ids of the given beginning of the answer to a conversation."""
    text = converse.prefill.removeprefix(converse.mark)
    mark = tokenizer.mark([converse.mark]) if converse.mark else []
    return [*mark, *(tokenizer.encode(text) if text else [])]


def turn_ids(
    opening: Opening,
    completion: Completion,
    messages: Sequence[Message],
    tokenizer: Tokenizer,
    prefill: str = "",
) -> list[int]:
    """Token ids between a completion and the next one: end of turn, the messages, start of the next turn."""
    if not opening.messages:
        return tokenizer.encode("\n".join(message.content for message in messages) + prefill)
    ended = completion.token_ids[-1] if completion.finish_reason == "eos" and completion.token_ids else None
    head = tokenizer.encode_turn(messages, ended=ended)
    return [*head, *tokenizer.encode(prefill)] if prefill else head


def demo_turns(demo: Demo, tokenizer: HubTokenizer) -> list[TurnTokens]:
    """A demonstration as the tokens that a play of it would have had."""
    opening = demo.opening()
    given = opening_ids(opening, tokenizer)
    end = tokenizer.turn_end if opening.messages else tokenizer.text_end
    opens, turns = bool(opening.messages) and not opening.prefill, list[TurnTokens]()
    for number, (text, said) in enumerate(demo.turns()):
        ids = [*tokenizer.encode(text, opens=opens), *end]
        turns.append((given, ids))
        whole = Completion(token_ids=ids, logprobs=[0.0] * len(ids), text=text, finish_reason="eos")
        begun = demo.begun[number] if number < len(demo.begun) else ""
        given = turn_ids(opening, whole, said, tokenizer, begun) if said else []
        opens = bool(opening.messages) and not begun
    return turns


def demo_misfit(demo: Demo, tokenizer: HubTokenizer, prompt: int, answer: int, play: int | None) -> str:
    """Why a demonstration exceeds these limits in tokens, "" if it does not. As in the dispatcher, each answer but the
    first needs room for `answer` tokens, and no answer is longer.
    """
    before = 0
    for number, (given, said) in enumerate(demo_turns(demo, tokenizer)):
        before += len(given)
        if not number and before > prompt:
            return f"a prompt of more than tasks.max_prompt_tokens={prompt}"
        if play is not None and before + (answer if number else 1) > play:
            return f"a play that play.max_tokens={play} has no room for"
        if len(said) > answer:
            return f"an answer of more than sampling.max_tokens={answer}"
        before += len(said)
    return ""


@dataclass
class ExternalHistory:
    """The prompts of one play whose history an external client keeps."""

    asked: list[tuple[Message, ...] | str] = field(default_factory=list)
    """The prompt of each turn, including the one that awaits its completion."""
    begun: list[str] = field(default_factory=list)
    """The unsampled beginning of each answer."""

    def place(self, converse: Converse, turns: Sequence[Turn], tokenizer: Tokenizer) -> tuple[int, list[int]]:
        """(row, its new tokens) of a prompt after these turns.

        The longest earlier exchange (with its answer) that the prompt begins with is not encoded again. The prompt
        continues that row if the exchange was its last turn, else a new row that begins with the same tokens. If the
        chat template would now write the exchange differently (without earlier thoughts), everything is encoded in a
        new row. Raises ValueError if the chat template refuses the conversation.
        """
        asked, begun = converse.messages or converse.text, begun_ids(converse, tokenizer)
        last = {turn.row: number for number, turn in enumerate(turns)}
        known = [number for number, turn in enumerate(turns) if self._begins(asked, number, turn)]
        best = max(known, key=lambda n: (len(self.asked[n]), last[turns[n].row] == n, n), default=None)
        more = None if best is None else _more(asked, self.asked[best], turns[best], tokenizer)
        self.asked.append(asked)
        self.begun.append(converse.prefill)
        if best is None or more is None:
            whole = tokenizer.encode_text(asked) if isinstance(asked, str) else tokenizer.encode_chat(asked)
            return len(last), [*whole, *begun]
        row = turns[best].row
        if last[row] == best:
            return row, [*more, *begun]
        before, _ = end_to_end(turn.tokens for turn in turns[: best + 1] if turn.row == row)
        return len(last), [*before, *more, *begun]

    def _begins(self, asked: tuple[Message, ...] | str, number: int, turn: Turn) -> bool:
        """Whether a prompt begins with a turn's request and answer."""
        before, said = self.asked[number], self.begun[number] + turn.completion.text
        if isinstance(asked, str) or isinstance(before, str):
            return isinstance(asked, str) and isinstance(before, str) and asked.startswith(before + said)
        size = len(before)
        if len(asked) < size + 2 or asked[:size] != before or asked[size].role != "assistant":
            return False
        return asked[size].content.strip() == said.strip()  # clients trim it


def _more(
    asked: tuple[Message, ...] | str, before: tuple[Message, ...] | str, turn: Turn, tokenizer: Tokenizer
) -> list[int] | None:
    """Tokens of the request after an answer; None if the template now writes the answer differently."""
    completion = turn.completion
    if isinstance(asked, str):
        return tokenizer.encode(asked[len(before) + len(completion.text) :])
    known, rest = asked[: len(before) + 1], asked[len(before) + 1 :]
    if not tokenizer.keeps(known, rest):
        return None
    return turn_ids(Opening(messages=known[:1]), completion, rest, tokenizer)


def first_prompt(task: Task, opening: Opening, tokenizer: Tokenizer, most: int) -> list[int]:
    """Token ids of a play's first prompt. Raises UserError if it has more than `most`."""
    prompt = opening_ids(opening, tokenizer)
    if len(prompt) > most:
        raise UserError(
            f"task {task.id} ({task.source or task.family}): its prompt has {len(prompt)} tokens, more than "
            f"tasks.max_prompt_tokens={most}; raise the limit, or set tasks.too_long=leave-out"
        )
    return prompt


def check_prompts(
    tasks: Iterable[Task], environment: Callable[[Task], Environment], tokenizer: Tokenizer, most: int
) -> int:
    """Number of tokens of the longest prompt that needs no set-up. Raises UserError for one with more than `most`."""
    longest = 0
    for task in tasks:
        if (opening := _opening(task, environment)) is not None:
            longest = max(longest, len(first_prompt(task, opening, tokenizer, most)))
    return longest


def without_long_prompts(
    tasks: Iterable[Task], environment: Callable[[Task], Environment], tokenizer: Tokenizer, most: int
) -> tuple[list[Task], int]:
    """(tasks whose prompt has at most `most` tokens or depends on a set-up, tokens of the longest known prompt)."""
    kept, longest = list[Task](), 0
    for task in tasks:
        opening = _opening(task, environment)
        count = len(opening_ids(opening, tokenizer)) if opening is not None else 0
        if count <= most:
            kept.append(task)
            longest = max(longest, count)
    return kept, longest


def _opening(task: Task, environment: Callable[[Task], Environment]) -> Opening | None:
    """The opening of a play of the task; None if it depends on a set-up, takes long, or is not an `Opening`."""
    made = environment(task)
    if hasattr(made, "setup") and not getattr(made, "begins_without_setup", False):
        return None
    if getattr(made, "begins_slowly", False):
        return None
    try:
        opening = made.begin()
    except Exception as error:
        raise environment_fault(made, task.id, "begin", error) from error
    return opening if isinstance(opening, Opening) else None
