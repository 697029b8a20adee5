"""Process rewards from execution: the value of a partial answer is the share of its sampled continuations that pass.

A step is a statement of Python code (Math-Shepherd, arXiv 2312.08935, for lines of a proof; VinePPO, arXiv 2410.01679).
The value at the end of each step but the last is estimated from `continuations` samples of the same policy, judged like
any answer; the value of the last step is the answer's own verdict. Equal partial answers to a task share one value.
"""

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from strop.rollouts.admission import WAIT
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.code.python.source import statement_ends
from strop_verify.core.fences import FenceReader
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import Done
from strop_verify.core.protocols import Request, Tokenizer
from strop_verify.core.rollout import Completion, Group, ProcessStep, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict


@dataclass
class _Beginning:
    """A partial answer to a task, and the verdicts on its continuations."""

    task: Task
    prompt: Sequence[int]
    tokens: Sequence[int]
    text: str
    seed: int
    verdicts: list[Future[Verdict]] = field(default_factory=list)

    @property
    def value(self) -> float | None:
        """The share of judged continuations that passed; None if none was judged."""
        judged = [verdict for one in self.verdicts if (verdict := one.result()).judged]
        return sum(verdict.passed for verdict in judged) / len(judged) if judged else None


def with_steps(
    player: Dispatcher,
    tasks: Sequence[Task],
    groups: Sequence[Group],
    params: SamplingParams,
    continuations: int,
    most: int,
) -> list[Group]:
    """The groups with valued steps: at most `most` steps per judged one-turn answer to a Python task."""
    by_id = {task.id: task for task in tasks}
    known: dict[tuple[str, tuple[int, ...]], _Beginning] = {}
    ends: dict[tuple[int, int], list[int]] = {}
    for number, group in enumerate(groups):
        task = by_id[group.task_id]
        for place, rollout in enumerate(group.rollouts):
            if (
                task.language != "python"
                or len(rollout.turns) != 1
                or not (rollout.verdict and rollout.verdict.judged)
            ):
                continue
            (turn,) = rollout.turns
            ids = turn.completion.token_ids
            found = ends[number, place] = step_ends(rollout, player.policy.tokenizer, most)
            for end in found[:-1]:
                text = turn.completion.text[: len(player.policy.tokenizer.decode(ids[:end]))]
                seed = derive_seed(rollout.seed, "step", end)
                beginning = _Beginning(task, turn.prompt_ids, ids[:end], text, seed)
                known.setdefault((task.id, tuple(ids[:end])), beginning)
    _go_on(player, list(known.values()), params, continuations)
    values = {key: one.value for key, one in known.items()}
    valued = list[Group]()
    for number, group in enumerate(groups):
        pairs = ((rollout, ends.get((number, place), [])) for place, rollout in enumerate(group.rollouts))
        in_steps = [_in_steps(rollout, own, values) for rollout, own in pairs]
        valued.append(group.model_copy(update={"rollouts": in_steps}))
    return valued


def step_ends(rollout: Rollout, tokenizer: Tokenizer, most: int) -> list[int]:
    """Number of tokens up to the end of each step of a one-turn answer; the last step ends with the completion."""
    completion = rollout.turns[0].completion
    ids, text = completion.token_ids, completion.text
    first = next((line for line in rollout.answer.split("\n") if line.strip()), "")
    start = max(0, text.find(first)) if first else 0
    code = text[start : FenceReader(text).end_of_code(start, "python")]
    found = [
        bisect_left(range(len(ids)), start + end, key=lambda count: len(tokenizer.decode(ids[:count])))
        for end in statement_ends(code)[:-1]
    ]
    inner = [end for end in dict.fromkeys(found) if 0 < end < len(ids)]
    if len(inner) >= most:  # join statements evenly
        inner = [inner[len(inner) * (number + 1) // most - 1] for number in range(most - 1)]
    return [*inner, len(ids)]


def _in_steps(
    rollout: Rollout, ends: Sequence[int], values: Mapping[tuple[str, tuple[int, ...]], float | None]
) -> Rollout:
    if not ends:
        return rollout
    (turn,) = rollout.turns
    assert rollout.verdict is not None
    ids = turn.completion.token_ids
    steps = [ProcessStep(end=end, value=values[rollout.task_id, tuple(ids[:end])]) for end in ends[:-1]]
    steps.append(ProcessStep(end=ends[-1], value=float(rollout.verdict.passed)))
    return rollout.model_copy(update={"turns": [turn.model_copy(update={"steps": steps})]})


def _go_on(player: Dispatcher, beginnings: Sequence[_Beginning], params: SamplingParams, count: int) -> None:
    """Samples `count` continuations of each partial answer and submits them to the grader."""
    started, waiting = time.perf_counter(), list[tuple[_Beginning, Future[Completion]]]()
    for one in beginnings:
        opening = player.environment(one.task).begin()
        longest = opening.max_tokens or params.max_tokens
        changes = {"stop": params.stop or opening.stop, "max_tokens": max(1, longest - len(one.tokens))}
        prompt, here = [*one.prompt, *one.tokens], params.model_copy(update=changes)
        for number in range(count):
            request = Request(prompt, derive_seed(one.seed, number), here)
            waiting.append((one, player.policy.submit(request)))
    while waiting:
        player.policy.work(WAIT)
        done = [pair for pair in waiting if pair[1].done()]
        waiting = [pair for pair in waiting if not pair[1].done()]
        for one, future in done:
            completion = future.result()
            whole = completion.model_copy(update={"text": one.text + completion.text})
            decision = player.environment(one.task).step(whole)
            assert isinstance(decision, Done), "an environment of one turn"
            one.verdicts.append(player.verifier.submit(one.task, decision.answer))
    player.clock.sampling += time.perf_counter() - started
