"""Rollouts of a made run: token ids with numbers, verdicts with compiler errors, scores."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from strop_verify.core.rollout import Completion, Rollout, Score, Turn
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict

from .made_answers import answer_of, pieces_of, prompt_of, rust_error


@dataclass
class Maker:
    """Makes rollouts of one run; holds the vocabulary that grows with their texts."""

    rng: random.Random
    language: str
    tokens: int
    """About as many tokens an answer."""
    entropies: bool
    texts: Sequence[str]
    """Put into every free text in place of made ones, one after the other, when there are any."""
    vocabulary: dict[str, int] = field(default_factory=dict)
    _at: int = 0

    def ids(self, text: str) -> list[int]:
        """Token ids of a text; new pieces get new ids."""
        return [self.vocabulary.setdefault(piece, len(self.vocabulary)) for piece in pieces_of(text)]

    def free(self, made: str) -> str:
        """A free text: the made one, or the next of `texts`."""
        if not self.texts:
            return made
        self._at += 1
        return self.texts[self._at % len(self.texts)]

    def rollout(self, task: int, index: int, ability: float, version: int, turns: int = 1) -> Rollout:
        """One play of task number `task` by a policy that solves an easy task with probability `ability`."""
        rng = self.rng
        prompt = self.free(prompt_of(self.language, task))
        played = [self._turn(prompt, task, version, number) for number in range(turns)]
        passed = rng.random() < ability * (1.2 - 0.2 * (task % 6))
        verdict = self._verdict(passed)
        value = None if verdict.outcome is Outcome.ERROR else float(passed)
        stage = verdict.stage("build")
        built = None if value is None else float(stage is not None and stage.passed)
        return Rollout(
            task_id=task_id(task),
            index=index,
            seed=rng.getrandbits(62),
            prompt=prompt,
            turns=played,
            answer=prompt + played[-1].completion.text + ("\n}\n" if self.language == "rust" else "\n"),
            verdict=verdict,
            scores=[Score(name="passed", value=value), Score(name="build", value=built, weight=0.25)],
            reward=None if value is None or built is None else value + 0.25 * built,
            flags=["gives up"] if rng.random() < 0.02 else [],
        )

    def _turn(self, prompt: str, task: int, version: int, number: int) -> Turn:
        rng = self.rng
        text = self.free(answer_of(self.language, task, self.tokens, rng))
        ids = self.ids(text)
        truncated = rng.random() < 0.05
        given = prompt if number == 0 else self.free("\nIt does not pass: 1 of 3 tests failed. Try again.\n")
        return Turn(
            prompt_ids=self.ids(given),
            completion=Completion(
                token_ids=ids,
                logprobs=[-rng.expovariate(3.0) for _ in ids],
                entropies=[rng.expovariate(2.0) for _ in ids] if self.entropies else [],
                text=text,
                finish_reason="length" if truncated else "stop",
                policy_version=version,
            ),
        )

    def _verdict(self, passed: bool) -> Verdict:
        rng = self.rng
        rare = {
            Outcome.ERROR: 0.01,
            Outcome.TIMED_OUT: 0.03,
            Outcome.NO_ANSWER: 0.03,
            Outcome.OUT_OF_MEMORY: 0.01,
        }
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        if not passed:
            outcome = rng.choices([Outcome.FAILED, *rare], [0.92, *rare.values()])[0]
        if outcome in (Outcome.ERROR, Outcome.NO_ANSWER):
            return Verdict(
                outcome=outcome, detail=self.free("the worker died" if outcome is Outcome.ERROR else "")
            )
        built = passed or outcome is not Outcome.FAILED or rng.random() < 0.5
        error = (
            ""
            if built
            else self.free(rust_error(rng) if self.language == "rust" else "SyntaxError: invalid syntax\n")
        )
        names = ["build", "lint", "test"] if self.language == "rust" else ["build", "test"]
        stages = [
            Stage(
                name=name,
                passed=passed if name == "test" else built,
                seconds=0.01,
                output=error if name != "test" else "",
            )
            for name in names
        ]
        tests = [
            TestResult(id=f"case-{i}", outcome=Outcome.PASSED if passed or i == 0 else Outcome.FAILED,
                       message="" if passed or i == 0 else self.free("returned 3, which is wrong"), seconds=0.001)
            for i in range(3 if built else 0)
        ]  # fmt: skip
        detail = "" if passed else self.free("case-1: wrong result" if built else "does not build")
        output = self.free("looking at 3 values\n") if rng.random() < 0.2 else ""
        return Verdict(outcome=outcome, stages=stages, tests=tests, output=output, detail=detail,
                       seconds=0.1 * rng.random(), cpu_seconds=0.05 * rng.random(), peak_bytes=20_000_000)  # fmt: skip


def task_id(number: int) -> str:
    """The id of a made task."""
    return f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}"
