"""A policy that reads its answers from a script: for tests, and for checking a task set without a model."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from strop.policies.tokenizer import WireTokenizer
from strop.tasks.jsonl import read_rows
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Request, Tokenizer
from strop_verify.core.rollout import Completion, FinishReason, SamplingParams

Script = Callable[[Sequence[int], int, int], str]
"""(prompt ids, seed, how often this prompt was asked before) -> answer."""


class ScriptedPolicy:
    """Gives the answers of its script, with log-probabilities of 0, since the choice is deterministic.

    `answers` is a `Script`, or maps a prompt's text to its answers, which are given in turn and then repeated. A prompt
    that begins with one in the script (the later turns of a rollout) takes that one's next answer; any other unknown
    prompt is a `UserError`.
    Deviation from the protocol: with a mapping, an answer depends on how often its prompt was asked, not on the seed.
    """

    context: int | None = None

    def __init__(
        self,
        answers: Mapping[str, Sequence[str]] | Script,
        *,
        tokenizer: Tokenizer | None = None,
        name: str = "scripted",
    ) -> None:
        self.name, self.version = name, 0
        self.tokenizer: Tokenizer = tokenizer or WireTokenizer()
        self._asked, self._cuts = Counter[tuple[int, ...]](), True
        self._script: Script | None = None
        self._answers: dict[tuple[int, ...], Sequence[str]] = {}
        if isinstance(answers, Mapping):
            self._answers = {tuple(self.tokenizer.encode(k)): list(v) for k, v in answers.items()}
        else:
            self._script = answers

    @classmethod
    def from_answers(
        cls, path: str | Path, prompts: Mapping[str, Sequence[int]], *, tokenizer: Tokenizer | None = None
    ) -> "ScriptedPolicy":
        """Answers from a JSONL file of {task_id, answer}; `prompts` is {task id: token ids of its first prompt}.

        Answers are complete, as for `strop verify`: no stop string cuts them. Lines of other tasks are ignored. Raises
        UserError for an unreadable file, other lines, and tasks that share a prompt but not their answers.
        """
        lines = _read_answers(Path(path))
        policy = cls({}, tokenizer=tokenizer)
        policy._cuts = False
        owner: dict[tuple[int, ...], str] = {}
        for task_id, prompt in prompts.items():
            if task_id not in lines:
                continue
            key = tuple(prompt)
            if policy._answers.setdefault(key, lines[task_id]) != lines[task_id]:
                raise UserError(
                    f"{path}: tasks {owner[key]!r} and {task_id!r} have the same prompt but different answers; "
                    "a script cannot tell them apart"
                )
            owner[key] = task_id
        if not policy._answers:
            raise UserError(f"{path}: none of its task_ids is among the {len(prompts)} tasks to be played")
        return policy

    def submit(self, request: Request) -> Future[Completion]:
        """Completes at once; see `core.protocols.Policy`."""
        future: Future[Completion] = Future()
        future.set_result(self._complete(self._say(request.prompt, request.seed), request.params))
        return future

    def work(self, seconds: float) -> None:
        """Does nothing, since `submit` already completes the request."""

    def _say(self, prompt: Sequence[int], seed: int) -> str:
        key = tuple(prompt)
        if self._script is None and key not in self._answers:
            shorter = [known for known in self._answers if key[: len(known)] == known]
            if not shorter:
                start = self.tokenizer.decode(prompt)[:80]
                raise UserError(f"the script has no answer to the prompt that begins with {start!r}; add one")
            key = max(shorter, key=len)
        index = self._asked[key]
        self._asked[key] += 1
        if self._script is not None:
            return self._script(prompt, seed, index)
        answers = self._answers[key]
        if not answers:
            start = self.tokenizer.decode(prompt)[:80]
            raise UserError(f"the script has an empty list for the prompt {start!r}")
        return answers[index % len(answers)]

    def _complete(self, text: str, params: SamplingParams) -> Completion:
        reason: FinishReason = "eos"
        ids = self.tokenizer.encode(text)
        if len(ids) > params.max_tokens:
            ids, reason = ids[: params.max_tokens], "length"
            text = self.tokenizer.decode(ids)
        if self._cuts and (before := params.before_stop(text)) is not None:
            ids, text, reason = self._until_stop(ids, params), before, "stop"
        zeros = [0.0] * len(ids)
        return Completion(
            token_ids=ids, logprobs=zeros, text=text, finish_reason=reason, policy_version=self.version
        )

    def _until_stop(self, ids: list[int], params: SamplingParams) -> list[int]:
        """The fewest leading tokens whose text contains a stop string."""
        low, high = 1, len(ids)
        while low < high:
            middle = (low + high) // 2
            within = params.before_stop(self.tokenizer.decode(ids[:middle])) is not None
            low, high = (low, middle) if within else (middle + 1, high)
        return ids[:low]


def _read_answers(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for where, row in read_rows(path):
        match row:
            case {"task_id": str(task_id), "answer": str(answer)}:
                found.setdefault(task_id, []).append(answer)
            case _:
                expected = '{"task_id": "...", "answer": "..."}'
                raise UserError(f"{where}: not an answer line; expected {expected}")
    return found
