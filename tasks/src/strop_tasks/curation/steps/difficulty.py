"""difficulty: keeps tasks that a policy solves sometimes. The estimate goes into `metadata.difficulty`.

A group of answers that all pass or all fail carries no signal for GRPO (DAPO, arXiv 2503.14476, section 3.2), so
tasks that the policy always or never solves cost time and teach nothing. The policy is a model that samples here, or
earlier results in a file (`pipeline.verdicts.Scores`).
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from strop.config.model import ModelConfig, PolicyConfig
from strop.evaluation.statistics import pass_at_k
from strop.rollouts.encoding import opening_ids
from strop_tasks.curation.engine.memory import Memory
from strop_tasks.curation.engine.tally import ErrorBudget
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_tasks.curation.pipeline.verdicts import Scores, error_budget, settle
from strop_verify.core.bounded_map import Work
from strop_verify.core.errors import UserError
from strop_verify.core.section import Complaint, Section
from strop_verify.core.task import Task

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop_verify.core.protocols import Environment, Policy


class DifficultyConfig(Section):
    """Settings of the step `difficulty`."""

    low: float = Field(default=0.1, ge=0, le=1)
    """Minimum pass@k of a kept task."""
    high: float = Field(default=0.9, ge=0, le=1)
    """Maximum pass@k of a kept task."""
    k: int = Field(default=1, ge=1)
    """The k in pass@k."""
    unscored: Literal["drop", "keep"] = "drop"
    """What to do with a task without a score: none in the file, or a prompt that is too long."""
    scores: str | None = Field(default=None, min_length=1)
    """JSONL file of earlier verdicts, counts, pass rates or answers, see docs/audit.md; then no policy is asked."""
    policy: PolicyConfig | None = None
    """The policy, as in a recipe: {engine: transformers}, {engine: openai, base_url: ...}."""
    model: ModelConfig = ModelConfig()
    """The model, as in a recipe; for engine openai, policy.model."""
    samples: int = Field(default=8, ge=1)
    """Answers per task."""
    temperature: float = Field(default=0.6, ge=0)
    """Temperature of these answers; 0 is greedy."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus sampling (top_p) for these answers."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest answer in tokens."""
    max_prompt_tokens: int = Field(default=2048, ge=1)
    """Longest prompt in tokens; a task with a longer one has no score."""
    style: Literal["continue", "chat", "chat-prefilled"] = "chat"
    """How tasks are presented to the policy, as tasks.style in a recipe."""
    template: str | None = None
    """File with a prompt template that replaces the style's own."""
    batch: int = Field(default=32, ge=1)
    """Tasks played at a time; a killed run repeats unfinished ones."""
    max_error_rate: float = Field(default=0.5, ge=0, le=1)
    """Stop if a larger share of verdicts is *error*."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks the band, and that there is one way to measure."""
        if self.low > self.high:
            yield "low", f"{self.low:g} is above high ({self.high:g}); swap them"
        if (self.scores is None) == (self.policy is None):
            yield "scores", "give either scores: FILE or policy: {engine: ...}"
        if self.policy is not None and self.samples < self.k:
            yield "samples", f"pass@{self.k} needs at least {self.k} answers, not {self.samples}"


