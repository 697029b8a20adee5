"""Chooses one of n samples for a user's task, with reasons. No hidden test is run or read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from strop.evaluation.public_runs import PublicRun, key_of, public_parts, public_runs, with_rewards
from strop.evaluation.scaling import public_sample
from strop.evaluation.selectors import FIRST, ORACLE, SELECTORS, SHOWN, Candidates, Selector, best, by_reward
from strop.rewards.rubric import find_reward
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.protocols import Verifier
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

USUAL = ("shown-majority", SHOWN, "majority", "log-prob")
"""The default selectors; the first whose inputs the task has is used."""


class Unjudged:
    """A verifier that judges nothing."""

    def submit(self, task: Task, answer: str) -> Future[Verdict]:
        """Returns *unjudged* at once."""
        future: Future[Verdict] = Future()
        future.set_result(Verdict(outcome=Outcome.UNJUDGED))
        return future

    def close(self) -> None:
        """Does nothing: there is nothing to release."""


def selector_for(name: str | None, task: Task, inputs: int) -> tuple[str, Selector]:
    """The selector of that name, or the task's default. Raises UserError if the task lacks what it needs."""
    public, behaviour = public_parts(task, inputs)
    there = {"shown": public is not None, "results": behaviour is not None}
    if name is None:
        name = next(one for one in USUAL if all(there.get(need, True) for need in SELECTORS[one].needs))
    selector = _named(name)
    lacks = {
        "shown": 'shows no test (doctests of a file.py, or cases with "shown": true)',
        "results": "shows no call of a Python function to make inputs from",
    }
    if missing := next((need for need in lacks if need in selector.needs and not there[need]), None):
        fits = [one for one in SELECTORS if all(there.get(need, True) for need in SELECTORS[one].needs)]
        raise UserError(
            f"--select {name}: task {task.id} {lacks[missing]}; use one of {', '.join(fits)}, or a reward"
        )
    return name, selector


def _named(name: str) -> Selector:
    if name in SELECTORS:
        return SELECTORS[name]
    if name == ORACLE:
        raise UserError("--select oracle: the oracle needs the hidden tests, so only strop scale has it")
    if ":" not in name:
        raise UserError(
            f"--select {name!r:.60}: there are {', '.join(SELECTORS)}; or a reward: model:PATH or file.py:function"
        )
    find_reward(name)
    return by_reward(name)


@dataclass(frozen=True)
class ChosenAnswer:
    """The chosen sample, and facts about all samples."""

    index: int
    text: str
    selector: str
    candidates: Candidates
    equals: int
    """Number of samples that tie with it, itself included."""

    @property
    def fails(self) -> bool:
        """Whether it fails a shown test."""
        return not all(self.candidates.samples[self.index].shown)

    def reasons(self) -> Iterator[str]:
        """The reasons for the choice, one per line."""
        samples = self.candidates.samples
        mine = samples[self.index]
        rank = "first" if mine.logprob is None else "likeliest"
        equal = f", the {rank} of {self.equals} tied samples" if self.equals > 1 else ""
        yield f"sample {self.index + 1} of {len(samples)}, by {self.selector}{equal}"
        if mine.shown:
            solved = sum(all(one.shown) for one in samples)
            passed = f"passes {sum(mine.shown)} of {len(mine.shown)} shown tests"
            yield f"{passed}; {solved} of {len(samples)} samples pass all"
        if mine.results:
            groups = Counter(one.results for one in samples if any(one.results))
            same = groups[mine.results]
            returns = f"{same} of {len(samples)} samples return the same" if same else "it returns nothing"
            yield f"{returns} on {len(mine.results)} inputs; behaviours: {len(groups)}"
        for name, value in mine.rewards.items():
            yield f"{name}: {value:.4g}"
        if mine.logprob is not None:
            yield f"log-probability {mine.logprob:.2f}, {mine.tokens} tokens"


def chosen_answer(
    name: str, selector: Selector, task: Task, rollouts: Sequence[Rollout], verifier: Verifier, inputs: int
) -> ChosenAnswer:
    """Runs the public tests and inputs, and chooses. Raises StropError if no sample could be run, or all are
    empty."""
    runs: dict[str, PublicRun] = {}
    for found in public_runs(verifier, [(task, one.answer) for one in rollouts], inputs=inputs):
        if found is not None:
            runs[found.key] = found
    kept = [(one, runs[key]) for one in rollouts if (key := key_of(task, one.answer, inputs)) in runs]
    if not kept:
        raise StropError(
            f"none of the {len(rollouts)} samples could be run; strop doctor shows what the jail lacks"
        )
    if not any(one.answer.strip() for one, _ in kept):
        raise StropError(f"all {len(kept)} samples are empty; raise --max-tokens or try another --style")
    reward = name not in SELECTORS
    if reward:
        kept = [
            (one, run)
            for (one, _), run in zip(kept, with_rewards(name, [(task, *pair) for pair in kept]), strict=True)
        ]
    says = any(any(turn.completion.logprobs) for one, _ in kept for turn in one.turns)
    candidates = Candidates(task.statement, tuple(public_sample(one, run, says) for one, run in kept))
    if not selector.fits(candidates):
        lacks = "the reward gives no value" if reward else "the policy gives no log-probabilities"
        raise UserError(f"--select {name}: {lacks}; choose another selector")
    found_best = best(selector, candidates)
    at = 0 if name == FIRST else found_best[0]
    return ChosenAnswer(at, kept[at][0].answer, name, candidates, 1 if name == FIRST else len(found_best))