class Difficulty(Step[DifficultyConfig]):
    """Keeps tasks whose pass@k is within a band."""

    def check(self) -> None:
        """Raises UserError if the file of scores, the script or the template is missing."""
        for path in self.inputs():
            if not path.is_file():
                raise UserError(f"difficulty: no such file {path}; name an existing file")

    def inputs(self) -> Sequence[Path]:
        """Scores, the answers of a scripted policy, the prompt template."""
        script = self.config.policy and self.config.policy.script
        return [Path(text) for text in (self.config.scores, script, self.config.template) if text]

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers {"n", "c"} of each task, or {"rate"}, or {"why"} there is no score."""
        with context.memory() as memory:
            if self.config.scores is not None:
                scores, errors = Scores(Path(self.config.scores)), error_budget(self.config.max_error_rate)
                work = partial(self._scored, scores=scores, context=context, errors=errors)
                settle(read, context, memory, work, lambda found: True)
            else:
                self._from_policy(read, context, memory)
            for task in read():
                yield self._decide(task, memory[task.id])

    def _decide(self, task: Task, found: dict[str, Any]) -> Task | Dropped:
        config = self.config
        rate = found.get("rate")
        if rate is None and found.get("n", 0) >= config.k:
            rate = round(pass_at_k(found["n"], found["c"], config.k), 12)  # so 7 of 8 is not above .875
        if rate is None:
            if config.unscored == "keep":
                return task
            few = f"pass@{config.k} needs {config.k} scored answers, there are {found.get('n')}"
            return drop(task, "no score", found.get("why") or few)
        counts = f" ({found['c']} of {found['n']})" if "n" in found else ""
        detail = f"pass@{config.k} = {rate:.3f}{counts}"
        if rate < config.low:
            return drop(task, "too hard", f"{detail}, below {config.low:g}")
        if rate > config.high:
            return drop(task, "too easy", f"{detail}, above {config.high:g}")
        told = {"pass": round(rate, 6), "k": config.k, "by": self._name()}
        told |= {name: found[name] for name in ("n", "c") if name in found}
        return task.model_copy(update={"metadata": {**task.metadata, "difficulty": told}})

    def _name(self) -> str:
        """The name of the policy or file."""
        policy = self.config.policy
        if policy is None:
            return Path(self.config.scores or "").name
        if policy.server:
            return policy.server[2]
        return Path(policy.script).name or self.config.model.name

    def _scored(
        self, task: Task, scores: Scores, context: Context, errors: ErrorBudget
    ) -> Work[dict[str, Any]]:
        """The file's results for a task; answers without a verdict are verified."""
        answers = [context.verifier().submit(task, answer) for answer in scores.answers(task.id)]
        yield answers
        for verdict in (errors.see(future.result()) for future in answers):
            if verdict.judged:
                scores.add(task.id, verdict.passed)
        if not answers and task.id in scores.rates:
            return {"rate": scores.rates[task.id]}
        if not answers and task.id not in scores.counts:
            return {"why": "no score in the file"}
        n, c = scores.counts.get(task.id, (0, 0))
        return {"n": n, "c": c}

    def _from_policy(self, read: Read, context: Context, memory: Memory) -> None:
        """Plays every task without a remembered result, a batch at a time."""
        missing = (task for task in read() if task.id not in memory)
        batch = list(islice(missing, self.config.batch))
        if not batch:
            return
        errors = error_budget(self.config.max_error_rate)
        with ExitStack() as stack:
            policy = self._policy(read, context)
            stack.callback(getattr(policy, "close", lambda: None))
            while batch:
                self._play(batch, policy, context, memory, errors)
                context.progress(len(memory), context.size)
                batch = list(islice(missing, self.config.batch))

    def _play(
        self, batch: list[Task], policy: "Policy", context: Context, memory: Memory, errors: ErrorBudget
    ) -> None:
        from strop.rollouts.dispatcher import Dispatcher
        from strop_verify.core.rollout import SamplingParams

        environment = self._environment()
        playable = [task for task in batch if not self._unplayable(task, environment, policy, memory)]
        counts = {task.id: [0, 0] for task in playable}
        player = Dispatcher(policy, context.verifier(), environment)
        params = SamplingParams(**self.config.model_dump(include={"temperature", "top_p", "max_tokens"}))
        played = player.play(playable, self.config.samples, params, seed=context.seed, tag="difficulty")
        for rollout in played:
            assert rollout.verdict is not None
            errors.see(rollout.verdict)
            counts[rollout.task_id][0] += rollout.verdict.judged
            counts[rollout.task_id][1] += rollout.verdict.passed
        for task in playable:
            n, c = counts[task.id]
            memory[task.id] = {"n": n, "c": c}

    def _unplayable(self, task: Task, environment: Any, policy: "Policy", memory: Memory) -> bool:
        """Whether the policy cannot play the task; remembers why."""
        why = "" if task.check.toolchains else f"no toolchain plays checks of kind {task.check.kind}"
        try:
            tokens = 0 if why else len(opening_ids(environment(task).begin(), policy.tokenizer))
        except UserError as error:
            tokens, why = 0, str(error)
        most = self.config.max_prompt_tokens
        if tokens > most:
            why = f"its prompt has {tokens} tokens, more than max_prompt_tokens={most}"
        if why:
            memory[task.id] = {"why": " ".join(why.split())[:300]}
        return bool(why)

    def _environment(self) -> "Any":
        """A new factory of environments: a factory remembers the prompts of its tasks."""
        from strop.environments.registry import bind
        from strop.environments.single_turn import SingleTurn

        return bind(SingleTurn, self.config.style, self.config.template)

    def _policy(self, read: Read, context: Context) -> "Policy":
        from strop.policies.open import open_policy

        context.say(f"difficulty: loading {self._name()}")

        def prompts(tokenizer: Any) -> dict[str, list[int]]:
            found: dict[str, list[int]] = {}
            for task in read():
                environment: Environment = self._environment()(task)
                found[task.id] = opening_ids(environment.begin(), tokenizer)
            return found

        return open_policy(self._recipe(), prompts=prompts)

    def _recipe(self) -> "Recipe":
        from strop.config.schema import Recipe
        from strop.config.tasks import TasksConfig
        from strop.config.training import SamplingConfig

        config = self.config
        assert config.policy is not None
        return Recipe(
            model=config.model,
            policy=config.policy,
            tasks=TasksConfig(style=config.style, max_prompt_tokens=config.max_prompt_tokens),
            sampling=SamplingConfig(max_tokens=config.max_tokens),
        )
